#pragma once

#include "helm/tenants/kinds/krypton_deployment.hpp"
#include "k8s/informer/informer.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class client;
class engagement;
}  // namespace k8s
namespace reactor {
class loop;
}

namespace helm::tenants {

/// The KryptonDeployments of home, or of the namespaces that are named: each of these has a
/// stream of its own, so that a Role there is right enough.
/// Lifetime co_await stop() before destruction; loop, client and engagement outlive it.
class watched_deployments {
public:
  using informer = k8s::informer<krypton_deployment>;
  /// `in` empty: all namespaces.
  watched_deployments(reactor::loop& l, k8s::client& api, const std::vector<std::string>& in,
                      const k8s::watch_limits& limits, const reactor::logger& log);

  /// Called for each stream before start().
  void each_stream(const std::function<void(informer&)>& f);
  void start();
  /// False when `deadline` came first.
  reactor::awaitable<bool> synced(reactor::steady_time deadline = reactor::never);
  reactor::awaitable<void> stop();
  /// Why what is known may not be the truth; empty when nothing is.
  std::string sync_problem() const;

  const krypton_deployment* find(const k8s::object_key& key) const;
  void each(const std::function<void(const krypton_deployment&)>& f) const;
  void each_by(std::string_view index, std::string_view value,
               const std::function<void(const krypton_deployment&)>& f) const;

private:
  std::vector<std::unique_ptr<informer>> streams_;
};

}  // namespace helm::tenants
