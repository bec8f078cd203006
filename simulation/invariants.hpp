#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/judge.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

/// What must never happen while a cluster is moved, checked at every write of its API server by
/// looking at the objects alone: this shares no code with the planner that it judges.
///   slots    never more nodes in reboot slots than maxUnavailable allows when one is taken
///   disrupted  never more nodes cordoned or not Ready because of us than that
///   budgets  no eviction of a healthy pod that leaves its budget short
///   reboots  only in a slot, cordoned, and with no evictable pod left on the node
///   cordons  after its slot is freed a node is as schedulable as before it was taken
///   skew     no kubelet changes to a version that is newer than any API server of its cluster, or
///            more than three minors older (two below 1.25); no control-plane node to one that is
///            more than a minor away from another, from what it ran, or above a worker by that
///   halt     no node takes a slot for an image with which two in slots have been unhealthy for two
///            minutes: they run it and are not Ready, were told to boot it and are Degraded, or
///            were told to and are not back after the time that the pool allows
class invariants : public judge {
public:
  /// Of the process that is judged; its wall clock may jump.
  struct clocks {
    std::function<reactor::steady_time()> now;
    std::function<reactor::wall_time()> wall;
  };
  /// Without clocks nothing is said about what must have been noticed by then.
  explicit invariants(std::string cluster, clocks time = {})
      : cluster_(std::move(cluster)), time_(std::move(time)) {}

  /// How many pods an app has when nothing is wrong; budgets are judged by it.
  void expect(const std::string& app, std::size_t replicas) { replicas_[app] = replicas; }
  /// What its API server says of its version now; without it only nodes count.
  void ask_server(std::function<std::string()> version) { server_ = std::move(version); }
  /// The server's on_write.
  void saw(const k8s::sim::written& w);
  /// Just before the host of `node` goes down for an update.
  void saw_reboot(std::string_view node);
  /// When nothing moves any more: cordons left behind.
  void check_at_rest();

  /// The most nodes of this cluster that were disturbed at one moment.
  std::size_t max_disrupted() const noexcept { return max_disrupted_; }
  /// Nodes in slots that a watcher of the cluster must know to be unhealthy with `image`; of all
  /// images when it is empty. Shape: "node-01 failed its reboot".
  std::vector<std::string> known_unhealthy(std::string_view image = {}) const;

private:
  static constexpr reactor::nanoseconds noticed_within = std::chrono::minutes(2);
  struct node_facts {
    bool schedulable_before = true;  // when no slot was held on it
    bool unschedulable = false, ready = true, slotted = false, arrived = false;
    bool degraded = false;
    int minor = -1;  // of its kubelet; -1: unknown
    bool plane = false;
    std::string desired;  // image
    std::optional<reactor::steady_time> unhealthy_since, approved_since;
    std::optional<reactor::wall_time> approved_at;  // as its annotation says
    bool failed_its_reboot() const { return approved_since && degraded; }
    bool disturbed() const { return slotted && (unschedulable || !ready); }
  };
  struct pod_facts {
    std::string app, node;
    bool healthy = false, daemon = false, mirror = false;
  };

  void saw_node(const k8s::sim::written& w);
  void saw_bootc_node(const k8s::sim::written& w);
  void saw_pod(const k8s::sim::written& w);
  void saw_pool(const k8s::sim::written& w);
  void saw_budget(const k8s::sim::written& w);
  void check_skew(const std::string& name, int before);
  std::size_t allowed_unavailable() const;
  /// Healthy pods an app must keep; 0 = no budget.
  std::size_t required_healthy(const std::string& app) const;
  std::size_t healthy(const std::string& app) const;
  void judge_health(node_facts& facts);
  /// Why, or empty.
  std::string known_trouble(const node_facts& facts) const;
  void check_halt(const std::string& starter, std::string_view image);
  void count_disrupted();
  void violated(std::string sentence);

  struct budget {
    std::string min_available, max_unavailable, app;
  };
  std::string cluster_;
  clocks time_;
  std::function<std::string()> server_;
  std::map<std::string, node_facts, std::less<>> nodes_;
  std::map<std::string, pod_facts, std::less<>> pods_;  // "ns/name"
  std::map<std::string, budget, std::less<>> budgets_;
  std::map<std::string, std::size_t, std::less<>> replicas_;  // app → expected pods
  std::string max_unavailable_ = "1";
  reactor::nanoseconds reboot_limit_ = std::chrono::minutes(30);  // 0: none
  std::size_t member_count_ = 0, max_disrupted_ = 0;
};

}  // namespace simulation
