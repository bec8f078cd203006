#pragma once

#include "reactor/plain/entropy.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/chart_repository.hpp"
#include "simulation/commands/simulate/workload.hpp"
#include "simulation/fleet_file.hpp"
#include "simulation/node_world.hpp"
#include "simulation/tenant_invariants.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli::simulate {

/// The Tenants of a trial's fleet: on each cluster some, and one that names another cluster; the
/// repository of their chart, and the judge of what becomes of them.
class trial_tenants final : public workload {
public:
  trial_tenants(reactor::loop& l, simulation::node_world& world,
                const simulation::fleet_plan& fleet);

  reactor::result<void> start() override;
  reactor::awaitable<void> stop() override;
  std::vector<units::api> with(std::vector<units::api> all) const override;
  known_by roll_out() override;
  void saw(std::size_t cluster, const k8s::sim::written& w) override;
  void look_at(service* windlass) override;
  void saw_start() override { checks_.saw_start(); }
  void saw_stop() override { checks_.saw_stop(); }
  reactor::awaitable<void> cause(simulation::trouble t, std::size_t cluster) override;
  reactor::awaitable<k8s::result<std::vector<std::string>>> differences(
      k8s::cluster& seen) override;
  count counted() const override { return {checks_.tenants(), checks_.arrived()}; }
  std::string unfinished() const override { return checks_.unfinished(); }
  void check_at_rest() override { checks_.check_at_rest(); }
  const std::vector<std::string>& violations() const override { return checks_.violations(); }

private:
  void put(std::size_t cluster, const std::string& name, const std::string& target = {});
  /// A Tenant comes to the cluster or goes from it.
  void change(std::size_t cluster);
  /// The repository fails for a while, one way or another.
  reactor::awaitable<void> spoil_repository();

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
