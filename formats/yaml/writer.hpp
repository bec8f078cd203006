#pragma once

#include "formats/go/value.hpp"
#include "formats/plain/problem.hpp"

#include <string>
#include <string_view>

namespace formats {

/// toYaml and every other place where Helm writes YAML: the value goes through JSON, keys are in
/// natural order, lists are not indented below their key, lines fold at column 80. Ends in a
/// newline.
/// Errors   a number JSON cannot hold, or a character YAML forbids.
outcome<std::string> write_go_yaml(const value& v);

/// toYamlPretty: straight from the value, lists indented, no folding.
outcome<std::string> write_go_yaml_pretty(const value& v);

}  // namespace formats
