#pragma once

#include <string>
#include <string_view>

namespace formats {

/// SHA-256 in lower-case hexadecimal.
std::string sha256_hex(std::string_view bytes);

}  // namespace formats
