#pragma once

#include "helm/problem.hpp"
#include "helm/value.hpp"

#include <string>
#include <string_view>

namespace helm {

/// toToml: sorted keys, plain values before tables, tables indented by level.
/// Errors   what has no TOML form ("toml: cannot encode array with mixed element types" and the like).
outcome<std::string> write_toml(const value& v);

/// fromToml: integers are int64, the rest as in JSON; dates become their text.
/// Errors   "toml: line 1: …"
outcome<value> read_toml(std::string_view text);

}  // namespace helm
