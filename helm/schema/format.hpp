#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace helm {

/// Why a text is not of a JSON-schema format, in the words of the reference's validator; nothing
/// when it is, or when the format is unknown.
std::optional<std::string> format_problem(std::string_view format, const std::string& text);

}  // namespace helm
