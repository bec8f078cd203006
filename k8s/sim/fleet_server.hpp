#pragma once

#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

enum class fleet_layout { port_each, one_port };  // one_port: path prefixes /clusters/<name>
enum class transport_security { plain, tls };

struct fleet_options {
  std::size_t clusters = 1;
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // the first cluster's, the others follow; 0 = any
  fleet_layout layout = fleet_layout::port_each;
  transport_security security = transport_security::plain;
  /// With rbac the kubeconfig's user is of system:masters, by a token of its own where there is no
  /// TLS; others come with tokens of ServiceAccounts.
  authorization judge = authorization::always_allow;
  std::string name_prefix = "cluster-";  // cluster-001, cluster-002 …
  /// Changes the options of each API server before it is made. May be empty.
  std::function<void(std::size_t index, api_options&)> adjust;
};

/// Many embedded API servers on one loop and the kubeconfig to reach them: what
/// `windlass apiserver` runs. With TLS, a throwaway authority signs the servers' certificates and
/// an administrator's client certificate.
/// Lifetime: co_await stop() before destruction.
class fleet_server {
public:
  fleet_server(reactor::loop& l, fleet_options options);
  ~fleet_server();
  fleet_server(const fleet_server&) = delete;
  fleet_server& operator=(const fleet_server&) = delete;

  /// Errors: the address in use, named; what listened before the failure is closed by stop().
  reactor::result<void> start();
  reactor::awaitable<void> stop();

  std::size_t size() const noexcept;
  const std::string& name(std::size_t i) const;
  api_server& api(std::size_t i);
  std::string url(std::size_t i) const;
  std::size_t connections() const noexcept;

  /// One context per cluster, named like it; the first is current. `only` restricts it to one
  /// cluster.
  std::string kubeconfig() const;
  std::string kubeconfig(std::size_t only) const;
  /// DIR/kubeconfig and, with TLS, DIR/ca.crt; each appears complete or not at all. Returns the
  /// kubeconfig's path.
  /// Errors: the system's, with the file named.
  reactor::result<std::string> write(std::string directory) const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace k8s::sim
