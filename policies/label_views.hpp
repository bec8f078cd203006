#pragma once

#include "k8s/informer/meta.hpp"
#include "policies/host/view.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace policies {

/// Labels and annotations as Lua sees them: a map that is read where it lies, shared with the
/// store's view.
template <>
struct view_adapter<k8s::string_map> {
  using element = std::string;
  static const k8s::string_map& of(const void* object) {
    return *static_cast<const k8s::string_map*>(object);
  }
  static std::optional<slot> find(const void* object, std::string_view key) {
    const k8s::interned* found = of(object).find(key);
    if (!found) return std::nullopt;
    slot s;
    s.is = slot::kind::text;
    s.text = found->view();
    return s;
  }
  static std::size_t size(const void* object) { return of(object).size(); }
  static std::optional<std::string_view> next(const void* object,
                                              std::optional<std::string_view> key) {
    const k8s::string_map& m = of(object);
    const auto* member = m.begin();
    if (key) {  // sorted by key
      member = std::upper_bound(m.begin(), m.end(), *key, [](std::string_view k, const auto& one) {
        return k < one.first.view();
      });
    }
    if (member == m.end()) return std::nullopt;
    return member->first.view();
  }
  static constexpr view_type type{"map", view_type::form::map, find, nullptr, size, next};
};

}  // namespace policies
