#include "reactor/http/authorization.hpp"

#include "reactor/plain/base64.hpp"

namespace reactor::http {

secret basic_authorization(std::string_view user, std::string_view password) {
  constexpr std::string_view scheme = "Basic ";
  const std::size_t length = user.size() + 1 + password.size();
  std::string pair, out;
  // Each is made in the memory that it stays in; a short one stands in the object itself.
  pair.reserve(length);
  out.reserve(scheme.size() + base64_length(length));
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
