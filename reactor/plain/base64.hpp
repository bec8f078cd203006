#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reactor {

/// How long base64 of so many bytes is.
constexpr std::size_t base64_length(std::size_t bytes) noexcept {
  return (bytes + 2) / 3 * 4;
}

/// Appends the bytes as RFC 4648 writes them, with padding; in place, since they may be a secret.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace reactor
