#pragma once

#include <boost/json/value.hpp>

#include <optional>
#include <string_view>

namespace formats {

/// What an untagged plain scalar stands for. Nothing = a number JSON cannot hold (.inf, .nan,
/// 1e999).
std::optional<boost::json::value> resolve_plain_scalar(std::string_view text);

/// Whether a plain scalar with this text would be read back as text.
bool reads_as_text(std::string_view text);

/// Well-formed UTF-8: no overlong forms, surrogates or values above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace formats
