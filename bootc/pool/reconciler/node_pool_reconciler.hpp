#pragma once

#include "bootc/pool/events/image_history.hpp"
#include "bootc/pool/reconciler/pass_steps.hpp"
#include "bootc/pool/reconciler/pool_reader.hpp"
#include "bootc/pool/reconciler/pool_teller.hpp"
#include "bootc/pool/reconciler/pool_writer.hpp"
#include "k8s/informer/controller.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace bootc {

/// Brings one pool closer to its image: read and plan (pool_reader), make the steps in idempotent
/// writes (pass_steps decides which, pool_writer writes), and at most one status write at the end.
/// Own writes  a pass does not act on a view older than what this process wrote; the event of that
///             write brings it back.
/// Failures    a failed write stops further steps of its node, never those of others; the pass is
///             then repeated.
/// Pace        a pass costs as much as its pool has nodes, and a large pool always has news: the
///             next one begins a while after the last, longer for more nodes, and takes all of it
///             in. A pool that was changed waits for nothing.
/// Concurrency passes of one cluster run one after the other: quorum rules span its pools.
class node_pool_reconciler final : public k8s::reconciler<std::string> {
public:
  node_pool_reconciler(reactor::loop& l, k8s::client& api, cluster_views views, drains& running,
                       reconciler_settings settings);

  awaitable<k8s::result<k8s::next>> reconcile(std::string pool) override;
  /// What the next pass would do, without doing it; nothing when there is no such pool.
  awaitable<std::optional<rollout_plan>> preview(std::string pool, plan_view of);
  /// Has the registry asked about the pool's tag, or the one that is assumed. Passes do so
  /// themselves.
  void follow_tag(const std::string& pool) { reader_.follow_tag(pool); }
  std::optional<tag_resolution> tag_of(const std::string& pool) const {
    return reader_.tag_of(pool);
  }
  /// The view saw it disappear.
  void gone(const bootc_node& b) {
    writer_.gone(b);
    teller_.gone(b);
  }
  void gone(const k8s::node& n) { writer_.gone(n); }
  /// False for events that no pass need look at (pool/event_filter.hpp): of its own status, of its
  /// notes. A pass that waits to see what was written looks at all of them.
  bool is_news(const node_pool& before, const node_pool& now);
  bool is_news(const bootc_node& before, const bootc_node& now) const;
  /// Objects that readings have taken copies of so far.
  std::size_t copied() const noexcept { return reader_.copied(); }

private:
  awaitable<void> let_go(std::string pool);
  reactor::nanoseconds rest_before(const node_pool& pool);
  void stop_orphaned_drains();
  /// What a pass leaves for a later one.
  struct left_over {
    bool any = false;
    std::optional<reactor::wall_time> look_again;  // when a note may be written again
  };
  awaitable<k8s::result<left_over>> act(node_pool pool, rollout_plan plan);
  awaitable<void> keep_to_seen_slots(pass_steps& steps);  // borrowed
  std::set<std::string> gives_back(const rollout_plan& plan) const;
  std::optional<reactor::wall_time> told_to_boot_at(const std::string& node) const;
  void count(const action& made, std::optional<reactor::wall_time> told_to_boot);
  bool set_freshness(const std::string& pool, k8s::freshness how);
  bool is_current() const { return !settings_.is_current || settings_.is_current(); }

  reactor::loop& loop_;
  cluster_views views_;
  drains& drains_;
  reconciler_settings settings_;
  pool_reader reader_;
  pool_writer writer_;
  pool_teller teller_;
  image_histories histories_;
  std::set<std::string> waits_to_see_;  // pools whose pass waits for their own writes
  struct last_pass {
    reactor::steady_time began;
    std::int64_t generation = 0;
    k8s::string_map annotations;
    bool deleting = false;
  };
  std::map<std::string, last_pass> last_passes_;  // that did not fail, by pool
  std::set<std::string> attending_;               // pools with something under way
};

}  // namespace bootc
