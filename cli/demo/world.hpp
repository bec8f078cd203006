#pragma once

#include "bootc/node_daemon.hpp"
#include "bootc/simulated_host.hpp"
#include "cli/demo/cluster.hpp"
#include "k8s/client.hpp"
#include "k8s/kubeconfig.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cli::demo {

struct world_options {
  std::size_t clusters = 20, nodes = 12;
  double speed = 1;
  /// One cluster is unreachable for a while, one node's image does not boot, one budget forbids every eviction.
  bool mishaps = true;
  reactor::nanoseconds stage_time = std::chrono::seconds(3), reboot_time = std::chrono::seconds(3);
};

/// An embedded fleet without Windlass: a home API server with a kubeconfig Secret for each cluster, the clusters, and a
/// simulated host with its daemon for each node. Over TCP on loopback, or over pipes when the loop is simulated (then each
/// cluster is a host of its own name, whose link can be broken).
/// Lifetime: the loop outlives it; co_await stop() before destruction.
class world {
public:
  world(reactor::loop& l, world_options options, reactor::logger log = {});
  ~world();

  /// Binds and starts the nodes. Errors: the system's, with the address named.
  reactor::result<void> start();
  reactor::awaitable<void> stop();

  /// How to reach home as an administrator.
  k8s::connection home() const;
  k8s::sim::api_server& home_api() noexcept { return *home_; }
  /// Contexts "home" and one for each cluster; the first cluster's is current.
  std::string kubeconfig() const;
  const std::vector<std::unique_ptr<cluster>>& clusters() const noexcept { return clusters_; }
  /// Asks every pool for the image.
  void roll_out(std::string_view image);

  std::size_t node_count() const noexcept { return options_.clusters * options_.nodes; }
  /// Hosts that run `image`, whatever the API says.
  std::size_t hosts_on(std::string_view image) const;
  /// Nodes that cannot get there by what the mishaps do to them.
  std::size_t expected_held() const noexcept;
  std::size_t violation_count() const;
  std::vector<std::string> violations() const;
  std::size_t max_disrupted() const;
  std::size_t reboots() const;
  /// A digest of every write of every cluster with its virtual time: equal for equal runs.
  std::uint64_t trace_hash() const noexcept { return trace_; }
  std::uint64_t writes() const noexcept { return writes_; }
  /// Called after each write, with the index of its cluster.
  std::function<void(std::size_t cluster, const k8s::sim::written& w)> on_write;

  static std::string cluster_name(std::size_t i);

private:
  struct machine {
    std::string node;
    std::size_t cluster = 0;
    std::unique_ptr<bootc::simulated_host> host;
    std::unique_ptr<bootc::node_daemon> daemon;
  };
  reactor::awaitable<void> live(machine& m);
  reactor::awaitable<void> be_unreachable(std::size_t cluster);
  void note(std::size_t cluster, const k8s::sim::written& w);
  std::string kubeconfig_of(const std::string& name, const std::string& url) const;
  std::string url_of(std::size_t cluster) const;
  reactor::nanoseconds paced(reactor::nanoseconds d) const;
  /// Those that leave a node behind need room beside it.
  bool holding_mishaps() const noexcept { return options_.mishaps && options_.nodes >= 4; }
  std::size_t mishap_cluster(std::size_t wanted) const {
    return std::min(wanted, options_.clusters - 1);
  }

  reactor::loop& loop_;
  world_options options_;
  reactor::logger log_;
  std::unique_ptr<k8s::sim::api_server> home_;
  std::vector<std::unique_ptr<cluster>> clusters_;
  std::vector<std::unique_ptr<k8s::sim::server>>
      servers_;  // real: one for all; simulated: home's, then one each
  std::vector<std::unique_ptr<k8s::client>> daemon_clients_;
  std::vector<std::unique_ptr<machine>> machines_;
  std::uint64_t trace_ = 0xcbf29ce484222325, writes_ = 0;
  reactor::task_group tasks_;
};

}  // namespace cli::demo
