// One pass over a pool from gathering to writing: its steps share the writes that are not seen yet,
// so they stay together.
#include "bootc/pool/node_pool_reconciler.hpp"

#include "bootc/kinds/names.hpp"
#include "bootc/pool/action_patch.hpp"
#include "bootc/pool/news.hpp"
#include "bootc/pool/notes/hold_note.hpp"
#include "bootc/pool/safety.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/loop.hpp"
#include "reactor/turn.hpp"
#include "app/api/row_figures.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <set>

namespace bootc {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

/// When a view lags behind our own writes; their event usually comes first.
constexpr reactor::nanoseconds wait_for_own_writes = 1s;
constexpr reactor::nanoseconds wait_for_proof = 500ms;  // of the views, once somebody attends
/// After a write met a newer version: the view catches up within moments.
constexpr reactor::nanoseconds wait_after_conflict = 200ms;
/// From one pass to the next, so that a large pool takes a twentieth of a core at most; and what
/// nobody waits longer for.
constexpr reactor::nanoseconds pace_of_node = 20ms, longest_pace = 5s;
/// Of holds, written in one pass; the others follow in the next.
constexpr std::size_t most_notes = 20;
/// A pool's kind that is older than us drops what it does not know of a status.
constexpr reactor::nanoseconds pruned_for = 10min;
/// Some microseconds each: below a millisecond a turn, which the clock sees to between steps.
constexpr std::size_t copies_a_turn = 250, steps_a_turn = 1'000, steps_at_once = 25;
/// kube-apiserver gives a request up after a minute (--request-timeout); what has not landed by
/// then never will.
constexpr reactor::nanoseconds longest_request = 60s;

/// Of every write here, beside those of the other APIs on the same cluster.
std::string manager() {
  return std::string(names::field_manager);
}

/// The server may have carried it out, and nobody told us.
bool is_unanswered(const k8s::fault& f) {
  return f.http_status == 0 || f.http_status >= 500;
}

/// The world moved on between reading and writing: not an error, only a reason to look again.
bool is_a_race(const k8s::fault& f) {
  return f.code == k8s::errc::conflict || f.code == k8s::errc::exists ||
         f.code == k8s::errc::not_found;
}

bool frees_slot(action_kind k) noexcept {
  return k == action_kind::free_slot || k == action_kind::note_drain_timeout ||
         k == action_kind::delete_node;
}

/// `object`[key], or null where there is none or `object` is none.
const json::value* member(const json::value* object, std::string_view key) noexcept {
  return object && object->is_object() ? object->get_object().if_contains(key) : nullptr;
}
std::string_view text_of(const json::value* v) noexcept {
  return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

/// What is read of a write's answer.
struct receipt {
  k8s::object_meta meta;
  bool has_policy_holds = false;

  static receipt parse(k8s::wire_value object) {
    receipt r;
    const auto [metadata, status] = object.fields("metadata", "status");
    const auto [uid, version] = metadata.fields("uid", "resourceVersion");
    r.meta.uid = k8s::uid(uid.text());
    r.meta.resource_version = k8s::resource_version(version.text());
    r.has_policy_holds = status["policyHolds"].kind() != k8s::wire_kind::absent;
    return r;
  }
  friend bool operator==(const receipt&, const receipt&) = default;
};

k8s::result<receipt> receipt_of(const k8s::result<std::string>& answer) {
  if (!answer) return answer.error();
  return k8s::parse_view<receipt>(*answer);
}

/// Remembers what was written to an object that `seen` had: one that is missing there now has been
/// deleted since, and nothing will be seen of it.
template <class View>
void note_patch(k8s::own_writes& writes, const k8s::store<View>& seen, const k8s::object_key& key,
                const receipt& answer) {
  if (seen.find(key)) writes.wrote(key, answer.meta.uid, answer.meta.resource_version);
}

/// One line, and a count, when a rollout starts and when it is done, by what the pool's status said
/// before.
void tell_turn(const reactor::logger& log, units::row_figures* rows, const node_pool& pool,
               const node_pool_status& now, reactor::wall_time at) {
  const condition* before = find_condition(pool.status.conditions, pool_condition::up_to_date);
  const condition* after = find_condition(now.conditions, pool_condition::up_to_date);
  const bool was_done = !before || before->status == "True",
             is_done = after && after->status == "True";
  if (was_done == is_done || (!before && now.node_count == 0)) return;
  const std::string& name = pool.meta.name.str();
  if (rows && !is_done) rows->began();
  if (!is_done)
    return log.info("rollout started",
                    {{"pool", name}, {"target", now.target_digest}, {"nodes", now.node_count}});
  const auto began = reactor::parse_rfc3339(before->last_transition_time);
  const reactor::nanoseconds took = began ? reactor::nanoseconds(at - *began) : 0s;
  if (rows) rows->done(took);
  log.info(
      "rollout done",
      {{"pool", name}, {"target", now.target_digest}, {"nodes", now.node_count}, {"took", took}});
}

/// The log says of the condition Degraded what its Event does, and its end.
void tell_trouble(const reactor::logger& log, const node_pool& pool, const node_pool_status& now) {
  const condition* before = find_condition(pool.status.conditions, pool_condition::degraded);
  const condition* after = find_condition(now.conditions, pool_condition::degraded);
  const bool was = before && before->is_true(), is = after && after->is_true();
  const std::string& name = pool.meta.name.str();
  if (is && (!was || before->reason != after->reason || before->message != after->message))
    log.warning("pool is degraded",
                {{"pool", name}, {"reason", after->reason}, {"why", after->message}});
  else if (was && !is)
    log.info("pool is no longer degraded", {{"pool", name}, {"reason", before->reason}});
}

/// The names of those BootcNodes of a page that hold a slot.
void add_slots_of(const json::object& page, std::set<std::string>& into) {
  const json::array* items = k8s::items_of(page);
  if (!items) return;
  for (const json::value& item : *items) {
    const json::value* metadata = member(&item, "metadata");
    if (member(member(metadata, "annotations"), names::in_reboot_slot))
      into.emplace(text_of(member(metadata, "name")));
  }
}

}  // namespace

node_pool_reconciler::node_pool_reconciler(reactor::loop& l, k8s::client& api, cluster_views views,
                                           drains& running, reconciler_settings settings)
    : loop_(l),
      api_(api),
      views_(views),
      drains_(running),
      settings_(std::move(settings)),
      pool_writes_(l, [this] { return views_.pools.history(); }),
      bootc_node_writes_(l, [this] { return views_.bootc_nodes.history(); }),
      node_writes_(l, [this] { return views_.nodes.history(); }),
      unknown_writes_land_by_(l.now() + longest_request) {}

/// What a plan is made from.
struct node_pool_reconciler::reading {
  std::vector<std::shared_ptr<const k8s::node>> nodes;
  std::vector<std::shared_ptr<const bootc_node>> bootc_nodes;
  pool_world world;
};

namespace {

/// Gives many of them back, as many in a turn as were taken.
template <class T>
awaitable<void> give_back(reactor::loop& l, std::vector<T>& all) {  // borrowed
  while (all.size() > copies_a_turn) {
    all.erase(all.end() - static_cast<std::ptrdiff_t>(copies_a_turn), all.end());
    co_await l.yield();
  }
  all.clear();
}

}  // namespace

/// Copies of what the store has, which changes meanwhile.
template <class View>
awaitable<void> node_pool_reconciler::copy_all(const k8s::store<View>& from, copies<View>& known,
                                               std::vector<std::shared_ptr<const View>>& into) {
  into.reserve(known.size());
  const bool keeps = !attending_.empty();
  keeps_copies_ = keeps_copies_ || keeps;
  for (auto one = known.begin(); one != known.end();) {
    std::size_t looked_at = 0, taken = 0;
    for (; one != known.end() && taken < copies_a_turn && looked_at < steps_a_turn &&
           !reactor::turn::is_over();
         ++one) {
      ++looked_at;
      std::shared_ptr<const View> copy = one->second;
      if (!copy) {
        const View* v = from.find("", one->first);
        if (!v) continue;
        copy = std::make_shared<const View>(*v);
        ++taken;
        if (keeps) one->second = copy;
      }
      into.push_back(std::move(copy));
    }
    copied_ += taken;
    if (one == known.end()) break;
    const std::string next = one->first;
    co_await loop_.yield();
    one = known.lower_bound(next);
  }
}

namespace {

template <class View>
awaitable<void> drop_all(reactor::loop& l, copies<View>& known) {  // borrowed
  for (auto one = known.begin(); one != known.end();) {
    for (std::size_t n = 0; n < copies_a_turn && one != known.end(); ++n, ++one)
      one->second.reset();
    if (one == known.end()) break;
    const std::string next = one->first;
    co_await l.yield();
    one = known.lower_bound(next);
  }
}

}  // namespace

/// A fleet at rest has no use for them.
awaitable<void> node_pool_reconciler::drop_unused_copies() {
  if (!keeps_copies_ || !attending_.empty()) co_return;
  keeps_copies_ = false;
  co_await drop_all(loop_, views_.copied_nodes);
  co_await drop_all(loop_, views_.copied_bootc_nodes);
}

awaitable<bool> node_pool_reconciler::gather(std::string pool, reading& into) {
  co_await copy_all(views_.nodes, views_.copied_nodes, into.nodes);
  co_await copy_all(views_.bootc_nodes, views_.copied_bootc_nodes, into.bootc_nodes);
  pool_world& world = into.world;
  world.drains = co_await drains_of(pool);
  const node_pool* found = views_.pools.find("", pool);
  if (!found) co_return false;
  world.pool = *found;
  world.nodes.reserve(into.nodes.size());
  world.bootc_nodes.reserve(into.bootc_nodes.size());
  for (const auto& n : into.nodes) world.nodes.push_back(n.get());
  for (const auto& b : into.bootc_nodes) world.bootc_nodes.push_back(b.get());
  if (settings_.secrets) {
    world.operator_ns = settings_.secrets->ns();
    if (found->spec.pull_secret) {
      settings_.secrets->want(*found->spec.pull_secret);
      world.secret = settings_.secrets->state_of(*found->spec.pull_secret);
    }
  }
  if (settings_.tags) world.tag = settings_.tags->of(follower(pool));
  if (settings_.other) world.other_operator = settings_.other->known();
  world.now = loop_.wall();
  world.stale = !is_current();
  co_return true;
}

/// A drain belongs to the pool that owns the node's object; without one it is nobody's.
awaitable<drains_by_node> node_pool_reconciler::drains_of(std::string pool) {
  std::function<bool(const std::string&)> is_its = [this, pool](const std::string& node) {
    const bootc_node* b = views_.bootc_nodes.find("", node);
    const node_pool* of = views_.pools.find("", pool);
    return b && of && b->meta.owner.uid == of->meta.uid;
  };
  co_return co_await drains_.progress(std::move(is_its));
}

awaitable<rollout_plan> node_pool_reconciler::decide(reading& from) {
  rollout_plan made;
  {
    rollout_planning planning(from.world);
    std::size_t in_turn = 0;
    while (!planning.advance(steps_at_once)) {
      if ((in_turn += steps_at_once) < steps_a_turn && !reactor::turn::is_over()) continue;
      in_turn = 0;
      co_await loop_.yield();
    }
    made = planning.take();
    while (!planning.give_back(copies_a_turn)) co_await loop_.yield();
  }
  co_await give_back(loop_, from.bootc_nodes);
  co_await give_back(loop_, from.nodes);
  co_return made;
}

awaitable<bool> node_pool_reconciler::sees_own_writes(std::string pool) {
  if (!keeps(safety_rule::own_writes)) co_return true;
  const node_pool* found = views_.pools.find("", pool);
  if (pool_writes_.is_stale({"", pool}, found ? &found->meta : nullptr)) co_return false;
  const auto is_somebody = [this](const k8s::object_key& key) {
    return views_.nodes.find(key) || views_.bootc_nodes.find(key);
  };
  const auto meta_in = [](const auto& store) {
    return [&store](const k8s::object_key& key) -> const k8s::object_meta* {
      const auto* view = store.find(key);
      return view ? &view->meta : nullptr;
    };
  };
  const auto object_meta = meta_in(views_.bootc_nodes);
  const auto node_meta = meta_in(views_.nodes);
  const bool object_is_old = co_await bootc_node_writes_.any_is_stale(object_meta, is_somebody);
  if (object_is_old) co_return false;
  const bool node_is_old = co_await node_writes_.any_is_stale(node_meta, is_somebody);
  co_return !node_is_old;
}

awaitable<rollout_plan> node_pool_reconciler::plan(std::string pool, view of) {
  rollout_plan first;
  {
    reading now;
    const bool there = co_await gather(pool, now);
    if (!there) co_return first;
    now.world.assume_staged = of == view::everybody_staged;
    first = co_await decide(now);
  }
  if (!settings_.policy || !first.moves || first.units.empty()) co_return first;
  const auto is_staged = [of](const unit& u) {
    return u.may_take_slot || (of == view::everybody_staged &&
                               (u.state == unit_state::pending || u.state == unit_state::staging));
  };
  const bool anybody_waits =
      std::any_of(first.units.begin(), first.units.end(),
                  [&](const unit& u) { return is_staged(u) && (!u.slotted || u.starting); });
  // Without the policy's word nobody starts.
  for (unit& u : first.units)
    if (u.starting) u.slotted = u.starting = false;
  if (!anybody_waits) co_return first;
  policy_question question;
  question.cluster = settings_.cluster;
  question.pool = pool;
  question.units = std::move(first.units);
  question.capacity = first.capacity;
  question.halted = first.halted;
  question.now = loop_.wall();
  if (const node_pool* p = views_.pools.find("", pool)) {
    question.pack = p->policy();
    question.pool_labels = p->meta.labels;
    question.pool_annotations = p->meta.annotations;
    question.paused = p->spec.paused;
    const bool is_about_this = p->status.observed_generation == p->meta.generation;
    if (of == view::as_it_is && is_about_this) question.published = p->status.policy_waits;
  }
  for (unit& u : question.units) {
    if (is_staged(u)) u.state = unit_state::staged;
    if (u.slotted) ++question.occupied;
  }
  co_await give_back(loop_, first.actions);
  co_await give_back(loop_, first.holds);
  policy_answer answer = co_await settings_.policy->ask(std::move(question));
  // The world may have changed while the policy thought, so it is read again.
  reading now;
  const bool there = co_await gather(pool, now);
  if (!there) co_return rollout_plan{};
  now.world.assume_staged = of == view::everybody_staged;
  now.world.policy = std::move(answer);
  rollout_plan out = co_await decide(now);
  auto spent = std::make_shared<policy_answer>(std::move(now.world.policy));
  reactor::turn::leave_to_a_worker([](const std::shared_ptr<policy_answer>& all) { *all = {}; },
                                   std::move(spent));
  co_return out;
}

awaitable<std::optional<rollout_plan>> node_pool_reconciler::preview(std::string pool, view of) {
  if (!views_.pools.find("", pool)) co_return std::nullopt;
  rollout_plan out = co_await plan_alone(std::move(pool), of);
  co_return out;
}

/// The plan as it may be carried out: before anything is done somebody looks whether another
/// operator works there.
awaitable<rollout_plan> node_pool_reconciler::plan_alone(std::string pool, view of) {
  if (settings_.other && !settings_.other->known().empty()) co_await settings_.other->look();
  rollout_plan out = co_await plan(pool, of);
  const bool acts = !out.actions.empty() || out.status_changed;
  if (!settings_.other || !acts) co_return out;
  co_await settings_.other->look();
  if (settings_.other->known().empty()) co_return out;
  out = co_await plan(std::move(pool), of);
  co_return out;
}

/// Has the registry asked about the pool's tag, as long as it has one.
void node_pool_reconciler::follow_tag(const std::string& pool) {
  if (!settings_.tags) return;
  const std::string who = follower(pool);
  const node_pool* p = views_.pools.find("", pool);
  auto image = p ? registry::parse_image_ref(p->spec.image_ref)
                 : reactor::result<registry::image_ref>(
                       reactor::make_fault(reactor::errc::not_found, "", ""));
  if (!image || !image->digest.empty() || p->meta.deleting()) return settings_.tags->leave(who);
  tag_watcher::wish w;
  w.image = std::move(*image);
  w.ref = p->spec.image_ref;
  const node_pool_status& known = p->status;
  if (known.resolved_ref == w.ref && !known.target_digest.empty()) {
    w.known = known.available_digest.empty() ? known.target_digest : known.available_digest;
    if (auto next = reactor::parse_rfc3339(known.next_tag_resolution_time)) w.not_before = *next;
  }
  if (settings_.secrets && p->spec.pull_secret) {
    settings_.secrets->want(*p->spec.pull_secret);
    // Nobody is asked without it while it is on its way.
    if (settings_.secrets->state_of(*p->spec.pull_secret).is == secret_state::kind::unknown) return;
    w.secret = settings_.secrets->content_of(*p->spec.pull_secret);
  }
  w.asked = [wake = settings_.wake, pool] {
    if (wake) wake(pool);
  };
  settings_.tags->follow(who, std::move(w));
}

/// How long the next pass waits for more news; notes that it begins when it need not.
reactor::nanoseconds node_pool_reconciler::rest_before(const node_pool& pool) {
  const auto nodes = static_cast<std::int64_t>(views_.copied_nodes.size());
  const reactor::nanoseconds pace = std::min(pace_of_node * nodes, longest_pace);
  const auto [at, is_first] = last_passes_.try_emplace(pool.meta.name.str());
  last_pass& last = at->second;
  const bool as_before = !is_first && last.generation == pool.meta.generation &&
                         last.annotations == pool.meta.annotations &&
                         last.deleting == pool.meta.deleting();
  const reactor::nanoseconds rest = as_before ? last.began + pace - loop_.now() : 0s;
  if (rest <= 0s)
    last = {loop_.now(), pool.meta.generation, pool.meta.annotations, pool.meta.deleting()};
  return rest;
}

/// Ends the drains of nodes whose object, or the pool that owns it, is gone: no plan speaks of them
/// any more.
void node_pool_reconciler::stop_drains_of_nobody() {
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
    follow_tag(pool);
    stop_drains_of_nobody();
    last_passes_.erase(pool);
    waits_to_see_.erase(pool);
    written_.erase(pool);
    attend(pool, k8s::attention::none);
    co_await drop_unused_copies();
    co_return k8s::await_change();
  }
  if (!is_current()) co_return k8s::requeue_after(wait_for_own_writes);
  const bool is_seen = co_await sees_own_writes(pool);
  if (!is_seen) {
    waits_to_see_.insert(pool);
    co_return k8s::requeue_after(wait_for_own_writes);
  }
  waits_to_see_.erase(pool);
  written_.erase(pool);
  found = views_.pools.find("", pool);
  if (!found) co_return k8s::await_change();
  if (const auto rest = rest_before(*found); rest > 0s) co_return k8s::requeue_after(rest);
  follow_tag(pool);
  // Once a pass and not at every piece of news: a large pool has thousands of drains.
  stop_drains_of_nobody();
  rollout_plan next = co_await plan_alone(pool, view::as_it_is);
  const std::string other = settings_.other ? settings_.other->known() : std::string();
  if (other_said_ != other) {
    if (other.empty())
      settings_.log.info("no other operator keeps the Lease any more: its cluster is ours again");
    else
      settings_.log.warning("another operator works on this cluster: nothing is done here",
                            {{"lease", names::lease}, {"holder", other}});
    other_said_ = other;
  }
  found = views_.pools.find("", pool);
  if (!found) {
    attend(pool, k8s::attention::none);
    co_await drop_unused_copies();
    co_return k8s::await_change();
  }
  const bool under_way = !next.actions.empty() || next.occupied > 0;
  if (!attend(pool, under_way ? k8s::attention::close : k8s::attention::none)) {
    last_passes_.erase(pool);
    co_return k8s::requeue_after(wait_for_proof);
  }
  co_await drop_unused_copies();
  found = views_.pools.find("", pool);
  if (!found) co_return k8s::await_change();
  if (settings_.on_plan) settings_.on_plan(pool, next);
  if (settings_.rows) settings_.rows->show(pool, by_state(next.counts), next.held);
  if (!other.empty()) {
    for (const std::string& node : drains_.nodes()) drains_.cancel(node);
    co_return k8s::requeue_after(other_operator::asked_every);
  }
  const node_pool seen = *found;
  say_new(seen, next.warnings);
  if (loop_.now() < waits_pruned_until_) {
    next.status.policy_waits = seen.status.policy_waits;
    next.status_changed = next.status_changed && next.status != seen.status;
  }
  const auto drains_look_again = co_await tell_of_drains(seen);
  auto look_again = earlier(next.look_again, drains_look_again);
  const bool acted = !next.actions.empty();
  auto done = co_await act(seen, std::move(next));
  if (!done) {
    last_passes_.erase(pool);  // what failed has delays of its own
    if (is_a_race(done.error())) co_return k8s::requeue_after(wait_after_conflict);
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

/// Says that the pool needs views that are current, or no longer does. False while what was needed
/// is not proved yet.
bool node_pool_reconciler::attend(const std::string& pool, k8s::attention how) {
  if (how == k8s::attention::close) {
    attending_.insert(pool);
  } else {
    attending_.erase(pool);
  }
  if (settings_.attend)
    settings_.attend(attending_.empty() ? k8s::attention::none : k8s::attention::close);
  return how == k8s::attention::none || !settings_.may_act || settings_.may_act();
}

/// Once as long as it stays true.
void node_pool_reconciler::say_new(const node_pool& pool, const std::vector<warning>& warnings) {
  const std::string& name = pool.meta.name.str();
  std::set<std::string> now;
  for (const warning& w : warnings) {
    std::string key = std::string(w.reason) + "/" + w.node;
    if (!said_[name].contains(key)) {
      settings_.log.warning(w.message, {{"pool", name}, {"reason", w.reason}});
      tell(event_of(w, w.node.empty() ? nullptr : views_.nodes.find("", w.node), pool));
    }
    now.insert(std::move(key));
  }
  said_[name] = std::move(now);
  if (said_[name].empty()) said_.erase(name);
}

void node_pool_reconciler::tell(k8s::event_note note) {
  if (settings_.events) settings_.events->record(std::move(note));
}

/// When one of them becomes a long one, if none of them is yet.
awaitable<std::optional<reactor::wall_time>> node_pool_reconciler::tell_of_drains(node_pool pool) {
  const drains_by_node ours = co_await drains_of(pool.meta.name.str());
  drain_teller::news news;
  for (const auto& [node, progress] : ours) {
    if (reactor::turn::is_over()) co_await loop_.yield();
    drain_teller_.tell_one(pool, node, views_.nodes.find("", node), progress, loop_.wall(), news);
  }
  drain_teller_.forget(pool, ours);
  for (k8s::event_note& n : news.notes) tell(std::move(n));
  co_return news.look_again;
}

/// The nodes that hold a slot now and shall not after `plan`.
std::set<std::string> node_pool_reconciler::gives_back(const rollout_plan& plan) const {
  std::set<std::string> out;
  for (const action& a : plan.actions) {
    const bootc_node* b = frees_slot(a.kind) ? views_.bootc_nodes.find("", a.node) : nullptr;
    if (b && b->in_slot()) out.insert(a.node);
  }
  return out;
}

awaitable<k8s::result<node_pool_reconciler::left_over>> node_pool_reconciler::act(
    node_pool pool, rollout_plan plan) {
  std::optional<k8s::fault> first_failure;
  std::set<std::string> stopped;  // nodes of which a step failed
  // Of what was written in this pass; "" is the pool.
  std::map<std::string, std::string> versions, node_versions;
  std::set<std::string> giving_back = gives_back(plan);
  std::size_t lost_slots = 0;  // planned to be free, but still taken
  const bool takes = std::any_of(plan.actions.begin(), plan.actions.end(),
                                 [](const action& a) { return a.kind == action_kind::take_slot; });
  if (takes && !knows_every_slot_) {
    auto as_seen = co_await slots_are_as_seen();
    if (!as_seen && as_seen.error().cancelled) co_return as_seen.error();
    if (!as_seen) first_failure = as_seen.error();
    if (!as_seen || !*as_seen)
      for (const action& a : plan.actions)
        if (a.kind == action_kind::take_slot) stopped.insert(a.node);
  }
  noted found = co_await notes_of(pool, plan);
  notes to_note = std::move(found.all);
  for (action& a : plan.actions) {
    if (reactor::turn::is_over()) co_await loop_.yield();  // thousands of drains begin at once
    if (!is_current()) co_return left_over{true, {}};      // the cluster went stale: the rest waits
    if (stopped.contains(a.node)) continue;
    if (a.kind == action_kind::take_slot && lost_slots > 0) {
      --lost_slots;
      stopped.insert(a.node);
      continue;
    }
    std::map<std::string, std::string>& written = writes_node(a.kind) ? node_versions : versions;
    if (const auto newer = written.find(a.node); newer != written.end())
      a.resource_version = newer->second;
    const action_kind kind = a.kind;
    const std::string node = a.node;
    const auto told_to_boot = kind == action_kind::free_slot ? told_to_boot_at(node) : std::nullopt;
    json::object annotations;
    if (takes_notes(kind))
      if (auto along = to_note.extract(node)) annotations = std::move(along.mapped());
    auto done = co_await carry_out(pool, a, std::move(annotations));
    if (done) {
      if (!done->empty()) written[node] = *done;
      if (kind == action_kind::approve) settings_.figures.reboots_requested.add();
      if (kind == action_kind::free_slot) settings_.figures.reboots_completed.add();
      if (told_to_boot)
        settings_.figures.reboot_seconds.observe(
            std::chrono::duration<double>(loop_.wall() - *told_to_boot).count());
      if (frees_slot(kind)) giving_back.erase(node);
      continue;
    }
    if (is_unanswered(done.error())) note_unanswered();
    if (done.error().cancelled) co_return done.error();
    if (!is_a_race(done.error()))
      settings_.log.warning("a step failed", {{"step", text(kind)},
                                              {"pool", pool.meta.name.str()},
                                              {"node", node},
                                              {"why", done.error().message()}});
    if (!first_failure) first_failure = done.error();
    // the pool's own finalizer: nothing may go on without it
    if (node.empty()) co_return done.error();
    stopped.insert(node);
    lost_slots += giving_back.erase(node);
  }
  const bool is_unwritten = plan.status_changed && !is_current();
  if (plan.status_changed && !is_unwritten) {
    for (k8s::event_note& n : pool_events(pool, plan.status)) tell(std::move(n));
    if (const auto newer = versions.find(""); newer != versions.end())
      pool.meta.resource_version = k8s::resource_version(newer->second);
    auto written = co_await write_status(pool, plan.status);
    if (!written && !first_failure) first_failure = written.error();
  }
  // What goes along with a step is said once the step is made.
  for (const std::string& node : stopped) to_note.erase(node);
  const bool all_are_noted = co_await write_notes(std::move(to_note));
  co_await give_back(loop_, plan.actions);
  co_await give_back(loop_, plan.units);
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

/// Whether an action writes the node's object, so that a note may go along.
bool node_pool_reconciler::takes_notes(action_kind k) noexcept {
  switch (k) {
    case action_kind::sync_spec:
    case action_kind::take_slot:
    case action_kind::free_slot:
    case action_kind::note_drain_timeout:
    case action_kind::approve:
    case action_kind::note_approval: return true;
    default: return false;
  }
}

/// The step that the node has made since it was last told of; told now, and from then on remembered
/// by its object.
void node_pool_reconciler::note_step(const bootc_node& b, const node_pool& pool,
                                     json::object& annotations) {
  if (!settings_.events) return;
  const std::string name = b.meta.name.str();
  auto step = next_step(b, views_.nodes.find("", name), pool);
  if (!step) {
    told_steps_.erase(name);
    return;
  }
  annotations[names::last_observed_state] = step->remember;
  std::string& told = told_steps_[name];
  if (told == step->remember) return;
  told = step->remember;
  if (step->note) tell(std::move(*step->note));
}

/// What everybody may read on the objects of those that hold a slot or are in trouble: why they
/// wait. Who waits for a turn is in the pool's count. Nothing depends on a note; most go along with
/// a step, and one that fails is tried again by a later pass.
awaitable<node_pool_reconciler::noted> node_pool_reconciler::notes_of(const node_pool& pool,
                                                                      rollout_plan& plan) {
  noted out;
  std::set<std::string> written_anyway;
  for (const action& a : plan.actions)
    if (takes_notes(a.kind)) written_anyway.insert(a.node);
  auto why = plan.holds.begin();
  std::size_t alone = 0;
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    if (i % steps_a_turn == steps_a_turn - 1 || reactor::turn::is_over()) co_await loop_.yield();
    const unit& u = plan.units[i];
    while (why != plan.holds.end() && why->unit < u.name) ++why;
    const bool matters = u.slotted || u.state == unit_state::degraded || !u.trouble.empty();
    const hold* now = matters && why != plan.holds.end() && why->unit == u.name ? &*why : nullptr;
    // What the next pass would say goes along with the slot.
    std::optional<hold> begins;
    if (u.starting && !now)
      now = &begins.emplace(u.name, std::string(hold_code::draining.code), "its drain begins",
                            std::string(hold_code::draining.released));
    const bootc_node* b = views_.bootc_nodes.find("", u.name);
    const bool goes_along = written_anyway.contains(u.name);
    // What leaves is deleted in this pass.
    const bool leaves = now && now->code == hold_code::leaving;
    if (!b || leaves) continue;
    if (!goes_along && alone == most_notes) {
      out.are_left = true;
      continue;
    }
    json::object annotations;
    const bool is_said = is_noted(*b, now);
    const reactor::steady_time may_be_said_at =
        is_said ? reactor::steady_time() : may_note_at(*b, now);
    if (!now) noted_at_.erase(u.name);
    if (!is_said && !goes_along && may_be_said_at > loop_.now()) {
      out.look_again = earlier(out.look_again, loop_.wall() + (may_be_said_at - loop_.now()));
    } else if (!is_said) {
      if (now) noted_at_[u.name] = loop_.now();
      annotations = note_annotations(*b, now, loop_.wall());
      // A note that fails is told again with the next one, as a repetition of the same Event.
      if (is_new(*b, now)) tell(event_of(*b, now));
    }
    note_step(*b, pool, annotations);
    if (annotations.empty()) continue;
    if (!goes_along) ++alone;
    out.all.emplace(u.name, std::move(annotations));
  }
  co_return out;
}

/// Other words of the same code replace a note once it is old enough, so that a drain whose pods
/// end one by one costs few writes.
reactor::steady_time node_pool_reconciler::may_note_at(const bootc_node& b, const hold* now) const {
  const auto before = note_of(b);
  const auto written = noted_at_.find(b.meta.name.str());
  if (!now || !before || before->code != now->code || written == noted_at_.end()) return {};
  return written->second + shortest_life_of_note(now->code);
}

awaitable<bool> node_pool_reconciler::write_notes(notes all) {
  while (!all.empty() && is_current()) {
    auto one = all.extract(all.begin());
    const k8s::object_key key{"", one.key()};
    json::object metadata, patch;
    metadata["annotations"] = std::move(one.mapped());
    patch["metadata"] = std::move(metadata);
    const auto answer = receipt_of(co_await api_.merge_patch_text(
        bootc_nodes(), key, std::move(patch), std::string(), manager()));
    if (answer) {
      note_patch(bootc_node_writes_, views_.bootc_nodes, key, *answer);
    } else if (!is_a_race(answer.error())) {
      co_return true;  // it fails again in a second
    }
  }
  co_return all.empty();
}

/// Compares the slots that the view shows with those of a consistent read. True: no other slot is
/// held, and none can come to light later unless it is written from now on.
awaitable<k8s::result<bool>> node_pool_reconciler::slots_are_as_seen() {
  std::set<std::string> seen, held;
  views_.bootc_nodes.each([&](const bootc_node& b) {
    if (b.in_slot()) seen.insert(b.meta.name.str());
  });
  const bool none_under_way = loop_.now() >= unknown_writes_land_by_;
  k8s::list_options options;
  options.metadata_only = true;
  k8s::list_pages pages(api_, bootc_nodes(), std::move(options));
  for (;;) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) break;
    add_slots_of(**page, held);
  }
  if (held != seen) {
    settings_.log.info("the view of the reboot slots is behind the server; no node starts",
                       {{"seen", seen.size()}, {"held", held.size()}});
    co_return false;
  }
  knows_every_slot_ = none_under_way;
  co_return true;
}

void node_pool_reconciler::note_unanswered() {
  knows_every_slot_ = false;
  unknown_writes_land_by_ = loop_.now() + longest_request;
}

/// The version that what it writes has afterwards; empty when nothing was written.
awaitable<k8s::result<std::string>> node_pool_reconciler::carry_out(const node_pool& pool,
                                                                    const action& a,
                                                                    json::object annotations) {
  const k8s::object_key key{"", a.node};
  switch (a.kind) {
    case action_kind::cancel_drain: drains_.cancel(a.node); co_return std::string();
    case action_kind::start_drain:
      drains_.start(a.node, a.spec.desired_image, a.timeout);
      co_return std::string();

    case action_kind::add_finalizer:
    case action_kind::remove_finalizer: {
      json::object patch = a.kind == action_kind::add_finalizer ? add_finalizer_patch(pool)
                                                                : remove_finalizer_patch(pool);
      const auto answer = receipt_of(co_await api_.merge_patch_text(
          node_pools(), pool.meta.key(), std::move(patch), std::string(), manager()));
      if (!answer) co_return answer.error();
      if (a.kind == action_kind::remove_finalizer) co_return std::string();
      pool_writes_.wrote(pool.meta.key(), pool.meta.uid, answer->meta.resource_version);
      co_return answer->meta.resource_version.text();
    }
    case action_kind::create_node: {
      json::object body = new_bootc_node(pool, a);
      const auto answer = receipt_of(
          co_await api_.create_text(bootc_nodes(), std::string(), std::move(body), manager()));
      if (!answer) co_return answer.error();
      bootc_node_writes_.wrote(key, answer->meta.uid, answer->meta.resource_version);
      co_return answer->meta.resource_version.text();
    }
    case action_kind::delete_node: {
      k8s::delete_options options;
      options.uid = a.uid;
      auto answer = co_await api_.remove(bootc_nodes(), key, std::move(options));
      if (!answer && answer.error().code != k8s::errc::not_found) co_return answer.error();
      bootc_node_writes_.removed(key, k8s::uid(a.uid));
      co_return std::string();
    }
    case action_kind::sync_spec:
    case action_kind::take_slot:
    case action_kind::free_slot:
    case action_kind::note_drain_timeout:
    case action_kind::approve:
    case action_kind::note_approval: {
      json::object patch = bootc_node_patch(a);
      if (!annotations.empty()) {
        json::value& all = patch["metadata"].as_object()["annotations"];
        if (!all.is_object()) all.emplace_object();
        for (auto& [key, value] : annotations) all.as_object()[key] = std::move(value);
      }
      const auto answer = receipt_of(co_await api_.merge_patch_text(
          bootc_nodes(), key, std::move(patch), std::string(), manager()));
      if (!answer) co_return answer.error();
      note_patch(bootc_node_writes_, views_.bootc_nodes, key, *answer);
      co_return answer->meta.resource_version.text();
    }
    case action_kind::label:
    case action_kind::unlabel:
    case action_kind::cordon:
    case action_kind::uncordon:
    case action_kind::shield:
    case action_kind::unshield: {
      json::object patch = node_patch(a);
      const auto answer = receipt_of(co_await api_.merge_patch_text(
          k8s::resources::nodes(), key, std::move(patch), std::string(), manager()));
      if (!answer) co_return answer.error();
      note_patch(node_writes_, views_.nodes, key, *answer);
      co_return answer->meta.resource_version.text();
    }
  }
  co_return std::string();
}

bool node_pool_reconciler::is_news(const node_pool& before, const node_pool& now) {
  const std::string name = now.meta.name.str();
  const auto written = written_.find(name);
  if (written == written_.end() || waits_to_see_.contains(name) ||
      bootc::is_news(before, now, written->second))
    return true;
  written_.erase(written);
  return false;
}

bool node_pool_reconciler::is_news(const bootc_node& before, const bootc_node& now) const {
  return bootc::is_news(before, now) || waits_to_see_.contains(now.meta.owner.name.str());
}

awaitable<k8s::result<void>> node_pool_reconciler::write_status(node_pool pool,
                                                                node_pool_status status) {
  json::object patch = status_patch(pool.status, status);
  if (patch.empty()) co_return k8s::result<void>();
  patch["metadata"] = json::object{{"resourceVersion", pool.meta.resource_version.text()}};
  written_[pool.meta.name.str()] = status;  // its event may come before its answer
  const auto answer = receipt_of(co_await api_.merge_patch_text(
      node_pools(), pool.meta.key(), std::move(patch), "status", manager()));
  if (!answer) {
    written_.erase(pool.meta.name.str());
    co_return answer.error();
  }
  pool_writes_.wrote(pool.meta.key(), pool.meta.uid, answer->meta.resource_version);
  if (!status.policy_waits.empty() && !answer->has_policy_holds)
    waits_pruned_until_ = loop_.now() + pruned_for;
  tell_turn(settings_.log, settings_.rows, pool, status, loop_.wall());
  tell_trouble(settings_.log, pool, status);
  co_return k8s::result<void>();
}

}  // namespace bootc
