#include "formats/go/base64.hpp"

#include <cstdint>

namespace formats {
namespace {

constexpr std::string_view alphabet64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view alphabet32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

std::string encode(std::string_view s, std::string_view alphabet, unsigned bits,
                   std::size_t group) {
  std::string out;
  std::uint32_t block = 0;
  unsigned have = 0;
  for (char c : s) {
    block = block << 8 | static_cast<unsigned char>(c);
    have += 8;
    while (have >= bits) {
      have -= bits;
      out += alphabet[block >> have & ((1U << bits) - 1)];
    }
    block &= (1U << have) - 1;
  }
  if (have > 0) out += alphabet[block << (bits - have) & ((1U << bits) - 1)];
  while (out.size() % group != 0) out += '=';
  return out;
}

problem illegal(const char* what, std::size_t at) {
  return {std::string("illegal ") + what + " data at input byte " + std::to_string(at)};
}

}  // namespace

std::string base64_encode(std::string_view s) {
  return encode(s, alphabet64, 6, 4);
}
std::string base32_encode(std::string_view s) {
  return encode(s, alphabet32, 5, 8);
}

outcome<std::string> base64_decode(std::string_view s) {
  std::string out;
  std::size_t i = 0;
  auto skip = [&] {
    while (i < s.size() && (s[i] == '\n' || s[i] == '\r')) ++i;
  };
  for (;;) {
    std::uint32_t block = 0;
    std::size_t have = 0;
    for (; have < 4; ++have) {
      skip();
      if (i >= s.size()) {
        if (have == 0) return out;
        return illegal("base64", i - have);
      }
      auto n = alphabet64.find(s[i]);
      if (n == alphabet64.npos) break;
      block = block << 6 | static_cast<std::uint32_t>(n);
      ++i;
    }
    if (have == 4) {
      out += static_cast<char>(block >> 16);
      out += static_cast<char>(block >> 8 & 255);
      out += static_cast<char>(block & 255);
      continue;
    }
    if (s[i] != '=' || have < 2) return illegal("base64", i);
    ++i;
    if (have == 2) {
      skip();
      if (i >= s.size()) return illegal("base64", s.size());
      if (s[i] != '=') return illegal("base64", i);
      ++i;
    }
    skip();
    if (i < s.size()) return illegal("base64", i);
    block <<= 6 * (4 - have);
    out += static_cast<char>(block >> 16);
    if (have == 3) out += static_cast<char>(block >> 8 & 255);
    return out;
  }
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
