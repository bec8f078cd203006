#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/message.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace reactor::http {

/// What a handler answers with. Either one send(), or start() and then write() until finish().
class responder {
public:
  virtual ~responder() = default;
  /// A whole response with Content-Length.
  virtual awaitable<result<void>> send(response r) = 0;
  /// The head of a streamed response (chunked).
  virtual awaitable<result<void>> start(response_head head) = 0;
  /// One chunk, flushed at once. Fails when the client is gone.
  virtual awaitable<result<void>> write(std::string bytes) = 0;
  virtual awaitable<result<void>> finish() = 0;
  /// Calls `told` once when the client goes away while the handler runs, instead of cancelling it;
  /// it then ends soon: what it still writes fails. For streams that rest, because a cancellation
  /// unwinds frame by frame.
  virtual void when_gone(std::function<void()> told) = 0;
  /// Ends the connection with no answer or no further one, as a server that crashes does.
  virtual void abandon() noexcept {}
  /// "127.0.0.1:53122"
  virtual std::string peer() const = 0;
  /// Subject common name of a verified client certificate, else empty.
  virtual std::string client_name() const = 0;
};

using server_tls = tls_server_settings;

struct server_options {
  endpoint at;                                 // port 0 = any
  std::unique_ptr<server_tls> tls;             // none = plain
  nanoseconds header_timeout = 10s;            // for a whole header, and for the first byte to come
  nanoseconds idle_timeout = 120s;             // between requests; also for a whole body to arrive
  nanoseconds write_timeout = 30s;             // a client that does not read
  std::size_t header_limit_bytes = 64 * 1024;  // at most 96 KiB
  std::size_t body_limit_bytes = 8 * 1024 * 1024;
  // For one more, the connection that has waited longest for its client is ended; a request that is
  // being answered is not, so that further ones wait in the listen queue while all are.
  std::size_t max_connections = 10'000;
};

/// One handler call per request; it runs as a task that is cancelled when the client goes away,
/// unless it asked to be told, or the server stops. An exception of the handler answers 500 and
/// ends that connection only.
using handler = std::function<awaitable<void>(request r, responder& to)>;

/// An HTTP/1.1 server with keep-alive on the loop's network.
/// Lifetime: co_await stop() before destruction.
class server {
public:
  server(loop& l, server_options options, handler h);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Binds and starts to accept. Errors: the system's, with the address named ("listen on
  /// 127.0.0.1:8080").
  result<void> start();
  endpoint local() const;
  std::size_t connections() const noexcept;
  awaitable<void> stop();

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace reactor::http
