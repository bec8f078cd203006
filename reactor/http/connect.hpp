#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/client.hpp"
#include "reactor/http/proxy.hpp"
#include "reactor/http/wire.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/plain/result.hpp"

#include <memory>
#include <string>

namespace reactor::http {

/// What a new connection needs; by value, since settings may change while it is made.
struct connect_plan {
  origin to;
  precedence how = precedence::usual;
  proxy via;
  std::shared_ptr<tls_context> tls;         // for an https origin
  std::string server_name;                  // what its certificate must be for
  std::shared_ptr<allowance> peer;          // at whose expense it is
  std::shared_ptr<tls_resumption> session;  // of the origin; may be none
  std::shared_ptr<tls_context> proxy_tls;   // for an https proxy
  std::size_t header_limit_bytes = 0;
};

/// Errors: errc::malformed for settings that cannot be used.
result<connect_plan> plan_connection(const client_options& options);

/// A stream to the origin, through the proxy and TLS where the plan has them. Its deadline is
/// lifted.
/// Errors: those of the network and of tls_connect; errc::refused when the proxy does not allow it.
awaitable<result<std::unique_ptr<stream>>> connect(loop& l, connect_plan plan,
                                                   steady_time deadline);

}  // namespace reactor::http
