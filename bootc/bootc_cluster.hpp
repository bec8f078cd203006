#pragma once

#include "app/api/api.hpp"
#include "app/api/assumed_targets.hpp"
#include "app/api/row_figures.hpp"
#include "bootc/daemons/daemon_waves.hpp"
#include "bootc/pool/coexistence/other_operator.hpp"
#include "bootc/pool/drains.hpp"
#include "bootc/pool/reconciler/node_pool_reconciler.hpp"
#include "bootc/pool/secrets/pull_secrets.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/controller.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/skew/server_versions.hpp"
#include "reactor/gate.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bootc {

/// What the OS rollouts of one cluster need: three informers, the reconciler of its pools, the
/// drains, and the waves in which its daemons are upgraded.
/// Members  more than twenty: each is a part that stands by itself, and this is where they meet.
/// Lifetime: loop and client outlive it; co_await stop() before destruction.
class bootc_cluster final : public units::cluster_controller {
public:
  struct options {
    std::string name;                  // of the cluster
    rollout_policy* policy = nullptr;  // outlives it; none: name order
    // decisions may be acted upon; empty = once the informers are synced
    std::function<bool()> is_current;
    /// Told when a rollout begins or ends to need views that are proved current all the time.
    /// Empty: the informers are told by this itself.
    std::function<void(k8s::freshness how)> set_freshness;
    std::function<void(const std::string& pool, const rollout_plan& plan)> on_plan;
    k8s::event_recorder* events = nullptr;  // of the cluster, outlives it; none: nothing is told
    /// Where pull secrets are; empty: none is read.
    std::string operator_ns;
    /// Where the Lease of another operator would be, and under which name we hold ours; empty:
    /// no other is looked for.
    std::string lease_ns, identity;
    /// Of this process's pod, which no drain evicts; empty outside of a pod.
    std::string own_pod_uid;
    std::shared_ptr<const units::assumed_targets> assumed = {};  // images that plans assume
    tag_watcher* tags = nullptr;          // of the process, outlives it; none: no registry is asked
    image_versions* images = nullptr;     // the same, of what images carry
    k8s::discovery* discovery = nullptr;  // of the cluster, outlives it; none: no server is asked
    reactor::metrics* metrics = nullptr;
    units::row_budget* rows = nullptr;  // outlives it; with metrics: its pools are counted
    units::brake_question brake;        // empty: nothing stops it
    std::shared_ptr<units::upgrade_gate> gate = {};  // none: a newer minor is not asked about
    reactor::logger log;
    using mode = units::mode;
    mode does = mode::act;
    k8s::watch_limits limits;  // of the informers
  };
  bootc_cluster(reactor::loop& l, k8s::client& api, options o);
  ~bootc_cluster() override;

  void start();
  awaitable<void> stop() override;
  /// All views were complete once. False when the deadline came first.
  awaitable<bool> synced(reactor::steady_time deadline = reactor::never) override;

  /// Why a view is known not to be the truth (k8s::informer_base); empty when nothing is.
  std::string sync_problem() const override;
  /// Names, sorted.
  std::vector<std::string> pools() const;
  const node_pool* pool(const std::string& name) const { return pools_.find({"", name}); }
  /// How many of its nodes hold a reboot slot.
  std::size_t slotted(const std::string& pool) const;
  /// What the next pass of this pool would do and why each unit waits; with `all_staged` who
  /// would go first once all nodes have the image.
  awaitable<std::optional<rollout_plan>> preview(std::string pool,
                                                 plan_view of = plan_view::as_it_is);
  /// Lists afresh and names what differs from the views; for tests, at a moment when nothing
  /// changes.
  awaitable<k8s::result<std::vector<std::string>>> differences();
  /// Every pool soon: after a policy changed.
  void reconsider() override;
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override { return revision_; }

  k8s::informer_base& pool_informer() noexcept { return pools_; }
  k8s::informer_base& bootc_node_informer() noexcept { return bootc_nodes_; }
  k8s::informer_base& node_informer() noexcept { return nodes_; }
  /// Objects that passes have copied from the views so far; for tests.
  std::size_t copied() const noexcept { return reconciler_.copied(); }
  bool idle() const noexcept { return controller_.idle() && drains_.running() == 0; }

private:
  void pool_changed(const node_pool* before, const node_pool* now);
  void bootc_node_changed(const bootc_node* before, const bootc_node* now);
  void node_changed(const k8s::node* before, const k8s::node* now);
  void count_slot(const bootc_node* b, int by);
  void count_stage(const bootc_node* before, const bootc_node* now);
  void wake_matching(const k8s::string_map& labels);
  void wake_owner_of(const std::string& node);
  awaitable<void> resolve_assumed(std::string pool);
  bool is_current() const;
  void set_freshness(k8s::freshness how);
  void say_nodes(wave_facts& to) const;
  std::array<k8s::informer_base*, 3> informers() noexcept {
    return {&pools_, &bootc_nodes_, &nodes_};
  }

  reactor::loop& loop_;
  options options_;
  std::uint64_t revision_ = 0;  // counts what may change an overview: views, policies, passes
  k8s::informer<node_pool> pools_;
  k8s::informer<bootc_node> bootc_nodes_;
  k8s::informer<k8s::node> nodes_;
  std::unique_ptr<units::row_figures> figures_;
  node_figures node_figures_;
  drains drains_;
  std::optional<pull_secrets> secrets_;
  std::optional<other_operator> other_;
  std::optional<k8s::skew::server_versions> servers_;
  node_pool_reconciler reconciler_;
  k8s::controller<std::string> controller_;
  daemon_waves waves_;
  copies<bootc_node> copied_bootc_nodes_;
  copies<k8s::node> copied_nodes_;
  std::map<std::string, std::size_t> slotted_;  // by pool, kept with each change of a BootcNode
  bool stopping_ = false;
  reactor::gate overviews_;  // those under way
  reactor::task_group tasks_;
};

/// What its engagement knows goes into the options; its informers are followed, and it is started.
std::unique_ptr<bootc_cluster> start_on(k8s::engagement& on, bootc_cluster::options o);

}  // namespace bootc
