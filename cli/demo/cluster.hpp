#pragma once

#include "cli/demo/invariants.hpp"
#include "k8s/sim/api_server.hpp"
#include "reactor/time.hpp"
#include "reactor/timer_queue.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace cli::demo {

/// The images of the demo: where every node starts and where the pool wants them.
inline constexpr std::string_view old_image =
    "registry.demo.local/os/"
    "node@sha256:1111111111111111111111111111111111111111111111111111111111111111";
inline constexpr std::string_view new_image =
    "registry.demo.local/os/"
    "node@sha256:2222222222222222222222222222222222222222222222222222222222222222";

struct cluster_options {
  std::string name;
  std::size_t nodes = 12;
  double speed = 1;
  bool blocked_budget = false;  // one app whose budget forbids every eviction
  std::string max_unavailable = "25%";
  /// Where CRD manifests come from, one YAML document each.
  std::vector<std::string> crds;
};

/// One embedded cluster: its API server with nodes in three zones, workloads and budgets, and what the rest of a
/// cluster does around them (schedule replacements, run and end pods, report nodes). Hosts are somebody else's.
class cluster {
public:
  cluster(reactor::loop& l, cluster_options options);
  ~cluster();

  k8s::sim::api_server& api() noexcept { return *api_; }
  const std::string& name() const noexcept { return options_.name; }
  demo::invariants& checks() noexcept { return checks_; }
  const demo::invariants& checks() const noexcept { return checks_; }
  std::vector<std::string> node_names() const;

  /// Asks for an image, as a person would who edits the pool.
  void set_image(std::string_view ref);
  /// The kubelet of `node` went silent, or reports again after a boot.
  void node_down(const std::string& node);
  void node_up(const std::string& node, const std::string& boot_id);

  struct progress {
    std::size_t nodes = 0, updated = 0;
    std::string up_to_date, degraded;  // the pool's conditions' reasons
    std::string message;
    friend bool operator==(const progress&, const progress&) = default;
  };
  /// What the pool's status says.
  progress pool_progress() const;
  /// Called for every write after the checks, for the trace and the live view.
  std::function<void(const k8s::sim::written&)> on_write;

private:
  void seed_nodes();
  void seed_workloads();
  void seed_pool();
  void add_pod(const std::string& app, const std::string& owner_kind, const std::string& owner_uid,
               const std::string& node);
  void saw(const k8s::sim::written& w);
  void replace_pod(const std::string& app);
  void set_ready(const std::string& node, bool ready, const std::string& boot_id);
  void after(reactor::nanoseconds d, std::function<void()> f);
  reactor::nanoseconds paced(reactor::nanoseconds d) const;

  reactor::loop& loop_;
  cluster_options options_;
  std::unique_ptr<k8s::sim::api_server> api_;
  demo::invariants checks_;
  std::map<std::string, std::string> owners_;  // app → uid of its ReplicaSet
  std::set<reactor::timer_id> timers_;
  reactor::timer_id due_ = 0;
  std::size_t pods_made_ = 0;
};

}  // namespace cli::demo
