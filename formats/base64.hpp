#pragma once

#include "formats/plain/problem.hpp"
#include "reactor/plain/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace formats {

/// RFC 4648 with padding, as Secrets and kubeconfigs carry bytes.
std::string encode_base64(std::string_view bytes);

/// What may stand between the digits.
enum class base64_gaps : std::uint8_t {
  lines,   // line breaks, as Go skips them
  blanks,  // spaces and tabs as well, as YAML folds them in
};
/// The bytes, or the place of what does not belong there, counted as Go counts it. Padding is
/// required. What was read of a text that is refused is overwritten: it may be a secret.
reactor::result<std::string, std::size_t> read_base64(std::string_view text, base64_gaps gaps);

/// The same with blanks, for who does not tell where it failed.
std::optional<std::string> decode_base64(std::string_view text);
/// The same in Go's words and with line breaks only.
/// Errors   "illegal base64 data at input byte 3"
outcome<std::string> base64_decode(std::string_view s);

/// Padded base32, likewise.
std::string base32_encode(std::string_view s);
outcome<std::string> base32_decode(std::string_view s);

}  // namespace formats
