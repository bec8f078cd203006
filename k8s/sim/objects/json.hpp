#pragma once

#include <boost/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace k8s::sim {

namespace json = boost::json;

using path_view = std::initializer_list<std::string_view>;

/// The value at `path` below `v`, or null when a step is missing or not an object.
const json::value* find(const json::value& v, path_view path) noexcept;
const json::value* find(const json::object& o, path_view path) noexcept;
json::value* find(json::object& o, path_view path) noexcept;
/// The same, wanted as one kind: an absent or differently typed value is null.
const json::object* find_object(const json::object& o, path_view path) noexcept;
const json::array* find_array(const json::object& o, path_view path) noexcept;
/// The string at `path`, or empty.
std::string_view text(const json::object& o, path_view path) noexcept;
/// The integer at `path`, or `otherwise`.
std::int64_t number(const json::object& o, path_view path, std::int64_t otherwise = 0) noexcept;
bool flag(const json::object& o, path_view path) noexcept;
/// The member as an object, made or replaced when it is not one.
json::object& ensure_object(json::object& o, std::string_view name);
/// Removes a member and keeps the order of the others.
bool erase(json::object& o, std::string_view name);
/// Sets the member or, when `v` is null, removes it.
void put_or_erase(json::object& o, std::string_view name, const json::value* v);
/// Sets the member when it is absent.
bool set_default(json::object& o, std::string_view name, json::value v);

/// What == says, without the copy of each member that Boost.JSON 1.81 makes to compare it.
bool same(const json::value& a, const json::value& b) noexcept;
bool same(const json::object& a, const json::object& b) noexcept;

/// Nothing for bytes that are not one JSON document, nested deeper than 128 or with invalid UTF-8.
/// `why` explains.
std::optional<json::value> parse(std::string_view bytes, std::string* why = nullptr);
std::string quoted(std::string_view s);
void append_text(std::string& to, const json::value& v);

}  // namespace k8s::sim
