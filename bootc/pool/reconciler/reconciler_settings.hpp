#pragma once

#include "app/api/brake.hpp"
#include "app/api/upgrade_gate.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/node_figures.hpp"
#include "bootc/pool/rollout_plan.hpp"
#include "k8s/informer/currency.hpp"
#include "k8s/informer/store.hpp"
#include "k8s/views/node.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace k8s {
class event_recorder;
}
namespace k8s::skew {
class server_versions;
}
namespace units {
class row_figures;
struct assumed_targets;
}  // namespace units

namespace bootc {

using reactor::awaitable;

class image_versions;
class other_operator;
class pull_secrets;
class rollout_policy;
class tag_watcher;

/// What a store has, by name, each with the copy that the last reading took of it: none once it has
/// changed since, or none was taken.
template <class View>
using copies = std::map<std::string, std::shared_ptr<const View>>;

/// What a reconciler reads: the stores of one cluster.
struct cluster_views {
  const k8s::store<node_pool>& pools;
  const k8s::store<bootc_node>& bootc_nodes;
  const k8s::store<k8s::node>& nodes;
  copies<bootc_node>& copied_bootc_nodes;
  copies<k8s::node>& copied_nodes;
};

struct reconciler_settings {
  std::string cluster;               // its name, for policies and logs
  rollout_policy* policy = nullptr;  // none: name order
  // false: the views are old and nothing is acted upon; empty = always true
  std::function<bool()> is_current;
  /// From then on the views are watched closely, or not. May be empty.
  std::function<void(k8s::freshness how)> set_freshness;
  /// The views were proved current since then; empty = always true.
  std::function<bool()> may_act;
  units::brake_question brake;  // asked before each write that begins something
  bool only_looks = false;      // the drains are another process's
  std::function<void(const std::string& pool, const rollout_plan& plan)>
      on_plan;                            // sees each plan before it is carried out
  k8s::event_recorder* events = nullptr;  // of the cluster; none: nothing is told
  /// Images that plans assume instead of those that pools ask for. Null: none.
  std::shared_ptr<const units::assumed_targets> assumed = {};
  /// Of the process; none: no registry is asked which Kubernetes an image carries.
  image_versions* images = nullptr;
  k8s::skew::server_versions* servers = nullptr;  // of the cluster; none: no server is asked
  units::upgrade_gate* gate = nullptr;  // the same; none: no upgrade is held for what it breaks
  /// Runs a question that outlasts the pass; empty: it is not asked.
  std::function<void(std::string name, awaitable<void> question)> start;
  tag_watcher* tags = nullptr;      // of the process; none: tags stay what they are known to be
  pull_secrets* secrets = nullptr;  // of the cluster; none: nothing is known of them
  other_operator* other = nullptr;  // of the cluster; none: no other works there
  std::function<void(const std::string& pool)> wake;  // a question about its tag was answered
  units::row_figures* rows = nullptr;                 // outlives it; none: nothing is counted
  node_figures figures = {};
  reactor::logger log;
};

}  // namespace bootc
