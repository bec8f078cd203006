#pragma once

#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/drains.hpp"
#include "bootc/pool/notes/event_notes.hpp"
#include "bootc/pool/others/other_operator.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "bootc/pool/rollout_policy.hpp"
#include "bootc/pool/secrets/pull_secrets.hpp"
#include "bootc/tags/tag_watcher.hpp"
#include "k8s/informer/controller.hpp"
#include "k8s/informer/currency.hpp"
#include "k8s/informer/own_writes.hpp"
#include "k8s/informer/store.hpp"
#include "k8s/views/node.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace k8s {
class client;
class event_recorder;
}  // namespace k8s
namespace units {
class row_figures;
}

namespace bootc {

/// What a store has, by name, each with the copy that the last reading took of it: none once it has
/// changed since, or nobody took one.
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
  std::function<void(k8s::attention how)> attend;
  /// The views were proved current since then; empty = always true.
  std::function<bool()> may_act;
  std::function<void(const std::string& pool, const rollout_plan& plan)>
      on_plan;                            // sees each plan before it is carried out
  k8s::event_recorder* events = nullptr;  // of the cluster; none: nothing is told
  tag_watcher* tags = nullptr;      // of the process; none: tags stay what they are known to be
  pull_secrets* secrets = nullptr;  // of the cluster; none: nothing is known of them
  other_operator* other = nullptr;  // of the cluster; none: nobody else works there
  std::function<void(const std::string& pool)> wake;  // a question about its tag was answered
  units::row_figures* rows = nullptr;                 // outlives it; none: nothing is counted
  node_figures figures = {};
  reactor::logger log;
};

/// Brings one pool closer to its image: gather a reading by value, plan (pure), act in idempotent
/// writes, and at most one status write at the end. Reading and planning thousands of nodes takes
/// many turns of the loop: each object is as it was at some moment of the reading, as those of
/// several watch streams are anyway.
/// Copies      of what has not changed are kept from one pass to the next while a rollout is under
///             way.
/// Own writes  a pass does not act on a view older than what this process wrote; the event of that
///             write brings it back.
/// Slots       while a write may be on its way that this process does not know of (its
///             predecessor's, or an own one that was never answered) a slot is taken only when the
///             server itself shows the slots that the view shows.
/// Failures    a failed write stops further steps of its node, never those of others; the pass is
///             then repeated.
/// Pace        a pass costs as much as its pool has nodes, and a large pool always has news: the
///             next one begins a while after the last, longer for more nodes, and takes all of it
///             in. Nobody waits whose pool was changed.
/// Concurrency passes of one cluster run one after the other: quorum rules span its pools.
class node_pool_reconciler final : public k8s::reconciler<std::string> {
public:
  node_pool_reconciler(reactor::loop& l, k8s::client& api, cluster_views views, drains& running,
                       reconciler_settings settings);

  awaitable<k8s::result<k8s::next>> reconcile(std::string pool) override;
  enum class view { as_it_is, everybody_staged };
  /// What the next pass would do, without doing it; nothing when there is no such pool.
  awaitable<std::optional<rollout_plan>> preview(std::string pool, view of);
  /// The view saw it disappear: of what was written to it nothing is awaited any more.
  void gone(const bootc_node& b) {
    bootc_node_writes_.gone(b.meta.key(), b.meta.uid);
    noted_at_.erase(b.meta.name.str());
  }
  void gone(const k8s::node& n) { node_writes_.gone(n.meta.key(), n.meta.uid); }
  /// False for events that no pass need look at (pool/news.hpp): of its own status, of its notes. A
  /// pass that waits to see what was written looks at all of them.
  bool is_news(const node_pool& before, const node_pool& now);
  bool is_news(const bootc_node& before, const bootc_node& now) const;
  /// Objects that readings have taken copies of so far.
  std::size_t copied() const noexcept { return copied_; }

private:
  struct reading;
  awaitable<bool> gather(std::string pool, reading& into);  // borrowed
  template <class View>
  awaitable<void> copy_all(const k8s::store<View>& from, copies<View>& known,
                           std::vector<std::shared_ptr<const View>>& into);  // borrowed
  awaitable<void> drop_unused_copies();
  awaitable<drains_by_node> drains_of(std::string pool);
  awaitable<rollout_plan> decide(reading& world);  // borrowed; uses it up
  void follow_tag(const std::string& pool);
  std::string follower(const std::string& pool) const { return settings_.cluster + "/" + pool; }
  awaitable<bool> sees_own_writes(std::string pool);
  reactor::nanoseconds rest_before(const node_pool& pool);
  void stop_drains_of_nobody();
  awaitable<rollout_plan> plan(std::string pool, view of);
  awaitable<rollout_plan> plan_alone(std::string pool, view of);
  /// What a pass leaves for a later one.
  struct left_over {
    bool any = false;
    std::optional<reactor::wall_time> look_again;  // when a note may be written again
  };
  awaitable<k8s::result<left_over>> act(node_pool pool, rollout_plan plan);
  std::set<std::string> gives_back(const rollout_plan& plan) const;
  std::optional<reactor::wall_time> told_to_boot_at(const std::string& node) const;
  awaitable<k8s::result<bool>> slots_are_as_seen();
  using notes = std::map<std::string, boost::json::object>;  // annotations, by node
  struct noted {
    notes all;
    bool are_left = false;                         // these are enough for one pass
    std::optional<reactor::wall_time> look_again;  // when those that are too young may be written
  };
  awaitable<k8s::result<std::string>> carry_out(const node_pool& pool, const action& a,
                                                boost::json::object annotations);  // borrowed
  awaitable<k8s::result<void>> write_status(node_pool pool, node_pool_status status);
  static bool takes_notes(action_kind k) noexcept;
  awaitable<noted> notes_of(const node_pool& pool, rollout_plan& plan);  // borrowed
  reactor::steady_time may_note_at(const bootc_node& b, const hold* now) const;
  void note_step(const bootc_node& b, const node_pool& pool, boost::json::object& annotations);
  awaitable<bool> write_notes(notes all);  // false: the cluster went stale, the rest waits
  void say_new(const node_pool& pool, const std::vector<warning>& warnings);
  awaitable<std::optional<reactor::wall_time>> tell_of_drains(node_pool pool);
  void tell(k8s::event_note note);
  void note_unanswered();
  bool attend(const std::string& pool, k8s::attention how);
  bool is_current() const { return !settings_.is_current || settings_.is_current(); }

  reactor::loop& loop_;
  k8s::client& api_;
  cluster_views views_;
  drains& drains_;
  reconciler_settings settings_;
  std::map<std::string, std::set<std::string>> said_;  // warnings that still hold, by pool
  drain_teller drain_teller_;
  std::map<std::string, reactor::steady_time> noted_at_;  // the holds on BootcNodes, by node
  std::map<std::string, std::string> told_steps_;  // by node, until its object remembers them
  k8s::own_writes pool_writes_, bootc_node_writes_, node_writes_;
  std::map<std::string, node_pool_status> written_;  // by pool, until it is seen
  std::set<std::string> waits_to_see_;               // pools whose pass waits for their own writes
  struct last_pass {
    reactor::steady_time began;
    std::int64_t generation = 0;
    k8s::string_map annotations;
    bool deleting = false;
  };
  std::map<std::string, last_pass> last_passes_;  // that did not fail, by pool
  std::set<std::string> attending_;               // pools with something under way
  std::size_t copied_ = 0;
  bool keeps_copies_ = false;                  // there may be some
  reactor::steady_time waits_pruned_until_{};  // the server keeps nothing of who waits for policies
  std::string other_said_;                     // of whom the log has told
  bool knows_every_slot_ = false;
  reactor::steady_time unknown_writes_land_by_;
};

}  // namespace bootc
