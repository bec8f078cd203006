#pragma once

#include <string>
#include <string_view>

namespace formats {

/// Bytes in lower-case hexadecimal.
std::string hex_of(std::string_view bytes);

/// SHA-256 in lower-case hexadecimal.
std::string sha256_hex(std::string_view bytes);

/// "sha256:" and the hexadecimal SHA-256 of the bytes, as registries, locks and indexes write it.
std::string digest_of(std::string_view bytes);

/// True for "sha256:" and 64 lower-case hexadecimal digits.
bool is_digest(std::string_view text) noexcept;

}  // namespace formats
