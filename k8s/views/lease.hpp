#pragma once

#include "k8s/informer/view.hpp"

#include <cstdint>

namespace k8s {

struct lease {
  object_meta meta;  // no annotations
  compact_string holder;
  std::int32_t duration_seconds = 0;
  std::int32_t transitions = 0;
  reactor::wall_time acquired{}, renewed{};  // the epoch = not set

  static lease parse(wire_value object);
  std::size_t heap_bytes() const noexcept { return meta.heap_bytes() + holder.heap_bytes(); }
  friend bool operator==(const lease&, const lease&) = default;
};

}  // namespace k8s
