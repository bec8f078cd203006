#pragma once

#include "app/api/api.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/sim/api_server.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "simulation/trouble.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {
class service;
}

namespace cli::simulate {

/// What lives in a trial's fleet beside its nodes, and the judge of what becomes of it.
/// Lifetime  loop and world outlive it; co_await stop() before destruction.
class workload {
public:
  virtual ~workload() = default;

  /// After the world, whose clusters have what it needs from now on.
  virtual reactor::result<void> start() = 0;
  virtual reactor::awaitable<void> stop() = 0;

  /// The same APIs, with what a service is told that is started now.
  virtual std::vector<units::api> with(std::vector<units::api> all) const = 0;
  /// All get the next version. Whether a service must be started again to know.
  enum class known_by { objects, settings };
  virtual known_by roll_out() = 0;

  virtual void saw(std::size_t cluster, const k8s::sim::written& w) = 0;
  /// Looks at what the service can reach; null: there is none now.
  virtual void look_at(service*) {}
  /// A service starts, or ended and was let to: nothing of it may be left half done.
  virtual void saw_start() {}
  virtual void saw_stop() {}

  /// A trouble that it alone knows happens, to that cluster where it happens to one.
  virtual reactor::awaitable<void> cause(simulation::trouble t, std::size_t cluster) = 0;
  /// Nothing goes wrong from now on.
  virtual void calm() {}
  /// How what the service knows of a cluster differs from what is there, one sentence each.
  virtual reactor::awaitable<k8s::result<std::vector<std::string>>> differences(
      k8s::cluster& seen) = 0;

  struct count {
    std::size_t all = 0, arrived = 0;
  };
  virtual count counted() const = 0;
  /// Who has not arrived, and why; empty: all have.
  virtual std::string unfinished() const = 0;
  virtual void check_at_rest() = 0;
  virtual const std::vector<std::string>& violations() const = 0;
};

}  // namespace cli::simulate
