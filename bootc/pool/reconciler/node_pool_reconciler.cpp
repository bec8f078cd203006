#include "bootc/pool/reconciler/node_pool_reconciler.hpp"

#include "app/api/row_figures.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/coexistence/other_operator.hpp"
#include "bootc/pool/event_filter.hpp"
#include "bootc/pool/pool_status.hpp"
#include "k8s/client/race.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"

#include <algorithm>

namespace bootc {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

/// When a view lags behind our own writes; their event usually comes first.
constexpr reactor::nanoseconds wait_for_own_writes = 1s;
constexpr reactor::nanoseconds wait_for_proof = 500ms;  // of the views, once they are attended
/// After a write met a newer version: the view catches up within moments.
constexpr reactor::nanoseconds wait_after_conflict = 200ms;
/// From one pass to the next, so that a large pool takes a twentieth of a core at most; and the
/// longest that it waits.
constexpr reactor::nanoseconds pace_of_node = 20ms, longest_pace = 5s;

}  // namespace

node_pool_reconciler::node_pool_reconciler(reactor::loop& l, k8s::client& api, cluster_views views,
                                           drains& running, reconciler_settings settings)
    : loop_(l),
      views_(views),
      drains_(running),
      settings_(std::move(settings)),
      reader_(l, views, running, settings_),
      writer_(l, api, views, running, settings_.brake, settings_.log),
      teller_(l, views, settings_) {}

awaitable<std::optional<rollout_plan>> node_pool_reconciler::preview(std::string pool,
                                                                     plan_view of) {
  if (!views_.pools.find("", pool)) co_return std::nullopt;
  rollout_plan out = co_await reader_.plan(std::move(pool), of);
  co_return out;
}

/// How long the next pass waits for more news; notes that it begins when it need not.
reactor::nanoseconds node_pool_reconciler::rest_before(const node_pool& pool) {
  const auto nodes = static_cast<std::int64_t>(views_.copied_nodes.size());
  const reactor::nanoseconds pace = std::min(pace_of_node * nodes, longest_pace);
  const auto [at, is_first] = last_passes_.try_emplace(pool.meta.name.str());
  last_pass& last = at->second;
  const bool as_before = !is_first && last.generation == pool.meta.generation &&
                         same_but_notes(last.annotations, pool.meta.annotations) &&
                         last.deleting == pool.meta.deleting();
  const reactor::nanoseconds rest = as_before ? last.began + pace - loop_.now() : 0s;
  if (rest <= 0s)
    last = {loop_.now(), pool.meta.generation, pool.meta.annotations, pool.meta.deleting()};
  return rest;
}

/// Ends the drains of nodes whose object, or the pool that owns it, is gone: no plan speaks of them
/// any more.
void node_pool_reconciler::stop_orphaned_drains() {
  if (!is_current()) return;
  for (const std::string& node : drains_.nodes()) {
    const bootc_node* b = views_.bootc_nodes.find("", node);
    const node_pool* owner = b ? views_.pools.find("", b->meta.owner.name.str()) : nullptr;
    if (!owner || !(owner->meta.uid == b->meta.owner.uid)) drains_.cancel(node);
  }
}

awaitable<k8s::result<k8s::next>> node_pool_reconciler::reconcile(std::string pool) {
  const node_pool* found = views_.pools.find("", pool);
  if (!found) {
    reader_.follow_tag(pool);
    stop_orphaned_drains();
    last_passes_.erase(pool);
    waits_to_see_.erase(pool);
    writer_.saw_status(pool);
    histories_.forget(pool);
    co_await let_go(pool);
    co_return k8s::await_change();
  }
  if (!is_current()) co_return k8s::requeue_after(wait_for_own_writes);
  const bool is_seen = co_await writer_.sees_own_writes(pool);
  if (!is_seen) {
    waits_to_see_.insert(pool);
    co_return k8s::requeue_after(wait_for_own_writes);
  }
  waits_to_see_.erase(pool);
  writer_.saw_status(pool);
  found = views_.pools.find("", pool);
  if (!found) co_return k8s::await_change();
  if (const auto rest = rest_before(*found); rest > 0s) co_return k8s::requeue_after(rest);
  reader_.follow_tag(pool);
  // Once a pass and not at every piece of news: a large pool has thousands of drains.
  stop_orphaned_drains();
  rollout_plan next = co_await reader_.plan(pool, plan_view::as_it_is);
  const std::string other = settings_.other ? settings_.other->known() : std::string();
  teller_.tell_other_operator(other);
  found = views_.pools.find("", pool);
  if (!found) {
    co_await let_go(pool);
    co_return k8s::await_change();
  }
  const bool under_way = !next.actions.empty() || next.occupied > 0;
  if (!set_freshness(pool, under_way ? k8s::freshness::close : k8s::freshness::none)) {
    last_passes_.erase(pool);
    co_return k8s::requeue_after(wait_for_proof);
  }
  co_await reader_.drop_unused_copies();
  found = views_.pools.find("", pool);
  if (!found) co_return k8s::await_change();
  if (settings_.on_plan) settings_.on_plan(pool, next);
  if (settings_.rows) settings_.rows->show(pool, by_state(next.counts), next.held);
  if (!other.empty()) {
    for (const std::string& node : drains_.nodes()) drains_.cancel(node);
    co_return k8s::requeue_after(other_operator::asked_every);
  }
  const node_pool seen = *found;
  teller_.say_new(seen, next.warnings);
  if (writer_.drops_policy_holds()) {
    next.status.policy_waits = seen.status.policy_waits;
    next.status_changed = next.status_changed && next.status != seen.status;
  }
  drains_by_node ours = co_await reader_.drains_of(pool);
  const auto drains_look_again = co_await teller_.tell_of_drains(seen, std::move(ours));
  auto look_again = earlier(next.look_again, drains_look_again);
  const bool acted = !next.actions.empty();
  auto done = co_await act(seen, std::move(next));
  if (!done) {
    last_passes_.erase(pool);  // what failed has delays of its own
    if (k8s::is_a_race(done.error())) co_return k8s::requeue_after(wait_after_conflict);
    co_return done.error();
  }
  look_again = earlier(look_again, done->look_again);
  if (look_again)
    co_return k8s::requeue_after(std::max<reactor::nanoseconds>(*look_again - loop_.wall(), 100ms));
  // What was written comes back as an event. A lost one would leave the pool waiting, so look once
  // more.
  if (acted || done->any) co_return k8s::requeue_after(wait_for_own_writes);
  co_return k8s::await_change();
}

/// Nothing is under way there any more.
awaitable<void> node_pool_reconciler::let_go(std::string pool) {
  set_freshness(pool, k8s::freshness::none);
  co_await reader_.drop_unused_copies();
}

/// Says that the pool needs views that are current, or no longer does. False while what was needed
/// is not proved yet.
bool node_pool_reconciler::set_freshness(const std::string& pool, k8s::freshness how) {
  if (how == k8s::freshness::close) {
    attending_.insert(pool);
  } else {
    attending_.erase(pool);
  }
  reader_.keep_copies(!attending_.empty());
  if (settings_.set_freshness)
    settings_.set_freshness(attending_.empty() ? k8s::freshness::none : k8s::freshness::close);
  return how == k8s::freshness::none || !settings_.may_act || settings_.may_act();
}

/// The nodes that hold a slot now and not after `plan`.
std::set<std::string> node_pool_reconciler::gives_back(const rollout_plan& plan) const {
  std::set<std::string> out;
  for (const action& a : plan.actions) {
    const bootc_node* b = frees_slot(a.kind) ? views_.bootc_nodes.find("", a.node) : nullptr;
    if (b && b->in_slot()) out.insert(a.node);
  }
  return out;
}

awaitable<void> node_pool_reconciler::keep_to_seen_slots(pass_steps& steps) {
  auto as_seen = co_await writer_.slots_are_as_seen();
  if (!as_seen)
    steps.take_no_slot(as_seen.error());
  else if (!*as_seen)
    steps.take_no_slot();
}

awaitable<k8s::result<node_pool_reconciler::left_over>> node_pool_reconciler::act(
    node_pool pool, rollout_plan plan) {
  disturbed_first(plan.actions);
  pass_steps steps(plan.actions, gives_back(plan));
  if (steps.takes_slots() && !writer_.knows_every_slot()) co_await keep_to_seen_slots(steps);
  if (steps.failure() && steps.failure()->cancelled) co_return *steps.failure();
  pool_teller::noted found = co_await teller_.notes_of(pool, plan);
  node_notes to_note = std::move(found.all);
  while (const action* a = steps.next()) {
    if (reactor::loop_slice::is_over())
      co_await loop_.yield();                          // thousands of drains begin at once
    if (!is_current()) co_return left_over{true, {}};  // the cluster went stale: the rest waits
    const auto told_to_boot =
        a->kind == action_kind::free_slot ? told_to_boot_at(a->node) : std::nullopt;
    json::object annotations;
    if (takes_notes(a->kind))
      if (auto along = to_note.extract(a->node)) annotations = std::move(along.mapped());
    auto done = co_await writer_.carry_out(pool, *a, std::move(annotations));
    if (done) {
      count(*a, told_to_boot);
      steps.made(*done);
      continue;
    }
    const k8s::fault& why = done.error();
    if (is_unanswered(why)) writer_.note_unanswered();
    if (k8s::is_a_race(why)) reader_.forget_copies_of(a->node);
    if (!why.cancelled && !k8s::is_a_race(why))
      settings_.log.warning("a step failed", {{"step", text(a->kind)},
                                              {"pool", pool.meta.name.str()},
                                              {"node", a->node},
                                              {"why", why.message()}});
    if (!steps.failed(why)) co_return why;
  }
  std::optional<k8s::fault> first_failure = steps.failure();
  const bool is_unwritten = plan.status_changed && !is_current();
  if (plan.status_changed && !is_unwritten) {
    for (k8s::event_note& n : pool_events(pool, plan.status)) teller_.tell(std::move(n));
    if (std::string newer = steps.pool_version(); !newer.empty())
      pool.meta.resource_version = k8s::resource_version(newer);
    auto written = co_await writer_.write_status(pool, plan.status);
    if (written) teller_.tell_status(pool, plan.status);
    if (!written && !first_failure) first_failure = written.error();
  }
  if (!is_unwritten && !first_failure && histories_.is_behind(pool, plan.status)) {
    auto noted = co_await writer_.write_history(pool, plan.status, plan.capacity);
    if (!noted) first_failure = noted.error();
  }
  // What goes along with a step is said once the step is made.
  for (const std::string& node : steps.stopped()) to_note.erase(node);
  std::function<bool()> go_on = [this] { return is_current(); };
  const bool all_are_noted = co_await writer_.write_notes(std::move(to_note), std::move(go_on));
  co_await reader_.give_back(std::move(plan));
  if (first_failure) co_return *first_failure;
  co_return left_over{found.are_left || !all_are_noted || is_unwritten, found.look_again};
}

std::optional<reactor::wall_time> node_pool_reconciler::told_to_boot_at(
    const std::string& node) const {
  const bootc_node* b = views_.bootc_nodes.find("", node);
  const auto at = b ? b->annotation(names::approved_at) : std::nullopt;
  auto read = reactor::parse_rfc3339(at.value_or(""));
  return read ? std::optional(*read) : std::nullopt;
}

void node_pool_reconciler::count(const action& made,
                                 std::optional<reactor::wall_time> told_to_boot) {
  if (made.kind == action_kind::approve) settings_.figures.reboots_requested.add();
  if (made.kind == action_kind::free_slot) settings_.figures.reboots_completed.add();
  if (told_to_boot)
    settings_.figures.reboot_seconds.observe(
        std::chrono::duration<double>(loop_.wall() - *told_to_boot).count());
}

bool node_pool_reconciler::is_news(const node_pool& before, const node_pool& now) {
  const std::string name = now.meta.name.str();
  const node_pool_status* written = writer_.unseen_status(name);
  if (!written || waits_to_see_.contains(name) || bootc::is_news(before, now, *written))
    return true;
  writer_.saw_status(name);
  return false;
}

bool node_pool_reconciler::is_news(const bootc_node& before, const bootc_node& now) const {
  return bootc::is_news(before, now) || waits_to_see_.contains(now.meta.owner.name.str());
}

}  // namespace bootc
