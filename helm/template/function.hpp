#pragma once

#include "formats/go/function_error.hpp"
#include "helm/go.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace helm {

class executor;

/// The Go type of a parameter. `reflect` is text/template's own: it takes anything and can tell a
/// typed nil from none.
enum class param : std::uint8_t {
  any,
  reflect,
  string,
  int_,
  uint32,
  float64,
  boolean,
  list,
  map,
  time,
  version,
  certificate
};

std::string_view param_name(param p);

/// What a template function gets and gives. Errors are thrown as function_error.
using function_body = value (*)(executor& engine, std::span<value> arguments);

/// How `and`, `or` and `call` differ from ordinary functions.
enum class calling : std::uint8_t { ordinary, and_, or_, call };

/// A function or method as templates may call it.
struct function {
  std::string_view name;
  std::array<param, 7> params{};
  std::uint8_t count = 0;  // parameters, the variadic one included
  bool variadic = false;
  bool boxed = false;  // declared to return interface {}: a nil result is a typed nil
  function_body body = nullptr;
  calling how = calling::ordinary;
};

/// Parameters in the style of Go declarations: signature(param::string, param::any),
/// variadic(param::any).
constexpr function make_function(std::string_view name, std::initializer_list<param> params,
                                 function_body body, bool variadic = false, bool boxed = false) {
  function f;
  f.name = name;
  for (auto p : params) f.params[f.count++] = p;
  f.body = body;
  f.variadic = variadic;
  f.boxed = boxed;
  return f;
}

}  // namespace helm

namespace formats {

/// Methods of one Go type; the receiver is the first argument given to the body and not counted in
/// `params`.
struct method_table {
  std::span<const helm::function> methods;
  const helm::function* find(std::string_view name) const {
    for (const auto& m : methods)
      if (m.name == name) return &m;
    return nullptr;
  }
};

}  // namespace formats

namespace helm {

/// Methods of values that are not objects (.Values, .Files, .Capabilities.APIVersions), or nothing.
const method_table* methods_of(type t);
/// Methods of an object: its own, or those of Go's time.Time.
const method_table* methods_of(const object& o);

/// A template function by name, of every table; nullptr when there is none.
const function* find_function(std::string_view name);
/// All names, sorted.
std::vector<std::string_view> function_names();

}  // namespace helm
