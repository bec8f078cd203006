#pragma once

#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/host/host.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/metrics.hpp"
#include "app/api/api.hpp"

#include <memory>
#include <string>

namespace bench {

class served_fleet;

/// One API on the clusters that it is given, as the service has it there.
/// Lifetime  the loop outlives it; co_await stop() before destruction.
class api_keeper {
public:
  api_keeper(reactor::loop& l, units::api what, policies::host::options packs = {});

  /// Another connection of the same name takes the place of the former.
  void add(const std::string& name, k8s::connection to) { fleet_->add(name, std::move(to)); }
  /// One after the other, as the fleet takes those that it discovers.
  reactor::awaitable<void> add_all(const served_fleet& f);  // borrowed
  policies::host& packs() { return packs_; }
  reactor::metrics& metrics() { return metrics_; }
  k8s::fleet& fleet() { return *fleet_; }
  const k8s::fleet& fleet() const { return *fleet_; }
  /// Everything soon, on every cluster.
  void reconsider();
  reactor::awaitable<void> stop() { return fleet_->stop(); }

private:
  reactor::loop& loop_;
  reactor::metrics metrics_;
  policies::host packs_;
  units::api api_;
  std::unique_ptr<k8s::fleet> fleet_;
  std::unique_ptr<units::running_api> works_;
};

}  // namespace bench
