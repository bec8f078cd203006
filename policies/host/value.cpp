#include "policies/host/value.hpp"

#include <cmath>
#include <cstdio>

namespace policies {
namespace {

void put_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

/// How an object without members is written.
enum class empty_object { as_list, as_object };

void put(std::string& out, const value& v, empty_object how) {
  if (const bool* b = v.if_bool()) {
    out += *b ? "true" : "false";
  } else if (const double* n = v.if_number()) {
    char text[32];
    const bool whole = std::floor(*n) == *n && std::fabs(*n) < 1e15;
    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.17g", *n);
    out += text;
  } else if (const std::string* s = v.if_string()) {
    put_text(out, *s);
  } else if (const value::array* a = how == empty_object::as_list
                                         ? v.if_array()
                                         : std::get_if<value::array>(&v.data)) {
    out += '[';
    for (std::size_t i = 0; i < a->size(); ++i) {
      if (i != 0) out += ',';
      put(out, (*a)[i], how);
    }
    out += ']';
  } else if (const value::object* o = v.if_object()) {
    out += '{';
    bool first = true;
    for (const auto& [key, member] : *o) {
      if (!first) out += ',';
      first = false;
      put_text(out, key);
      out += ':';
      put(out, member, how);
    }
    out += '}';
  } else {
    out += "null";
  }
}

}  // namespace

const value::array* value::if_array() const {
  static const array empty;
  if (const auto* o = std::get_if<object>(&data); o != nullptr && o->empty()) return &empty;
  return std::get_if<array>(&data);
}

const value::object* value::if_object() const {
  static const object empty;
  if (const auto* a = std::get_if<array>(&data); a != nullptr && a->empty()) return &empty;
  return std::get_if<object>(&data);
}

const value* value::find(std::string_view key) const {
  const auto* o = std::get_if<object>(&data);
  if (o == nullptr) return nullptr;
  const auto found = o->find(key);
  return found == o->end() || found->second.is_null() ? nullptr : &found->second;
}

std::string value::text_of(std::string_view key) const {
  const value* v = find(key);
  const std::string* text = v == nullptr ? nullptr : v->if_string();
  return text == nullptr ? std::string() : *text;
}

const value::array* value::list_of(std::string_view key) const {
  const value* v = find(key);
  return v == nullptr ? nullptr : v->if_array();
}

std::string_view value::kind() const {
  switch (data.index()) {
    case 0: return "nil";
    case 1: return "a boolean";
    case 2: return "a number";
    case 3: return "a string";
    case 4: return "a list";
    default: return "a table";
  }
}

std::string to_text(const value& v) {
  std::string out;
  put(out, v, empty_object::as_list);
  return out;
}

std::string to_json_text(const value& v) {
  std::string out;
  put(out, v, empty_object::as_object);
  return out;
}

}  // namespace policies
