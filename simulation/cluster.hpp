#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/plain/time.hpp"
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

namespace simulation {

struct cluster_options {
  std::string name;
  std::size_t nodes = 12;
  bool managed_fields = true;  // who owns which field; only apply and people need it
  bool keep_parsed = true;     // half the time and four times the memory
  double speed = 1;
  std::map<std::string, std::string> labels = {};  // of its kubeconfig Secret at home
  bool blocked_budget = false;                     // one app whose budget forbids every eviction
  /// So many nodes have a set of apps with budgets of their own, in a namespace of their own, as
  /// larger clusters have more of them; 0 = there is one set.
  std::size_t nodes_of_apps = 0;
  /// Where CRD manifests come from, one YAML document each.
  std::vector<std::string> crds;
};

/// One embedded cluster: its API server with nodes in three zones, workloads and budgets, and what
/// the rest of a cluster does around them (schedule replacements, run and end pods, report nodes).
/// What is moved on it, and who moves it, is not decided here.
class cluster {
public:
  cluster(reactor::loop& l, cluster_options options);
  virtual ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  k8s::sim::api_server& api() noexcept { return *api_; }
  const k8s::sim::api_server& api() const noexcept { return *api_; }
  const std::string& name() const noexcept { return options_.name; }
  const cluster_options& options() const noexcept { return options_; }
  std::vector<std::string> node_names() const;
  /// Pods that had to go and were made again elsewhere.
  std::size_t moved_pods() const noexcept { return moved_pods_; }

  /// The kubelet of `node` went silent, or reports again after a boot.
  void node_down(const std::string& node);
  /// `kubelet`: its version by now; empty: as before.
  void node_up(const std::string& node, const std::string& boot_id,
               const std::string& kubelet = {});
  /// Nothing is scheduled any more: pods that no node takes would wait for one forever.
  void rest();

  /// Called for every write after the checks, for the trace and the live view.
  std::function<void(const k8s::sim::written&)> on_write;

protected:
  /// Nodes and workloads; their judge sees them come.
  void seed();
  virtual void check(const k8s::sim::written&) {}
  /// Later, unless the cluster is gone by then.
  void after(reactor::nanoseconds d, std::function<void()> f);
  /// How many pods each app has when nothing is wrong.
  const std::map<std::string, std::size_t>& replicas() const noexcept { return replicas_; }

private:
  struct owner {
    std::string ns, uid;  // of an app's ReplicaSet
  };
  void seed_nodes();
  void seed_workloads();
  void seed_workloads(std::size_t set, std::size_t first, std::size_t n);
  void add_pod(const std::string& app, const std::string& owner_kind, const owner& its,
               const std::string& node);
  void saw(const k8s::sim::written& w);
  void keep_count(const k8s::sim::written& w);
  void replace_pod(const std::string& app);
  void set_ready(const std::string& node, bool ready, const std::string& boot_id,
                 const std::string& kubelet = {});
  reactor::nanoseconds paced(reactor::nanoseconds d) const;

  reactor::loop& loop_;
  cluster_options options_;
  std::unique_ptr<k8s::sim::api_server> api_;
  std::map<std::string, owner> owners_;  // by app
  std::map<std::string, std::size_t> replicas_;
  /// What the scheduler knows.
  struct place {
    bool open = false;
    std::size_t pods = 0;
  };
  std::map<std::string, place> places_;
  std::map<std::string, std::string> node_of_pod_;  // by "ns/name"
  std::set<reactor::timer_id> timers_;
  reactor::timer_id due_ = 0;
  bool resting_ = false;
  std::size_t pods_made_ = 0, moved_pods_ = 0;
};

}  // namespace simulation
