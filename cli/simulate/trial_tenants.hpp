#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/chart_repository.hpp"
#include "simulation/fleet_file.hpp"
#include "simulation/node_world.hpp"
#include "simulation/tenant_invariants.hpp"
#include "units/api.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {
class service;
}

namespace cli::simulate {

/// The Tenants of a trial's fleet: on each cluster some, and one that names another cluster; the
/// repository of their chart, and the judge of what becomes of them.
/// Lifetime  loop and world outlive it; co_await stop() before destruction.
class trial_tenants {
public:
  trial_tenants(reactor::loop& l, simulation::node_world& world,
                const simulation::fleet_plan& fleet);

  /// After the world, whose clusters have the kind and the first Tenants from now on.
  reactor::result<void> start();
  reactor::awaitable<void> stop();

  /// The same APIs, with what a service is told that is started now.
  std::vector<units::api> with(std::vector<units::api> all) const;
  /// Everybody shall have the next version of the chart: whoever is started from now on is told so.
  void roll_out();

  void saw(std::size_t cluster, const k8s::sim::written& w);
  /// Looks at what the service can reach; null: there is none now.
  void look_at(service* windlass);
  /// A service starts, or ended and was let to: nothing of it may be left half done.
  void saw_start() { checks_.saw_start(); }
  void saw_stop() { checks_.saw_stop(); }

  /// A Tenant comes to the cluster or goes from it.
  void change(std::size_t cluster);
  /// The repository fails for a while, one way or another.
  reactor::awaitable<void> spoil_repository();

  simulation::tenant_invariants& checks() noexcept { return checks_; }

private:
  void put(std::size_t cluster, const std::string& name, const std::string& target = {});

  reactor::loop& loop_;
  simulation::node_world& world_;
  std::vector<std::size_t> counts_;  // Tenants of each cluster at the beginning
  simulation::chart_repository repository_;
  simulation::tenant_invariants checks_;
  std::string version_;
  std::size_t made_ = 0;
  /// What the service of now knows of a cluster.
  struct sight {
    bool was_reached = false;
    std::optional<reactor::steady_time> absent_since, unreached_since;
  };
  std::vector<sight> seen_;
  service* looked_at_ = nullptr;
};

}  // namespace cli::simulate
