#include "reactor/http/authorization.hpp"

namespace reactor::http {
namespace {

void append_base64(std::string& out, std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t b = 0; b < 3; ++b)
      group = group << 8 | (i + b < bytes.size() ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    for (std::size_t d = 0; d < 4; ++d)
      out += i + d > bytes.size() ? '=' : digits[group >> (18 - 6 * d) & 63];
  }
}

}  // namespace

secret basic_authorization(std::string_view user, std::string_view password) {
  constexpr std::string_view scheme = "Basic ";
  const std::size_t length = user.size() + 1 + password.size();
  std::string pair, out;
  // Each is made in the memory that it stays in; a short one stands in the object itself.
  pair.reserve(length);
  out.reserve(scheme.size() + (length + 2) / 3 * 4);
  pair.append(user).append(":").append(password);
  out.append(scheme);
  append_base64(out, pair);
  wipe(pair);
  return secret(std::move(out));
}

secret bearer_authorization(std::string_view token) {
  constexpr std::string_view scheme = "Bearer ";
  std::string out;
  out.reserve(scheme.size() + token.size());
  out.append(scheme).append(token);
  return secret(std::move(out));
}

}  // namespace reactor::http
