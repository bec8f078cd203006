#pragma once

#include "policies/host/value.hpp"
#include "policies/host/view.hpp"

namespace policies {

/// Plain data as Lua reads it where it lies, without a copy: objects are maps (what is not there is
/// nil), arrays are lists.
template <>
inline slot slot_of<value>(const value& v) {
  slot s;
  if (const bool* b = v.if_bool()) {
    s.is = slot::kind::boolean;
    s.boolean = *b;
  } else if (const double* n = v.if_number()) {
    s.is = slot::kind::number;
    s.number = *n;
  } else if (const std::string* text = v.if_string()) {
    s.is = slot::kind::text;
    s.text = *text;
  } else if (const auto* list = std::get_if<value::array>(&v.data)) {
    s.is = slot::kind::view;
    s.type = &view_type_of<value::array>();
    s.object = list;
  } else if (const auto* object = std::get_if<value::object>(&v.data)) {
    s.is = slot::kind::view;
    s.type = &view_type_of<value::object>();
    s.object = object;
  }
  return s;
}

template <>
inline shape shape_of<value>() {
  return {};
}

}  // namespace policies
