#pragma once

#include "reactor/plain/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// Where a value stands in its text, for a caller that changes one place and keeps all other bytes.
/// Units   begin, end: bytes; end is behind the last character of the value, before any comment.
///         column: characters between the start of the line and begin.
struct yaml_place {
  enum class kind { scalar, sequence, mapping, alias } what = kind::scalar;
  bool flow = false;  // written as [a, b] or {a: b}
  std::size_t begin = 0, end = 0, column = 0;
  std::string text;               // of a scalar
  std::vector<std::string> keys;  // of a mapping: one for each item
  std::vector<yaml_place> items;  // elements of a sequence, values of a mapping

  /// The value of a mapping's key; null if the key is absent or this is no mapping.
  const yaml_place* find(std::string_view key) const;
};

/// The places of the first document's values. An alias is a place of its own and is not followed.
/// Errors   errc::malformed if parse_kubernetes_yaml refuses the text, if it is not UTF-8, or if a
///          key is no scalar; errc::limit beyond 64 levels. `doing` names `source`.
reactor::result<yaml_place> yaml_places(std::string_view text, std::string_view source);

}  // namespace formats
