#include "formats/base64.hpp"

#include "reactor/secret.hpp"

#include <array>
#include <cstdint>

namespace formats {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_reverse() {
  std::array<std::int8_t, 256> out{};
  for (auto& v : out) v = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    out[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return out;
}

constexpr auto reverse = make_reverse();

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= n ? alphabet[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);  // it stays where it is made: it may be a secret
  const auto refused = [&] {
    reactor::wipe(out);
    return std::optional<std::string>();
  };
  std::uint32_t word = 0;
  int have = 0, padding = 0;
  bool ended = false;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (ended) return refused();
    if (c == '=') {
      if (have < 2) return refused();
      ++padding;
      word <<= 6;
    } else {
      const int value = reverse[static_cast<unsigned char>(c)];
      if (value < 0 || padding > 0) return refused();
      word = word << 6 | static_cast<std::uint32_t>(value);
    }
    if (++have < 4) continue;
    for (int k = 0; k < 3 - padding; ++k) out += static_cast<char>(word >> (16 - 8 * k) & 0xff);
    ended = padding > 0;
    word = 0;
    have = 0;
  }
  if (have != 0) return refused();
  return out;
}

}  // namespace formats
