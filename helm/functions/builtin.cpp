#include "formats/go/format.hpp"
#include "formats/go/url.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"

#include <algorithm>
#include <cstdio>

namespace helm {
namespace {

enum class basic : std::uint8_t { none, boolean, signed_, unsigned_, real, complex, text };

basic basic_kind(const value& v) {
  switch (v.kind()) {
    case type::boolean: return basic::boolean;
    case type::int_:
    case type::int64: return basic::signed_;
    case type::uint8:
    case type::uint64: return basic::unsigned_;
    case type::float64: return basic::real;
    case type::string: return basic::text;
    case type::object:
      if (v.object()->kind_name() == "complex128") return basic::complex;
      return v.object()->kind_name() == "int64" || v.object()->kind_name() == "int" ? basic::signed_
                                                                                    : basic::none;
    default: return basic::none;
  }
}

bool is_integral(basic k) {
  return k == basic::signed_ || k == basic::unsigned_;
}

std::int64_t integral(const value& v) {
  if (auto* o = v.object()) return o->json().integer();
  return v.integer();
}

bool is_reference_nil(const value& v) {
  return v.is_nil() || v.is_nil_reference();
}

[[noreturn]] void incompatible(const value& a, const value& b) {
  throw function_error("incompatible types for comparison: " + a.type_name() + " and " +
                       b.type_name());
}

/// %s, wrong as it is for what is not text.
std::string shown(const value& v) {
  return sprintf("%s", std::span(&v, 1));
}

/// One pair of `eq`.
bool equal(const value& a, const value& b) {
  auto x = basic_kind(a);
  auto y = basic_kind(b);
  if (is_integral(x) && is_integral(y) && x != y) {
    const auto& s = x == basic::signed_ ? a : b;
    const auto& u = x == basic::signed_ ? b : a;
    return integral(s) >= 0 && integral(s) == integral(u);
  }
  if (x != y) {
    if (!a.is_nil() && !b.is_nil()) incompatible(a, b);
    return false;
  }
  switch (x) {
    case basic::boolean: return a.boolean() == b.boolean();
    case basic::signed_:
    case basic::unsigned_: return integral(a) == integral(b);
    case basic::real: return a.real() == b.real();
    case basic::text: return a.text() == b.text();
    case basic::complex: return a.object()->equals(*b.object());
    case basic::none: break;
  }
  if (!a.is_nil() && !b.is_nil() && a.kind_name() != b.kind_name())
    throw function_error("non-comparable types " + shown(a) + ": " + a.type_name() + ", " +
                         b.type_name() + ": " + format_value(b));
  if (is_reference_nil(a) || is_reference_nil(b)) return is_reference_nil(a) == is_reference_nil(b);
  if (!b.object()) throw function_error("non-comparable type " + shown(b) + ": " + b.type_name());
  if (b.object()->kind_name() == "struct" && b.object()->type_name().starts_with("struct"))
    throw function_error("non-comparable type " + shown(b) + ": " + b.type_name());
  return a.object() == b.object() || (b.object()->kind_name() != "ptr" && deep_equal(a, b));
}

bool less(const value& a, const value& b) {
  auto x = basic_kind(a);
  if (x == basic::none) throw function_error("invalid type for comparison");
  auto y = basic_kind(b);
  if (y == basic::none) throw function_error("invalid type for comparison");
  if (is_integral(x) && is_integral(y) && x != y)
    return x == basic::signed_ ? integral(a) < 0 || static_cast<std::uint64_t>(integral(a)) <
                                                        static_cast<std::uint64_t>(integral(b))
                               : integral(b) >= 0 && static_cast<std::uint64_t>(integral(a)) <
                                                         static_cast<std::uint64_t>(integral(b));
  if (x != y) incompatible(a, b);
  switch (x) {
    case basic::signed_: return integral(a) < integral(b);
    case basic::unsigned_:
      return static_cast<std::uint64_t>(integral(a)) < static_cast<std::uint64_t>(integral(b));
    case basic::real: return a.real() < b.real();
    case basic::text: return a.text() < b.text();
    default: throw function_error("invalid type for comparison");
  }
}

bool less_or_equal(const value& a, const value& b) {
  return less(a, b) || equal(a, b);
}

value f_eq(executor&, std::span<value> a) {
  if (a.size() < 2) throw function_error("missing argument for comparison");
  for (std::size_t i = 1; i < a.size(); ++i)
    if (equal(a[0], a[i])) return true;
  return false;
}
value f_ne(executor&, std::span<value> a) {
  return !equal(a[0], a[1]);
}
value f_lt(executor&, std::span<value> a) {
  return less(a[0], a[1]);
}
value f_le(executor&, std::span<value> a) {
  return less_or_equal(a[0], a[1]);
}
value f_gt(executor&, std::span<value> a) {
  return !less_or_equal(a[0], a[1]);
}
value f_ge(executor&, std::span<value> a) {
  return !less(a[0], a[1]);
}
value f_not(executor&, std::span<value> a) {
  return !a[0].truth();
}

value f_len(executor&, std::span<value> a) {
  const auto& v = a[0];
  if (v.is_nil()) {
    if (v.boxed()) throw function_error("len of nil pointer");
    throw function_error("reflect: call of reflect.Value.Type on zero Value");
  }
  if (v.is_string() || v.is_list() || v.is_map()) return value(static_cast<int>(v.size()));
  auto name = v.type_name();
  // The pointer has been followed by then.
  if (v.object() && name.starts_with('*')) name.erase(0, 1);
  throw function_error("len of type " + name);
}

value f_index(executor&, std::span<value> a) {
  value item = a[0];
  if (item.is_nil()) throw function_error("index of untyped nil");
  for (auto& key : a.subspan(1)) {
    if (item.is_nil()) throw function_error("index of nil pointer");
    if (item.is_list() || item.is_string()) {
      if (key.is_nil()) throw function_error("cannot index slice/array with nil");
      if (!key.is_integer())
        throw function_error("cannot index slice/array with type " + key.type_name());
      auto i = key.integer();
      if (i < 0 || static_cast<std::size_t>(i) > item.size())
        throw function_error("index out of range: " + std::to_string(i));
      if (static_cast<std::size_t>(i) == item.size())
        throw function_error(item.is_string() ? "reflect: string index out of range"
                                              : "reflect: slice index out of range");
      item = value(item.at(static_cast<std::size_t>(i)));
    } else if (item.is_map()) {
      if (key.is_nil()) throw function_error("value is nil; should be of type string");
      if (!key.is_string())
        throw function_error("value has type " + key.type_name() + "; should be string");
      const auto* found = item.find(key.text());
      if (item.is_any_map())
        item = found ? value(*found).box() : value().box();
      else if (item.kind() == type::string_map)
        item = found ? value(*found) : value("");
      else
        item = found ? value(*found) : value::nil_of(type::bytes);
    } else {
      auto name = item.type_name();
      if (item.object() && name.starts_with('*')) name.erase(0, 1);
      throw function_error("can't index item of type " + name);
    }
  }
  return item;
}

value f_print(executor&, std::span<value> a) {
  return sprint(a);
}
value f_println(executor&, std::span<value> a) {
  return sprintln(a);
}
value f_printf(executor& e, std::span<value> a) {
  auto out = sprintf(a[0].text(), a.subspan(1));
  e.reserve(out.size());
  return out;
}

/// What the escapers work on: a single string as it is, anything else printed.
std::string escape_input(std::span<value> a) {
  if (a.size() == 1 && a[0].is_string()) return a[0].text();
  std::vector<value> shown(a.begin(), a.end());
  for (auto& v : shown)
    if (v.is_nil()) v = value("<no value>");
  return sprint(shown);
}

value f_html(executor&, std::span<value> a) {
  std::string out;
  for (char c : escape_input(a)) {
    switch (c) {
      case '\0': out += "\xef\xbf\xbd"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

value f_js(executor&, std::span<value> a) {
  std::string out;
  auto text = escape_input(a);
  std::string_view s = text;
  while (!s.empty()) {
    auto d = decode_rune(s);
    auto bytes = s.substr(0, static_cast<std::size_t>(d.size));
    s.remove_prefix(static_cast<std::size_t>(d.size));
    switch (d.rune) {
      case '\\': out += "\\\\"; continue;
      case '\'': out += "\\'"; continue;
      case '"': out += "\\\""; continue;
      case '<': out += "\\u003C"; continue;
      case '>': out += "\\u003E"; continue;
      case '&': out += "\\u0026"; continue;
      case '=': out += "\\u003D"; continue;
      default: break;
    }
    char buffer[16];
    if (d.rune < ' ') {
      std::snprintf(buffer, sizeof buffer, "\\u00%02X", static_cast<unsigned>(d.rune));
      out += buffer;
    } else if (d.rune < 0x80 || is_print(d.rune)) {
      out += bytes;
    } else {
      std::snprintf(buffer, sizeof buffer, "\\u%04X", static_cast<unsigned>(d.rune));
      out += buffer;
    }
  }
  return out;
}

value f_urlquery(executor&, std::span<value> a) {
  return escape_query(escape_input(a));
}

value no_body(executor&, std::span<value>) {
  return {};
}

constexpr function special(std::string_view name, calling how) {
  auto f = make_function(name, {param::reflect, param::reflect}, no_body, true);
  f.how = how;
  return f;
}

constexpr auto r = param::reflect;
constexpr function table[] = {
    special("and", calling::and_),
    special("or", calling::or_),
    special("call", calling::call),
    make_function("not", {r}, f_not),
    make_function("eq", {r, r}, f_eq, true),
    make_function("ne", {r, r}, f_ne),
    make_function("lt", {r, r}, f_lt),
    make_function("le", {r, r}, f_le),
    make_function("gt", {r, r}, f_gt),
    make_function("ge", {r, r}, f_ge),
    make_function("len", {r}, f_len),
    make_function("index", {r, r}, f_index, true),
    make_function("print", {param::any}, f_print, true),
    make_function("println", {param::any}, f_println, true),
    make_function("printf", {param::string, param::any}, f_printf, true),
    make_function("html", {param::any}, f_html, true),
    make_function("js", {param::any}, f_js, true),
    make_function("urlquery", {param::any}, f_urlquery, true),
};

}  // namespace

std::span<const function> builtin_functions() {
  return table;
}

}  // namespace helm
