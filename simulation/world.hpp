#pragma once

#include "app/api/plan_row.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "simulation/cluster.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulation {

struct world_options {
  std::size_t clusters = 20, nodes = 12;
  double speed = 1;
  /// One cluster is unreachable for a while, one unit cannot get to its target, one budget forbids
  /// every eviction.
  bool mishaps = true;
};

/// How a world speaks of what it moves.
struct story {
  units::words says;
  std::string target;   // for "rolling out …"
  std::string arrived;  // "run the new image"
  std::string kinds;    // for `kubectl get`
};

/// An embedded fleet without Windlass: a home API server with a kubeconfig Secret for each cluster,
/// and the clusters. Over TCP on loopback, or over pipes when the loop is simulated (then each
/// cluster is a host of its own name, whose link can be broken). What is moved, who carries it out
/// and what must never happen is a subclass's.
/// Lifetime: the loop outlives it; co_await stop() before destruction.
class world {
public:
  virtual ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// Binds and starts the servers that live there. Errors: the system's, with the address named.
  reactor::result<void> start();
  reactor::awaitable<void> stop();

  /// How to reach home as an administrator.
  k8s::connection home() const;
  k8s::sim::api_server& home_api() const noexcept { return *home_; }
  /// Contexts "home" and one for each cluster. Home's is current, so that who asks Windlass sees
  /// all of them.
  std::string kubeconfig() const;
  const std::vector<std::unique_ptr<cluster>>& clusters() const noexcept { return clusters_; }
  static std::string cluster_name(std::size_t i);

  /// The Secret that names the cluster at home goes, comes again, or has another token in it; the
  /// cluster itself goes on.
  void take_away(std::size_t cluster);
  void bring(std::size_t cluster);
  void give_token(std::size_t cluster, std::string token);

  virtual const story& tells() const noexcept = 0;
  /// Asks for the new target everywhere, or for this one: a tag, for example.
  virtual void roll_out() = 0;
  virtual void roll_out(std::string_view target) = 0;
  /// How far a cluster is, as its own objects say.
  struct progress {
    std::size_t units = 0, updated = 0;
    bool settled = false;  // everything runs what was asked for when it all began
    std::string trouble, message;
  };
  virtual progress progress_of(std::size_t cluster) const = 0;
  virtual std::size_t unit_count() const noexcept = 0;
  /// Units that cannot get there by what the mishaps do to them.
  virtual std::size_t expected_held() const noexcept = 0;
  /// Other things that were counted: {"reboots", 12}.
  virtual std::vector<std::pair<std::string, std::size_t>> tallies() const = 0;

  /// What must never happen and did, one sentence each, and how often.
  virtual std::vector<std::string> violations() const = 0;
  virtual std::size_t violation_count() const = 0;
  /// The most units of one cluster that were disturbed at one moment.
  virtual std::size_t max_disrupted() const = 0;
  /// When nothing moves any more: what was left behind is a violation, too.
  virtual void check_at_rest() = 0;

  /// A digest of every write of every cluster with its virtual time: equal for equal runs.
  std::uint64_t trace_hash() const noexcept { return trace_; }
  std::uint64_t writes() const noexcept { return writes_; }
  /// Called after each write, with the index of its cluster.
  std::function<void(std::size_t cluster, const k8s::sim::written& w)> on_write;

protected:
  world(reactor::loop& l, world_options options, reactor::logger log);
  void add(std::unique_ptr<cluster> c);
  /// Starts who lives on a cluster, and ends them all.
  virtual void inhabit(std::size_t cluster, k8s::connection to) = 0;
  virtual reactor::awaitable<void> leave() = 0;

  reactor::loop& loop() noexcept { return loop_; }
  const world_options& options() const noexcept { return options_; }
  const reactor::logger& log() const noexcept { return log_; }
  reactor::task_group& tasks() noexcept { return tasks_; }
  reactor::nanoseconds paced(reactor::nanoseconds d) const;
  /// Those that leave a unit behind need room beside it.
  bool holding_mishaps() const noexcept { return options_.mishaps && options_.nodes >= 4; }
  std::size_t mishap_cluster(std::size_t wanted) const {
    return std::min(wanted, options_.clusters - 1);
  }

private:
  reactor::awaitable<void> be_unreachable(std::size_t cluster);
  void note(std::size_t cluster, const k8s::sim::written& w);
  std::string kubeconfig_of(std::size_t cluster) const;
  std::string url_of(std::size_t cluster) const;

  reactor::loop& loop_;
  world_options options_;
  reactor::logger log_;
  std::unique_ptr<k8s::sim::api_server> home_;
  std::vector<std::unique_ptr<cluster>> clusters_;
  std::vector<std::string> tokens_;  // of each, in its kubeconfig
  // Real: one for all; simulated: home's, then one each.
  std::vector<std::unique_ptr<k8s::sim::server>> servers_;
  std::uint64_t trace_ = 0xcbf29ce484222325, writes_ = 0;
  reactor::task_group tasks_;
};

}  // namespace simulation
