#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/message.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace reactor::http {

class connection_pool;
using tls_settings = reactor::tls_settings;

struct origin {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
  /// "https://10.0.0.1:6443"
  std::string text() const;
  friend auto operator<=>(const origin&, const origin&) = default;
};
/// Accepts http:// and https:// with host, optional port and path; `path` gets the path without
/// trailing slash.
result<origin> parse_origin(std::string_view url, std::string* path = nullptr);

/// A proxy to go through: absolute-form requests for http, CONNECT for https, or SOCKS5.
struct proxy_settings {
  secret url;  // http://[user:password@]host:port, https://… or socks5://…; empty = direct
};
/// HTTPS_PROXY, HTTP_PROXY, NO_PROXY (either case) as curl and Go read them. `env` looks a variable
/// up.
proxy_settings proxy_from_environment(const origin& to,
                                      const std::function<std::string(std::string_view)>& env);

struct client_options {
  http::origin origin;
  tls_settings tls;
  proxy_settings proxy;
  precedence how = precedence::usual;
  // Of each connection once its turn has come (dial_turns), which no deadline of a request counts.
  nanoseconds connect_timeout = 5s;  // name, TCP, proxy and TLS handshake together
  // From the request's last byte to the end of the response's head.
  nanoseconds response_timeout = 30s;
  nanoseconds idle_connection = 90s;  // an unused pooled connection is closed after this
  // Further requests wait their turn, bounded by response_timeout. Streams are counted by
  // themselves, so that no number of them keeps a request waiting.
  std::size_t max_connections = 64, max_streams = 2'000;
  // Kept for idle_connection; what a burst needed beyond them is closed after spare_connection.
  std::size_t max_idle_connections = 8;
  nanoseconds spare_connection = 5s;
  std::size_t header_limit_bytes = 64 * 1024;  // at most 96 KiB
};

/// A response under way: the head is here, the body comes piece by piece.
/// Lifetime: owns its place on the connection; destroying it before the end closes the connection
///           (HTTP/1.1) or resets the stream (HTTP/2). Must not outlive the client.
class exchange {
public:
  virtual ~exchange() = default;
  virtual const response_head& head() const noexcept = 0;
  /// The next piece of the body; empty = complete. The view is valid until the next call or
  /// suspension.
  /// Errors: errc::timed_out when nothing came for `idle` (the caller may read on);
  /// errc::malformed; the transport's own.
  awaitable<result<std::string_view>> read(nanoseconds idle) { return read(idle, {}); }
  /// As read(idle). Where nothing is there yet it looks again after `pause`, and only then waits:
  /// what comes meanwhile is read together, for one wake-up.
  virtual awaitable<result<std::string_view>> read(nanoseconds idle, nanoseconds pause) = 0;
  /// Ends a read() that waits as if its time were over; the caller may read on. Does nothing when
  /// none waits.
  virtual void wake_reader() noexcept = 0;
  /// When the last byte came from the peer; half-open detection looks at it.
  virtual steady_time last_byte() const noexcept = 0;
};

/// The whole rest of the body. Errors: errc::limit past `limit_bytes`.
awaitable<result<std::string>> read_body(std::unique_ptr<exchange>& from, std::size_t limit_bytes,
                                         nanoseconds idle);  // borrowed

/// Requests to one origin: pooled connections, several requests at once. HTTP/1.1 today; HTTP/2
/// fits behind the same calls. Retries once, on a fresh connection, only when a pooled one turned
/// out dead before a response byte and the method is idempotent or nothing was sent. Redirects are
/// answers, not followed.
/// Lifetime: co_await stop() before destruction.
class client {
public:
  client(loop& l, client_options options);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// Sends and returns when the head of the response is here.
  awaitable<result<std::unique_ptr<exchange>>> send(request r);
  /// Sends and reads the whole body, all of it by `deadline`, which is later by what a new
  /// connection waited for its turn. Errors: errc::limit past
  /// `limit_bytes`; errc::timed_out.
  awaitable<result<response>> fetch(request r, std::size_t limit_bytes = 16 * 1024 * 1024,
                                    steady_time deadline = never);

  /// New credentials or trust for connections made from now on; pooled idle ones are dropped.
  void set_tls(tls_settings tls);
  const client_options& options() const noexcept;
  /// Connections open now, in use and idle.
  std::size_t connections() const noexcept;
  /// Closes every connection and waits until its tasks have ended.
  awaitable<void> stop();

private:
  std::shared_ptr<connection_pool> pool_;  // shared with requests under way, which may end after us
};

}  // namespace reactor::http
