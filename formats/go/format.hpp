#pragma once

#include "formats/go/value.hpp"

#include <span>
#include <string>
#include <string_view>

namespace formats {

/// Go's fmt on template values.
/// Errors   never: a wrong verb becomes part of the text, as in Go. Nesting deeper than 10,000 (a
///          map set into itself, on which Go dies) ends in "...".

/// %v
std::string format_value(const value& v);
void append_value(std::string& out, const value& v);
/// fmt.Sprint: a space between operands when neither is a string.
std::string sprint(std::span<const value> operands);
/// fmt.Sprintln
std::string sprintln(std::span<const value> operands);
/// fmt.Sprintf
std::string sprintf(std::string_view format, std::span<const value> operands);
/// Sprig's text form: strings and bytes raw, errors and Stringers by their text, everything else
/// %v.
std::string text_form(const value& v);

}  // namespace formats
