#pragma once

#include "bootc/daemon/node_daemon.hpp"
#include "bootc/daemon/simulated_host.hpp"
#include "k8s/client/client.hpp"
#include "simulation/fleet_file.hpp"
#include "simulation/pool_cluster.hpp"
#include "simulation/world.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

struct node_world_options : world_options {
  node_world_options(world_options o = {}) : world_options(std::move(o)) {}
  reactor::nanoseconds stage_time = std::chrono::seconds(3), reboot_time = std::chrono::seconds(3);
  /// Instead of `clusters` equal ones.
  std::vector<fleet_cluster> fleet = {};
  bool managed_fields = true;
};

/// A fleet of image-based nodes: each cluster has one pool, each node a simulated host with its
/// daemon.
class node_world final : public world {
public:
  node_world(reactor::loop& l, node_world_options o, reactor::logger log = {});
  ~node_world() override;

  const std::vector<pool_cluster*>& pools() const noexcept { return pools_; }
  /// Hosts get images with this `.dockerconfigjson` alone from now on; pools learn of it by
  /// pool_cluster::set_login.
  void require_login(const std::string& docker_config);
  std::size_t node_count() const noexcept {
    return machines_.empty() ? planned_ : machines_.size();
  }
  /// The kubelet of who boots the image from now on says this version; without a word of it as
  /// before.
  void carry(std::string_view image, std::string kubernetes);
  /// Hosts that run what has the digest of `image`, whatever the API says.
  std::size_t hosts_on(std::string_view image) const;
  std::size_t reboots() const;

  // What goes wrong with machines, by cluster and number of the node in it.
  /// Everything takes `factor` times as long.
  void slow_down(std::size_t cluster, std::size_t node, double factor);
  /// As slow_down, of fetching an image alone.
  void stage_slowly(std::size_t cluster, std::size_t node, double factor);
  /// The image does not boot there: it comes back with the one before.
  void refuse(std::size_t cluster, std::size_t node, std::string_view image);
  /// Booting the image, it stays away for an hour and comes back with the one before.
  void die_of(std::size_t cluster, std::size_t node, std::string_view image);
  /// Not from now on. False when it would not have.
  bool survive(std::size_t cluster, std::size_t node, std::string_view image);
  /// After the next boot it is not Ready for that long.
  void fall_ill(std::size_t cluster, std::size_t node, reactor::nanoseconds time);
  /// Power is off for that long. Nothing when it goes down already, or has said that it will: one
  /// that comes back otherwise than it said counts as fallen.
  void lose(std::size_t cluster, std::size_t node, reactor::nanoseconds time);

  const story& tells() const noexcept override;
  void roll_out() override { roll_out(new_image); }
  void roll_out(std::string_view image) override;
  progress progress_of(std::size_t cluster) const override;
  std::size_t unit_count() const noexcept override { return node_count(); }
  std::size_t expected_held() const noexcept override;
  std::vector<std::pair<std::string, std::size_t>> tallies() const override;
  std::vector<std::string> violations() const override;
  std::size_t violation_count() const override;
  std::size_t max_disrupted() const override;
  void check_at_rest() override;

private:
  struct machine {
    std::string node;
    std::size_t cluster = 0;
    reactor::nanoseconds ill_for{0}, away{0};  // away: it lost power
    std::unique_ptr<bootc::simulated_host> host;
    std::unique_ptr<bootc::node_daemon> daemon;
  };
  void inhabit(std::size_t cluster, k8s::connection to) override;
  reactor::awaitable<void> leave() override;
  reactor::awaitable<void> live(machine& m);
  reactor::awaitable<void> get_well(machine& m, reactor::nanoseconds after);
  machine& at(std::size_t cluster, std::size_t node);
  std::string kubernetes_of(const machine& m) const;

  std::size_t planned_ = 0;
  reactor::nanoseconds stage_time_, reboot_time_;
  std::vector<pool_cluster*> pools_;
  std::map<std::string, std::string> carried_;  // version by digest
  std::vector<std::unique_ptr<k8s::client>> daemon_clients_;
  std::vector<std::unique_ptr<machine>> machines_;
};

}  // namespace simulation
