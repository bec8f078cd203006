#pragma once

#include "formats/go/value.hpp"
#include "formats/plain/problem.hpp"

#include <string>
#include <string_view>

namespace formats {

/// toToml: sorted keys, plain values before tables, tables indented by level.
/// Errors   what has no TOML form ("toml: cannot encode array with mixed element types" and the
///          like).
outcome<std::string> write_toml(const value& v);

/// fromToml: integers are int64, dates are times; [[tables]] are []map[string]interface {}.
/// Errors   the reference's, with the line and the last key: `toml: line 1 (last key "a"): …`
outcome<value> read_toml(std::string_view text);

/// One part of a key as it is written: quoted unless it is bare.
std::string toml_key_text(const std::string& k);

/// The zones of dates that name none; what is written shows which it was.
inline constexpr const char* toml_local_date_time = "datetime-local";
inline constexpr const char* toml_local_date = "date-local";
inline constexpr const char* toml_local_time = "time-local";

}  // namespace formats
