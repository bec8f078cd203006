#pragma once

#include "k8s/informer/view.hpp"
#include "reactor/plain/secret.hpp"

#include <string>
#include <utility>
#include <vector>

namespace k8s {

/// A Secret with its bytes, decoded. A caller that watches Secrets narrows the watch by a label or
/// field selector.
struct secret {
  object_meta meta;  // all annotations but last-applied
  interned type;
  std::vector<std::pair<interned, reactor::secret>> data;  // sorted by key

  static secret parse(wire_value object);
  /// Null when there is no such key.
  const reactor::secret* find(std::string_view key) const noexcept;
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const secret&, const secret&) = default;
};

}  // namespace k8s
