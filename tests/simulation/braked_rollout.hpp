#pragma once

#include "app/api/speed_limit.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace simulation {

/// A rollout that something at home begins, under the whole service.
struct home_rollout {
  std::vector<fleet_cluster> fleet;
  /// Puts what home and the clusters have before the service starts.
  std::function<void(node_world& world)> prepare;
  /// What the service is started with, beside its home.
  std::function<void(cli::service_options& o)> settings;
  reactor::nanoseconds settles = std::chrono::minutes(1);  // until the rollout may begin
  std::function<void(node_world& world)> begin;
};

struct rollout_outcome {
  std::size_t writes = 0, began = 0;  // of the rollout
  bool landed = false, has_arrived = false;
  std::vector<std::string> violations;
};

/// The brake lands right after so many writes of the rollout on home or a cluster, and is taken off
/// three minutes later; 0: never.
rollout_outcome run_braked(reactor::loop& l, home_rollout r, std::size_t brake_at);
/// The same without a brake, under a speed limit.
rollout_outcome run_limited(reactor::loop& l, home_rollout r, units::change_limits limits);

/// Tries moments that lie evenly over the rollout: ten of them, or as many as WINDLASS_BRAKE_SEEDS
/// says. `make` gets the loop that the rollout is for.
void sweep_brake(const std::function<home_rollout(reactor::loop& l)>& make, const char* what);

}  // namespace simulation
