#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/connect.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"

#include <memory>

namespace reactor::http {

/// Asks a SOCKS5 proxy at the other end of `s` for a connection to plan.to, with user name and
/// password where the proxy's URL has them. The proxy resolves the name, as with Go's client.
/// Errors: errc::refused for what the proxy does not allow; errc::closed for what may pass;
///         errc::malformed for an answer that is not SOCKS5.
/// Source: RFC 1928, RFC 1929.
awaitable<result<std::unique_ptr<stream>>> open_socks(std::unique_ptr<stream> s, connect_plan plan);

}  // namespace reactor::http
