#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/wire.hpp"
#include "k8s/informer/meta.hpp"

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace k8s {

/// The few fields of a kind that some reconciler reads. A view is a plain struct with
///   object_meta meta;
///   static View parse(wire_value object);    // k8s/client/wire.hpp says how failures are reported
///   friend bool operator==(const View&, const View&) = default;    // equal views wake no reader
///   std::size_t heap_bytes() const;          // optional: what it holds outside of itself
template <class View>
concept stored_view = std::default_initializable<View> && std::movable<View> &&
                      std::equality_comparable<View> && requires(View v, wire_value object) {
                        { v.meta } -> std::same_as<object_meta&>;
                        { View::parse(object) } -> std::same_as<View>;
                      };

/// One object from its JSON text. Errors: errc::malformed.
template <stored_view View>
result<View> parse_view(std::string_view json) {
  wire_parser& parser = shared_parser();
  auto object = parser.parse(json);
  if (!object) return object.error();
  View view = View::parse(*object);
  if (parser.problem()) {
    fault f;
    f.code = errc::malformed;
    f.doing = "read object";
    f.detail = *parser.problem();
    return f;
  }
  return view;
}

template <stored_view View>
std::size_t heap_bytes_of(const View& v) {
  if constexpr (requires { v.heap_bytes(); })
    return v.heap_bytes();
  else
    return v.meta.heap_bytes();
}

}  // namespace k8s
