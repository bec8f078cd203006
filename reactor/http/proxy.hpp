#pragma once

#include "reactor/http/client.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

namespace reactor::http {

/// A proxy as the wire needs it.
struct proxy {
  origin to;             // no host = none
  secret authorization;  // value of Proxy-Authorization; empty = none
  bool used() const noexcept { return !to.host.empty(); }
};
/// Errors: errc::malformed; the text never repeats the URL, which may hold a password.
result<proxy> parse_proxy(const proxy_settings& settings);

}  // namespace reactor::http
