#include "bootc/pool/reconciler/pool_reader.hpp"

#include "app/api/assumed_targets.hpp"
#include "app/api/override_order.hpp"
#include "bootc/kinds/cluster_node.hpp"
#include "bootc/pool/assumption.hpp"
#include "bootc/pool/coexistence/other_operator.hpp"
#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "bootc/pool/rollout_policy.hpp"
#include "bootc/pool/secrets/pull_secrets.hpp"
#include "bootc/tags/image_versions.hpp"
#include "bootc/tags/tag_watcher.hpp"
#include "k8s/skew/server_versions.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"

#include <algorithm>
#include <utility>

namespace bootc {
namespace {

/// Some microseconds each: below a millisecond a turn, which the clock sees to between steps.
constexpr std::size_t copies_a_turn = 250, steps_a_turn = 1'000, steps_at_once = 25;

/// Gives many of them back, as many in a turn as were taken.
template <class T>
awaitable<void> free_all(reactor::loop& l, std::vector<T>& all) {  // borrowed
  while (all.size() > copies_a_turn) {
    all.erase(all.end() - static_cast<std::ptrdiff_t>(copies_a_turn), all.end());
    co_await l.yield();
  }
  all.clear();
}

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

/// Not every node runs what the pool asks for, as far as its status and its tag know.
bool is_moving(const node_pool& p, const std::optional<tag_resolution>& tag) {
  const condition* done = find_condition(p.status.conditions, pool_condition::up_to_date);
  return !done || !done->is_true() || p.status.observed_generation != p.meta.generation ||
         (tag && tag->digest != p.status.target_digest);
}

/// That the service at work lets nodes of the pool wait for its speed limit, as it noted on one of
/// them: what it has begun is not known in another process.
std::optional<units::stop> noted_limit(const std::vector<std::shared_ptr<const bootc_node>>& all,
                                       const node_pool& of) {
  for (const auto& b : all) {
    if (b->annotation(names::hold) != hold_code::speed_limit.code || !b->meta.owner ||
        !(b->meta.owner.uid == of.meta.uid))
      continue;
    const auto noted = note_of(*b);
    if (!noted) continue;
    units::stop out;
    out.code = hold_code::speed_limit.code;
    out.sentence = noted->sentence;
    out.released_by = noted->released_by;
    out.since = noted->since;
    return out;
  }
  return std::nullopt;
}

}  // namespace

/// What a plan is made from.
struct pool_reader::reading {
  std::vector<std::shared_ptr<const k8s::node>> nodes;
  std::vector<std::shared_ptr<const bootc_node>> bootc_nodes;
  pool_world world;
};

/// Copies of what the store has, which changes meanwhile.
template <class View>
awaitable<void> pool_reader::copy_all(const k8s::store<View>& from, copies<View>& known,
                                      std::vector<std::shared_ptr<const View>>& into) {
  into.reserve(known.size());
  const bool keeps = keep_copies_;
  has_copies_ = has_copies_ || keeps;
  for (auto one = known.begin(); one != known.end();) {
    std::size_t looked_at = 0, taken = 0;
    for (; one != known.end() && taken < copies_a_turn && looked_at < steps_a_turn &&
           !reactor::loop_slice::is_over();
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

awaitable<void> pool_reader::drop_unused_copies() {
  if (!has_copies_ || keep_copies_) co_return;
  has_copies_ = false;
  co_await drop_all(loop_, views_.copied_nodes);
  co_await drop_all(loop_, views_.copied_bootc_nodes);
}

void pool_reader::forget_copies_of(const std::string& node) {
  if (const auto n = views_.copied_nodes.find(node); n != views_.copied_nodes.end())
    n->second.reset();
  if (const auto b = views_.copied_bootc_nodes.find(node); b != views_.copied_bootc_nodes.end())
    b->second.reset();
}

awaitable<void> pool_reader::give_back(rollout_plan spent) {
  co_await free_all(loop_, spent.actions);
  co_await free_all(loop_, spent.units);
}

awaitable<bool> pool_reader::gather(std::string pool, reading& into) {
  co_await copy_all(views_.nodes, views_.copied_nodes, into.nodes);
  co_await copy_all(views_.bootc_nodes, views_.copied_bootc_nodes, into.bootc_nodes);
  pool_world& world = into.world;
  world.drains = co_await drains_of(pool);
  const node_pool* found = views_.pools.find("", pool);
  if (!found) co_return false;
  world.pool = *found;
  assume_image(world, image_of(*found));
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
  world.tag = tag_of(pool);
  world.kubernetes = kubernetes_of(*found, world.tag);
  if (const auto asks = asks_.find(pool); settings_.gate && asks != asks_.end()) {
    world.kubernetes.asked = asks->second;
    world.kubernetes.answer = settings_.gate->ask(asks->second.from, asks->second.to);
  }
  for (const auto& b : into.bootc_nodes) {
    // Nodes of other pools that hold a slot count with the version that they come back with.
    const std::size_t at =
        b->in_slot() && settings_.images ? b->spec.desired_image.find('@') : std::string::npos;
    if (at == std::string::npos) continue;
    std::string digest = b->spec.desired_image.substr(at + 1);
    if (!world.kubernetes.images.contains(digest)) {
      carried_version is = settings_.images->of(digest);
      world.kubernetes.images.emplace(std::move(digest), std::move(is));
    }
  }
  if (settings_.other) world.other_operator = settings_.other->known();
  world.braked = units::ask(settings_.brake, pool);
  heed_override(world);
  if (settings_.only_looks && !world.braked && world.overrides.empty())
    world.braked = noted_limit(into.bootc_nodes, world.pool);
  world.only_looks = settings_.only_looks;
  world.now = loop_.wall();
  world.stale = settings_.is_current && !settings_.is_current();
  co_return true;
}

/// A person's order for this pool alone goes over the brake and the speed limit.
void pool_reader::heed_override(pool_world& world) const {
  const std::string_view noted = world.pool.meta.annotations.get(units::override_annotation);
  if (noted.empty()) return;
  const units::override_order order = units::read_override(noted);
  world.override_void =
      units::why_void(order, {world.pool.spec.image_ref,
                              world.braked ? world.braked->brake : std::string(), loop_.wall()});
  if (!world.override_void.empty()) return;
  world.overrides = units::override_sentence(order);
  world.braked.reset();
}

/// Of every image that the pool may be about to move to.
kubernetes_facts pool_reader::kubernetes_of(const node_pool& pool,
                                            const std::optional<tag_resolution>& tag) {
  kubernetes_facts out;
  if (settings_.servers) {
    out.servers = settings_.servers->seen();
    out.static_servers = settings_.servers->on_nodes();
  }
  out.are_gated = settings_.gate != nullptr;
  // Who only looks asks for images that it was told to assume.
  out.are_noted = !settings_.images || (settings_.only_looks && !is_assumed(pool));
  if (out.are_noted || pool.meta.deleting()) return out;
  std::shared_ptr<const registry::pull_secret> login;
  bool may_ask = static_cast<bool>(settings_.start);
  if (settings_.secrets && pool.spec.pull_secret) {
    // The registry is not asked without it while it is on its way.
    may_ask &=
        settings_.secrets->state_of(*pool.spec.pull_secret).is != secret_state::kind::unknown;
    login = settings_.secrets->content_of(*pool.spec.pull_secret);
  }
  const auto named = registry::parse_image_ref(image_of(pool));
  const auto former = registry::parse_image_ref(pool.status.return_ref);
  std::vector<registry::image_ref> wanted;
  const auto want = [&](const reactor::result<registry::image_ref>& ref, std::string digest) {
    if (!ref || digest.empty() || out.images.contains(digest)) return;
    registry::image_ref one = *ref;
    one.digest = digest;
    out.images[std::move(digest)] = {};
    wanted.push_back(std::move(one));
  };
  if (named) want(named, named->digest);
  if (named && named->digest.empty()) {
    if (tag) want(named, tag->digest);
    want(named, std::string(pool.approval()));
    if (pool.status.resolved_ref == pool.spec.image_ref && pool.status.failed_digest.empty())
      want(named, pool.status.target_digest);
  }
  if (former) want(former, former->digest);
  for (registry::image_ref& one : wanted) {
    const std::string digest = one.digest;
    out.images[digest] = settings_.images->of(digest);
    if (may_ask && settings_.images->is_due(digest))
      settings_.start("image " + digest, settings_.images->ask(std::move(one), login));
    if (out.images[digest].is_asking)
      settings_.images->tell(digest, follower(pool.meta.name.str()),
                             [wake = settings_.wake, name = pool.meta.name.str()] {
                               if (wake) wake(name);
                             });
  }
  return out;
}

awaitable<drains_by_node> pool_reader::drains_of(std::string pool) {
  std::function<bool(const std::string&)> is_its = [this, pool](const std::string& node) {
    const bootc_node* b = views_.bootc_nodes.find("", node);
    const node_pool* of = views_.pools.find("", pool);
    return b && of && b->meta.owner.uid == of->meta.uid;
  };
  co_return co_await drains_.progress(std::move(is_its));
}

awaitable<rollout_plan> pool_reader::decide(reading& from) {
  rollout_plan made;
  {
    rollout_planning planning(from.world);
    std::size_t in_turn = 0;
    while (!planning.advance(steps_at_once)) {
      if ((in_turn += steps_at_once) < steps_a_turn && !reactor::loop_slice::is_over()) continue;
      in_turn = 0;
      co_await loop_.yield();
    }
    made = planning.take();
    while (!planning.give_back(copies_a_turn)) co_await loop_.yield();
  }
  co_await free_all(loop_, from.bootc_nodes);
  co_await free_all(loop_, from.nodes);
  co_return made;
}

awaitable<rollout_plan> pool_reader::first_plan(std::string pool, plan_view of) {
  reading now;
  const bool there = co_await gather(pool, now);
  if (!there) {
    asks_.erase(pool);
    co_return rollout_plan{};
  }
  now.world.assume_staged = of == plan_view::all_staged;
  rollout_plan out = co_await decide(now);
  co_return out;
}

/// Every node runs the image since this pass or a while ago, and another one before it.
bool pool_reader::arrives(const std::string& pool, const rollout_plan& planned) const {
  const node_pool* p = views_.pools.find("", pool);
  const node_pool_status& is = planned.status;
  return p && is.failed_digest.empty() && !p->status.deployed_digest.empty() &&
         p->status.deployed_digest != is.target_digest && is.deployed_digest == is.target_digest;
}

awaitable<rollout_plan> pool_reader::plan_once(std::string pool, plan_view of) {
  rollout_plan first = co_await first_plan(pool, of);
  const minor_step asks = first.kubernetes.asks;
  if (asks == minor_step()) {
    asks_.erase(pool);
  } else if (asks_[pool] != asks) {
    asks_[pool] = asks;
    co_await give_back(std::move(first));
    first = co_await first_plan(pool, of);
  }
  if (settings_.images && !first.kubernetes.booted_on.empty())
    settings_.images->note_booted(
        first.status.target_digest,
        {first.kubernetes.image,
         "node " + first.kubernetes.booted_on + " of " + settings_.cluster + ", which runs it"});
  if (!settings_.policy || !first.moves || first.units.empty()) co_return first;
  const auto is_staged = [of](const unit& u) {
    return !u.beyond_skew &&
           (u.may_take_slot || (of == plan_view::all_staged && (u.state == unit_state::pending ||
                                                                u.state == unit_state::staging)));
  };
  const bool any_waits = std::any_of(first.units.begin(), first.units.end(), [&](const unit& u) {
    return is_staged(u) && (!u.slotted || u.starting);
  });
  // No node starts without the policy's answer.
  for (unit& u : first.units)
    if (u.starting) u.slotted = u.starting = false;
  const bool is_watched = !any_waits && arrives(pool, first);
  if (!any_waits && !is_watched) co_return first;
  policy_question question;
  question.watched = is_watched;
  question.cluster = settings_.cluster;
  question.pool = pool;
  question.units = std::move(first.units);
  question.capacity = first.capacity;
  question.halted = first.halted;
  question.returning = !first.status.failed_digest.empty();
  question.kubernetes = first.kubernetes;
  question.now = loop_.wall();
  if (const node_pool* p = views_.pools.find("", pool)) {
    question.pack = p->policy();
    question.pool_labels = p->meta.labels;
    question.pool_annotations = p->meta.annotations;
    question.paused = p->spec.paused;
    const bool is_about_this = p->status.observed_generation == p->meta.generation;
    if ((of == plan_view::as_it_is || is_watched) && is_about_this)
      question.published = p->status.policy_waits;
    const condition* was = find_condition(p->status.conditions, pool_condition::degraded);
    question.published_halt = was && was->is_true() && was->reason == pool_reason::rollout_halted;
  }
  for (unit& u : question.units) {
    if (is_staged(u)) u.state = unit_state::staged;
    // No policy chooses a node that the planner would not let start.
    if (u.beyond_skew && u.state == unit_state::staged) u.state = unit_state::pending;
    if (u.slotted) ++question.occupied;
  }
  co_await free_all(loop_, first.actions);
  co_await free_all(loop_, first.holds);
  policy_answer answer = co_await settings_.policy->ask(std::move(question));
  // The world may have changed while the policy thought, so it is read again.
  reading now;
  const bool there = co_await gather(pool, now);
  if (!there) co_return rollout_plan{};
  now.world.assume_staged = of == plan_view::all_staged;
  now.world.policy = std::move(answer);
  rollout_plan out = co_await decide(now);
  auto spent = std::make_shared<policy_answer>(std::move(now.world.policy));
  reactor::loop_slice::leave_to_a_worker(
      [](const std::shared_ptr<policy_answer>& all) { *all = {}; }, std::move(spent));
  co_return out;
}

awaitable<rollout_plan> pool_reader::plan(std::string pool, plan_view of) {
  if (settings_.other && !settings_.other->known().empty()) co_await settings_.other->look();
  if (const node_pool* p = views_.pools.find("", pool);
      p && settings_.servers && (is_assumed(*p) || is_moving(*p, tag_of(pool)))) {
    bool has_control_plane = false;
    views_.nodes.each([&](const k8s::node& n) { has_control_plane |= is_control_plane(n); });
    co_await settings_.servers->look(has_control_plane);
  }
  rollout_plan out = co_await plan_once(pool, of);
  const bool acts = !out.actions.empty() || out.status_changed;
  if (!settings_.other || !acts) co_return out;
  co_await settings_.other->look();
  if (settings_.other->known().empty()) co_return out;
  out = co_await plan_once(std::move(pool), of);
  co_return out;
}

std::string pool_reader::image_of(const node_pool& pool) const {
  return is_assumed(pool) ? *settings_.assumed->of(pool.meta.name.str()) : pool.spec.image_ref;
}

bool pool_reader::is_assumed(const node_pool& pool) const {
  return settings_.assumed && settings_.assumed->of(pool.meta.name.str());
}

std::optional<tag_resolution> pool_reader::tag_of(const std::string& pool) const {
  return settings_.tags ? settings_.tags->of(follower(pool)) : std::nullopt;
}

void pool_reader::follow_tag(const std::string& pool) {
  if (!settings_.tags) return;
  const std::string who = follower(pool);
  const node_pool* p = views_.pools.find("", pool);
  auto image = p ? registry::parse_image_ref(image_of(*p))
                 : reactor::result<registry::image_ref>(
                       reactor::make_fault(reactor::errc::not_found, "", ""));
  // A digest is what it is; only of one that nodes do not run yet is it asked whether it is there.
  const bool names_itself = image && !image->digest.empty() && !is_assumed(*p);
  if (!image || names_itself || p->meta.deleting()) return settings_.tags->leave(who);
  tag_watcher::tag_request w;
  w.image = std::move(*image);
  w.ref = image_of(*p);
  const node_pool_status& known = p->status;
  if (known.resolved_ref == w.ref && !known.target_digest.empty()) {
    w.known = known.available_digest.empty() ? known.target_digest : known.available_digest;
    if (auto next = reactor::parse_rfc3339(known.next_tag_resolution_time)) w.not_before = *next;
  }
  if (settings_.secrets && p->spec.pull_secret) {
    settings_.secrets->want(*p->spec.pull_secret);
    // The registry is not asked without it while it is on its way.
    if (settings_.secrets->state_of(*p->spec.pull_secret).is == secret_state::kind::unknown) return;
    w.secret = settings_.secrets->content_of(*p->spec.pull_secret);
  }
  w.asked = [wake = settings_.wake, pool] {
    if (wake) wake(pool);
  };
  settings_.tags->follow(who, std::move(w));
}

}  // namespace bootc
