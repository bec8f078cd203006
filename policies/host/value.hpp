#pragma once

#include "reactor/plain/result.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace policies {

/// What a policy answers, copied out of Lua: plain data without functions, views or cycles.
/// An empty Lua table is an empty object, or an empty array where it is marked as a list: by
/// `list()`, or because it was read as one. Both read as either, so that a hook's answer need not
/// care; what is sent to a server does.
struct value {
  using array = std::vector<value>;
  using object = std::map<std::string, value, std::less<>>;
  std::variant<std::monostate, bool, double, std::string, array, object> data;

  value() = default;
  value(bool b) : data(b) {}
  value(double n) : data(n) {}
  value(int n) : data(static_cast<double>(n)) {}
  value(std::string s) : data(std::move(s)) {}
  value(std::string_view s) : data(std::string(s)) {}
  value(const char* s) : data(std::string(s)) {}
  value(array a) : data(std::move(a)) {}
  value(object o) : data(std::move(o)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(data); }
  const bool* if_bool() const { return std::get_if<bool>(&data); }
  const double* if_number() const { return std::get_if<double>(&data); }
  const std::string* if_string() const { return std::get_if<std::string>(&data); }
  /// Null when it is something else.
  const array* if_array() const;
  const object* if_object() const;
  /// The member of an object; null when it is no object, has no such member, or the member is nil.
  const value* find(std::string_view key) const;
  /// The text of a member; empty when there is none, or it is something else.
  std::string text_of(std::string_view key) const;
  /// The list of a member; null when there is none, or it is something else.
  const array* list_of(std::string_view key) const;
  /// "a table", "a string" … for messages.
  std::string_view kind() const;

  friend bool operator==(const value&, const value&) = default;
};

/// Bounds on what is copied out of Lua.
struct value_limits {
  std::size_t depth = 16;
  std::size_t nodes = 100'000;
  std::size_t text_bytes = 4 * 1024 * 1024;
};

/// For logs, records and digests: JSON with sorted keys, in which an empty table and an empty list
/// are the same.
std::string to_text(const value& v);
/// JSON with sorted keys.
std::string to_json_text(const value& v);

}  // namespace policies
