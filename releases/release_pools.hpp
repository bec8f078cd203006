#pragma once

#include "app/api/api.hpp"
#include "app/api/row_figures.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/controller.hpp"
#include "k8s/informer/informer.hpp"
#include "policies/host/host.hpp"
#include "reactor/gate.hpp"
#include "releases/library.hpp"
#include "releases/pool_decision.hpp"
#include "releases/requested_release.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace releases {

using reactor::awaitable;

/// Where the Releases are; null while home has none for us. `live`: what it says may be acted upon.
struct releases_at_home {
  std::shared_ptr<library> index;
  bool live = false;
};

/// Its image follows from the Release of its cluster.
bool follows(const bootc::node_pool& p) noexcept;

/// The pools of one cluster whose image follows from the cluster's Release: what the cluster is to
/// have is asked of `versions.resolve`, the image's reference is written to spec.image.ref as a
/// person would, and the rollout is another API's.
/// Lifetime: engagement, packs and figures' budget outlive it; co_await stop() before destruction.
class release_pools final : public units::cluster_controller, private k8s::reconciler<std::string> {
public:
  struct options {
    units::mode does = units::mode::act;
    cluster_labels labels;
    std::function<releases_at_home()> home;
    units::brake_question brake;  // asked before a pool is written
    k8s::watch_limits limits;
    reactor::metrics* metrics = nullptr;
    units::row_budget* rows = nullptr;
    /// What the pools of all clusters have of this reference; empty where none has it.
    std::function<std::string(const std::string& ref)> digest_of;
    std::function<void()> on_request;  // the cluster's labels ask for another Release
    std::function<void(release_pools*)> on_stop;
  };
  release_pools(k8s::engagement& on, policies::host& packs, options o);
  ~release_pools() override;

  awaitable<void> stop() override;
  awaitable<bool> synced(reactor::steady_time deadline) override;
  std::string sync_problem() const override { return pools_.sync_problem(); }
  void reconsider() override;
  awaitable<std::vector<units::plan_row>> overview() override;
  std::optional<std::uint64_t> revision() const override;
  /// What becomes of a pool; none when it follows no Release.
  awaitable<std::optional<pool_decision>> look(std::string pool);
  /// Counts the digests that pools here were given for this reference.
  void count_digests(const std::string& ref, std::map<std::string, std::size_t>& into) const;
  bool idle() const noexcept { return controller_.idle(); }

private:
  struct seen {
    pool_decision last;
    reactor::nanoseconds look_again{0};  // 0: when something changes
  };
  awaitable<k8s::result<k8s::next>> reconcile(std::string pool) override;
  /// One look at one pool: what was gathered, step by step.
  struct looking;
  awaitable<void> find_current(looking& at);  // borrowed
  awaitable<void> find_release(looking& at);  // borrowed
  awaitable<void> ask_about(looking& at);     // borrowed
  awaitable<k8s::result<void>> write(bootc::node_pool pool, pool_decision o);
  awaitable<std::optional<seen>> look_closely(std::string pool);
  void count();

  k8s::engagement& on_;
  policies::host& packs_;
  options options_;
  k8s::informer<bootc::node_pool> pools_;
  std::unique_ptr<units::row_figures> figures_;
  std::map<std::string, seen> known_;
  std::set<std::string> shown_rows_;  // with series of their own
  requested_release requested_release_;
  std::uint64_t revision_ = 0;
  k8s::controller<std::string> controller_;
  bool stopping_ = false;
  reactor::steady_time patient_until_;  // an overview waits for home
  reactor::gate overviews_;             // those under way
  reactor::task_group tasks_;
};

}  // namespace releases
