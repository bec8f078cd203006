#include "formats/digest.hpp"

#include "reactor/plain/memory.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace formats {
namespace {

/// Looked up once: a short text takes less time than asking who knows SHA-256.
const EVP_MD* sha256() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return found;
}

}  // namespace

std::string hex_of(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  unsigned char raw[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), raw, &size, sha256(), nullptr) != 1)
    reactor::memory_lost();  // nothing else can be missing
  return hex_of({reinterpret_cast<const char*>(raw), size});
}

std::string digest_of(std::string_view bytes) {
  return "sha256:" + sha256_hex(bytes);
}

bool is_digest(std::string_view text) noexcept {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 71 && text.starts_with("sha256:") &&
         std::all_of(text.begin() + 7, text.end(), is_hex);
}

}  // namespace formats
