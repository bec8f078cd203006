#include "formats/base64.hpp"

#include "reactor/plain/base64.hpp"
#include "reactor/plain/secret.hpp"

#include <array>

namespace formats {
namespace {

constexpr std::array<std::int8_t, 256> make_reverse() {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::int8_t, 256> out{};
  for (auto& v : out) v = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    out[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return out;
}

constexpr auto reverse = make_reverse();

constexpr std::string_view alphabet32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

problem illegal(const char* what, std::size_t at) {
  return {std::string("illegal ") + what + " data at input byte " + std::to_string(at)};
}

bool is_gap(char c, base64_gaps gaps) {
  return c == '\n' || c == '\r' || (gaps == base64_gaps::blanks && (c == ' ' || c == '\t'));
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve(reactor::base64_length(bytes.size()));
  reactor::append_base64(out, bytes);
  return out;
}

reactor::result<std::string, std::size_t> read_base64(std::string_view s, base64_gaps gaps) {
  std::string out;
  out.reserve(s.size() / 4 * 3 + 3);  // it stays where it is made
  std::size_t i = 0;
  const auto skip = [&] {
    while (i < s.size() && is_gap(s[i], gaps)) ++i;
  };
  const auto refused = [&](std::size_t at) {
    reactor::wipe(out);
    return reactor::result<std::string, std::size_t>(boost::system::in_place_error, at);
  };
  for (;;) {
    std::uint32_t block = 0;
    std::size_t have = 0;
    for (; have < 4; ++have) {
      skip();
      if (i >= s.size()) {
        if (have == 0) return out;
        return refused(i - have);
      }
      const int digit = reverse[static_cast<unsigned char>(s[i])];
      if (digit < 0) break;
      block = block << 6 | static_cast<std::uint32_t>(digit);
      ++i;
    }
    if (have == 4) {
      out += static_cast<char>(block >> 16);
      out += static_cast<char>(block >> 8 & 255);
      out += static_cast<char>(block & 255);
      continue;
    }
    if (s[i] != '=' || have < 2) return refused(i);
    ++i;
    if (have == 2) {
      skip();
      if (i >= s.size()) return refused(s.size());
      if (s[i] != '=') return refused(i);
      ++i;
    }
    skip();
    if (i < s.size()) return refused(i);
    block <<= 6 * (4 - have);
    out += static_cast<char>(block >> 16);
    if (have == 3) out += static_cast<char>(block >> 8 & 255);
    return out;
  }
}

std::optional<std::string> decode_base64(std::string_view text) {
  auto out = read_base64(text, base64_gaps::blanks);
  if (!out) return std::nullopt;
  return std::move(*out);
}

std::string base32_encode(std::string_view s) {
  constexpr unsigned bits = 5;
  std::string out;
  std::uint32_t block = 0;
  unsigned have = 0;
  for (char c : s) {
    block = block << 8 | static_cast<unsigned char>(c);
    have += 8;
    while (have >= bits) {
      have -= bits;
      out += alphabet32[block >> have & ((1U << bits) - 1)];
    }
    block &= (1U << have) - 1;
  }
  if (have > 0) out += alphabet32[block << (bits - have) & ((1U << bits) - 1)];
  while (out.size() % 8 != 0) out += '=';
  return out;
}

outcome<std::string> base64_decode(std::string_view s) {
  auto out = read_base64(s, base64_gaps::lines);
  if (!out) return illegal("base64", out.error());
  return std::move(*out);
}

outcome<std::string> base32_decode(std::string_view s) {
  std::string clean;
  for (char c : s)
    if (c != '\n' && c != '\r') clean += c;
  std::string out;
  std::size_t i = 0;
  while (i < clean.size()) {
    std::uint64_t block = 0;
    std::size_t have = 0;
    for (; have < 8; ++have) {
      if (i >= clean.size()) return illegal("base32", i - have);
      if (clean[i] == '=' && have >= 2) {
        std::size_t padding = 8 - have;
        if (clean.size() - i < padding) return illegal("base32", clean.size());
        for (std::size_t k = 0; k < padding; ++k)
          if (clean[i + k] != '=') return illegal("base32", i + k);
        if (have == 3 || have == 6 || have == 1)
          return illegal("base32", i - 1 < clean.size() ? i : i);
        if (i + padding < clean.size()) return illegal("base32", i + padding);
        block <<= 5 * padding;
        auto bytes = have * 5 / 8;
        for (std::size_t k = 0; k < bytes; ++k)
          out += static_cast<char>(block >> (32 - 8 * k) & 255);
        return out;
      }
      auto n = alphabet32.find(clean[i]);
      if (n == alphabet32.npos) return illegal("base32", i);
      block = block << 5 | n;
      ++i;
    }
    for (std::size_t k = 0; k < 5; ++k) out += static_cast<char>(block >> (32 - 8 * k) & 255);
  }
  return out;
}

}  // namespace formats
