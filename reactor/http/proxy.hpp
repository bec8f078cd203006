#pragma once

#include "reactor/http/client.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <cstdint>
#include <string>

namespace reactor::http {

/// A proxy as the wire needs it.
struct proxy {
  enum class speaks : std::uint8_t { http, socks };
  origin to;  // no host = none
  speaks language = speaks::http;
  secret authorization;  // value of Proxy-Authorization; empty = none
  std::string user;      // for SOCKS; empty = none
  secret password;
  bool used() const noexcept { return !to.host.empty(); }
  /// A request for a plain origin names it in its first line.
  bool forwards_requests() const noexcept { return used() && language == speaks::http; }
  /// "socks5://proxy:1080", without a login; for messages.
  std::string text() const;
};
/// Errors: errc::malformed; the text never repeats the URL, which may hold a password.
result<proxy> parse_proxy(const proxy_settings& settings);

}  // namespace reactor::http
