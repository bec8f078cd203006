#pragma once

#include "formats/go/problem.hpp"

#include <string>
#include <string_view>

namespace formats {

/// Standard, padded base64 and base32; newlines are skipped when decoding.
/// Errors   "illegal base64 data at input byte 3"
std::string base64_encode(std::string_view s);
outcome<std::string> base64_decode(std::string_view s);
std::string base32_encode(std::string_view s);
outcome<std::string> base32_decode(std::string_view s);

}  // namespace formats
