#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace reactor {
class loop;
struct tls_server_settings;
}  // namespace reactor
namespace reactor::http {
class server;
}

namespace k8s::sim {

/// The seams of a loop for the servers that live on it.
api_options options_on(reactor::loop& l);

/// Puts API servers on the loop's network, over TCP or over pipes in memory: one behind the whole
/// port, or several behind path prefixes.
/// Lifetime: the API servers outlive it; co_await stop() before destruction.
class server {
public:
  struct settings {
    reactor::endpoint at;                               // port 0 = any
    std::shared_ptr<reactor::tls_server_settings> tls;  // none = plain
  };
  server(reactor::loop& l, settings s);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Serves `api` below `prefix` ("" = the whole port, "/clusters/a").
  void add(api_server& api, std::string prefix = {});
  void remove(std::string_view prefix);

  /// Errors: the system's, with the address named.
  reactor::result<void> start();
  reactor::endpoint local() const;
  /// "http://127.0.0.1:6443", with the prefix of one of its servers.
  std::string url(std::string_view prefix = {}) const;
  std::size_t connections() const noexcept;
  reactor::awaitable<void> stop();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace k8s::sim
