#include "formats/digest.hpp"

#include <openssl/evp.h>

#include <stdexcept>

namespace formats {

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    out += digits[digest[i] >> 4];
    out += digits[digest[i] & 15];
  }
  return out;
}

std::string digest_of(std::string_view bytes) {
  return "sha256:" + sha256_hex(bytes);
}

bool is_digest(std::string_view text) noexcept {
  return text.size() == 71 && text.starts_with("sha256:") &&
         text.find_first_not_of("0123456789abcdef", 7) == text.npos;
}

}  // namespace formats
