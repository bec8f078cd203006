#include "fleetwide/fleet_home.hpp"

#include "fleetwide/events.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/conditions.hpp"
#include "fleetwide/plan/gathering.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "reactor/loop.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fleetwide {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_grants = 1'000, most_revisions = 20'000;
constexpr reactor::nanoseconds not_live_retry = 5s, unknown_retry = 15s,
                               look_again_for_clusters = 50ms, look_again_while_moving = 30s,
                               look_again_at_rest = 5min, patience_of_an_overview = 10s,
                               changes_together = 200ms, view_retry = 1s;

k8s::controller_options controller_of(std::string_view name, reactor::metrics* metrics,
                                      const reactor::logger& log) {
  k8s::controller_options o;
  o.name = name;
  o.concurrency = 4;
  o.metrics = metrics;
  o.log = log;
  return o;
}

k8s::informer_options revisions_of_ours(const k8s::watch_limits& limits,
                                        const reactor::logger& log) {
  k8s::informer_options o = k8s::all_of(controller_revisions(), limits, log, most_revisions);
  o.label_selector = std::string(names::revision_of);
  return o;
}

/// Grants elsewhere give nothing, so however many there are takes no room from these.
k8s::informer_options grants_in(const std::string& ns, const k8s::watch_limits& limits,
                                const reactor::logger& log) {
  k8s::informer_options o = k8s::all_of(fleet_grants(), limits, log, most_grants);
  o.ns = ns;
  return o;
}

units::standing standing_of(member_state s) {
  if (s == member_state::ready) return units::standing::done;
  return s == member_state::failed ? units::standing::trouble : units::standing::moving;
}

}  // namespace

fleet_home::fleet_home(k8s::engagement& on, options o, words w)
    : on_(on),
      options_(std::move(o)),
      controller_(on.loop(), *this, controller_of(w.controller, options_.metrics, on.log()),
                  [](const k8s::object_key& key) { return key.ns; }),
      tasks_(on.loop()),
      words_(std::move(w)),
      grants_(on.loop(), on.api(), grants_in(options_.ns, options_.limits, on.log())),
      revisions_(on.loop(), on.api(), revisions_of_ours(options_.limits, on.log())),
      figures_(options_.metrics && options_.rows && options_.does == units::mode::act
                   ? std::make_unique<units::row_figures>(*options_.metrics, *options_.rows,
                                                          std::string(words_.api), on.on().name())
                   : nullptr),
      patient_until_(on.loop().now() + patience_of_an_overview),
      overviews_(on.loop()) {
  on.follow(grants_);
  on.follow(revisions_);
  grants_.on_change([this](const fleet_grant*, const fleet_grant*) { reconsider(); });
  revisions_.on_change([this](const fleetwide::revision* before, const fleetwide::revision* now) {
    ++revision_;
    const fleetwide::revision& r = *(now ? now : before);
    each_object([&](const fleet_object& p) {
      if (r.meta.labels.get(names::revision_of) == p.meta.uid.text()) controller_.add(p.meta.key());
    });
  });
  grants_.start();
  revisions_.start();
}

fleet_home::~fleet_home() = default;

void fleet_home::start() {
  if (options_.does == units::mode::look) return;
  tasks_.start(std::string(words_.kind) + "s", [this]() -> awaitable<void> {
    (void)co_await objects_synced(reactor::never);
    (void)co_await grants_.synced();
    (void)co_await revisions_.synced();
    controller_.start();
  });
}

awaitable<void> fleet_home::stop() {
  stopping_ = true;
  if (options_.on_stop) options_.on_stop();
  co_await tasks_.cancel_and_join();
  co_await controller_.stop();
  co_await stop_objects();
  co_await grants_.stop();
  co_await revisions_.stop();
  co_await overviews_.empty();
}

awaitable<bool> fleet_home::synced(reactor::steady_time deadline) {
  const bool pools = co_await objects_synced(deadline);
  const bool grants = co_await grants_.synced(deadline);
  const bool revisions = co_await revisions_.synced(deadline);
  const bool all = pools && grants && revisions;
  co_return all;
}

void fleet_home::reconsider() {
  ++revision_;
  each_object([this](const fleet_object& p) { look_soon(p.meta.key()); });
}

void fleet_home::look_soon(const k8s::object_key& key) {
  controller_.add_after(key, changes_together);
}

void fleet_home::set_freshness(const k8s::object_key& of, k8s::freshness how) {
  if (how == k8s::freshness::close)
    rolled_out_.insert(of);
  else
    rolled_out_.erase(of);
  on_.set_freshness(rolled_out_.empty() ? k8s::freshness::none : k8s::freshness::close);
}

void fleet_home::claim_changed(const std::string& claim) {
  each_object([&](const fleet_object& p) {
    if (!concerns(p, claim)) return;
    ++revision_;
    look_soon(p.meta.key());
  });
}

/// Those at home, and in their place or beside them what is assumed.
std::vector<fleet_object> fleet_home::objects() const {
  std::vector<fleet_object> all;
  const auto is_assumed = [this](const k8s::object_key& key) {
    return std::ranges::any_of(assumed_,
                               [&](const fleet_object& p) { return p.meta.key() == key; });
  };
  each_object([&](const fleet_object& p) {
    if (!is_assumed(p.meta.key())) all.push_back(p);
  });
  for (fleet_object p : assumed_) {
    if (const fleet_object* now = find_object(p.meta.key())) {
      p.meta.uid = now->meta.uid;
      p.meta.annotations = now->meta.annotations;
      p.created = now->created;
      p.status = now->status;
    }
    all.push_back(std::move(p));
  }
  std::ranges::sort(all, {}, [](const fleet_object& p) { return p.meta.key(); });
  return all;
}

void fleet_home::count(const fleet_look& at) {
  if (!figures_) return;
  units::row_figures::counts states, held;
  for (const auto& [state, n] : at.plan.counts) states[std::string(text(state))] = n;
  for (const member_plan& m : at.plan.members)
    if (m.hold) ++held[std::string(units::kind_in(m.hold->code))];
  figures_->show(at.object.meta.key().text(), std::move(states), held);
}

awaitable<k8s::result<k8s::next>> fleet_home::clean_up(fleet_look at) {
  const fleet_object& p = at.object;
  if (!p.meta.has_finalizer(names::cleanup)) co_return k8s::await_change();
  (void)start_deeds(at);
  // The deletion has the time of home's clock, which need not be ours.
  const reactor::wall_time now_at_home =
      on_.loop().wall() + on_.api().clock_ahead().value_or(reactor::nanoseconds(0));
  const bool waited = now_at_home - p.meta.deletion_timestamp >= patience_for_cleanup;
  if (!at.plan.is_gone || (at.plan.left_away > 0 && !waited))
    co_return k8s::requeue_after(not_live_retry);
  if (at.plan.left_away > 0)
    tell(p, fleet_event::left,
         std::to_string(at.plan.left_away) + " clusters could not be reached for 10 minutes");
  auto freed = co_await set_finalizer(p, finalizer_is::done);
  if (!freed && freed.error().code != k8s::errc::not_found) co_return freed.error();
  co_return k8s::await_change();
}

awaitable<k8s::result<k8s::next>> fleet_home::say_without_plan(fleet_object p,
                                                               std::string_view reason,
                                                               std::string why) {
  fleet_status s = status_without_plan(p, reason, std::move(why), on_.loop().wall());
  if (s == p.status) co_return k8s::await_change();
  auto said = co_await publish(std::move(p), std::move(s));
  if (!said) co_return said.error();
  co_return k8s::await_change();
}

/// What changed before it was written is decided again once it is seen.
awaitable<k8s::result<k8s::next>> fleet_home::reconcile(k8s::object_key key) {
  auto done = co_await pass(std::move(key));
  if (!done && done.error().code == k8s::errc::conflict) co_return k8s::requeue_after(view_retry);
  co_return done;
}

awaitable<k8s::result<k8s::next>> fleet_home::pass(k8s::object_key key) {
  if (!on_.is_live() || !options_.fleet->is_discovered())
    co_return k8s::requeue_after(not_live_retry);
  const fleet_object* found = find_object(key);
  if (!found) {
    if (figures_) figures_->forget(key.text());
    std::erase_if(refused_, [&](const auto& r) { return r.first.first == key; });
    std::erase_if(begun_, [&](const auto& b) { return b.first.first == key; });
    written_.erase(key);
    halted_.erase(key);
    set_freshness(key, k8s::freshness::none);
    forget(key);
    co_return k8s::await_change();
  }
  const fleet_object p = *found;
  if (const auto ours = written_.find(key); ours != written_.end()) {
    if (p.meta.resource_version < ours->second.version && on_.loop().now() < ours->second.until)
      co_return k8s::requeue_after(view_retry);
    written_.erase(ours);
  }
  if (p.meta.deleting()) {
    fleet_look leaving = co_await look(p);
    co_return co_await clean_up(std::move(leaving));
  }
  if (!p.spec_problem().empty()) {
    co_return co_await say_without_plan(p, fleet_reason::invalid_spec, p.spec_problem());
  }
  if (!p.meta.has_finalizer(names::cleanup)) {
    auto held = co_await set_finalizer(p, finalizer_is::wanted);
    if (!held) co_return held.error();
    co_return k8s::await_change();
  }
  fleet_look at = co_await look_and_ask(p);
  // Clusters that left while the process stops are none of an object's business.
  if (!on_.is_live() || !options_.fleet->is_discovered())
    co_return k8s::requeue_after(not_live_retry);
  if (!at.unknown.empty()) {
    // A start is no news for an object whose status was told before.
    if (at.is_read && p.status.revision > 0) co_return k8s::requeue_after(unknown_retry);
    auto said = co_await say_without_plan(p, fleet_reason::not_available, at.unknown);
    if (!said) co_return said.error();
    co_return k8s::requeue_after(unknown_retry);
  }
  const bool is_kept = p.status.digest == at.world.wanted && find_revision(at.world.wanted, p);
  if (!is_kept && has_grant(p)) {
    auto made = co_await make_revision(at);
    if (!made) co_return made.error();
    co_return k8s::await_change();
  }
  count(at);
  if (at.plan.halt.empty())
    halted_.erase(key);
  else
    halted_.insert(key);
  fleet_status s = status_after(p, at.world, at.plan, words_.holds);
  s.retried = std::string(p.meta.annotations.get(names::retry));
  if (s.retried != p.status.retried && !at.plan.notes_failure) s.failed_digest.clear();
  s.available_digest = at.available;
  for (revision_record& r : s.history)
    if (r.digest == at.world.wanted && r.revision == s.revision) {
      r.image_digest = at.held_at;
      r.signed_by = at.signed_by;
    }
  // What is only not known yet, at a start for example, is no news.
  const bool is_sure = std::ranges::none_of(at.world.members, [](const member& m) {
    return m.is_selected && m.seen == member::sight::lost;
  });
  const auto was = k8s::find_condition(p.status.conditions, fleet_condition::halted);
  const auto is = k8s::find_condition(s.conditions, fleet_condition::halted);
  // What may begin is asked of the status, so what ends a halt is told at once.
  const bool ends_halt = was && was->is_true() && !is->is_true();
  if (s != p.status && (is_sure || at.plan.notes_failure || ends_halt)) {
    auto said = co_await publish(p, s);
    if (!said) co_return said.error();
    if (is->is_true() && !(was && was->is_true())) tell(p, fleet_event::halted, is->message);
    if (s.proven_digest != p.status.proven_digest)
      tell(p, fleet_event::complete, "revision " + std::to_string(s.revision));
    if (at.plan.notes_failure) co_return k8s::await_change();
  }
  const auto progresses = k8s::find_condition(s.conditions, fleet_condition::progressing);
  set_freshness(key,
                progresses && progresses->is_true() ? k8s::freshness::close : k8s::freshness::none);
  const std::size_t left = start_deeds(at);
  keep(at);
  co_await prune(p);
  if (left > 0) co_return k8s::requeue_after(1s);
  // No event comes of a cluster that goes away.
  reactor::nanoseconds then = at.plan.wave ? look_again_while_moving : look_again_at_rest;
  if (at.look_again)
    then = std::clamp<reactor::nanoseconds>(*at.look_again - on_.loop().wall(), 100ms, then);
  co_return k8s::requeue_after(then);
}

std::string fleet_home::deed_text(const fleet_look& at, const member_plan& m) const {
  switch (m.does) {
    case deed::write:
      return m.digest == at.world.wanted ? "write revision " + std::to_string(at.number)
                                         : "write the revision before, " + m.digest;
    case deed::remove: return std::string(words_.removes);
    case deed::let_go: return std::string(words_.lets_go);
    case deed::nothing: break;
  }
  return {};
}

std::string revision_text(const fleet_look& at, const std::string& digest) {
  if (digest == at.world.wanted) return std::to_string(at.number);
  for (const revision_record& r : at.object.status.history)
    if (r.digest == digest) return std::to_string(r.revision);
  return digest.empty() ? std::string("-") : digest;
}

units::plan_row fleet_home::row_of(const fleet_look& at) const {
  const fleet_object& p = at.object;
  units::plan_row row;
  row.name = p.meta.key().text();
  row.target = at.wanted.ref;
  row.offered = at.available;
  units::add_problems(row.problems, words_.conditions, p.status.conditions);
  if (!p.spec_problem().empty()) {
    row.notes.push_back(p.spec_problem());
    return row;
  }
  if (!at.unknown.empty()) row.notes.push_back(at.unknown);
  if (!at.not_taken.empty()) row.notes.push_back(at.not_taken);
  row.halted = !at.plan.halt.empty();
  row.capacity = p.rollout.max_clusters.up(at.plan.members.size());
  for (std::size_t i = 0; i < at.plan.members.size(); ++i) {
    const member_plan& m = at.plan.members[i];
    units::unit u;
    u.name = m.cluster;
    u.state = text(m.is);
    u.is = standing_of(m.is);
    u.message = at.world.members[i].message;
    u.details = {
        {.key = "wave", .value = p.rollout.wave_name(m.wave), .column = "WAVE", .label = "wave"},
        {.key = "revision",
         .value = revision_text(at, at.world.members[i].digest),
         .column = "REVISION",
         .label = "revision"},
    };
    row.updated += m.is == member_state::ready;
    row.updating += m.is == member_state::moving || m.is == member_state::waiting;
    row.degraded += m.is == member_state::failed;
    row.occupied += m.is == member_state::moving;
    if (m.does != deed::nothing) {
      row.start.push_back(m.cluster);
      row.actions.push_back({deed_text(at, m), m.cluster});
    }
    if (m.hold) {
      row.holds.push_back(*m.hold);
      row.forecast.push_back(*m.hold);
    }
    row.units.push_back(std::move(u));
  }
  return row;
}

/// What each look has to know first, of many at the same time and while clusters are waited for.
awaitable<void> fleet_home::prepare_all() {
  const std::vector<fleet_object> all = objects();
  std::function<awaitable<void>(std::size_t)> one = [&](std::size_t i) -> awaitable<void> {
    co_await load_current(all[i]);
    (void)co_await prepare(all[i]);
  };
  co_await reactor::side_by_side(all.size(), std::move(one));
}

awaitable<std::vector<fleet_look>> fleet_home::look_at_all() {
  const reactor::gate::visit here(overviews_);
  // Who looks once has just come; clusters are not there before home.
  const auto waits_for_clusters = [this] {
    if (!options_.fleet->is_discovered()) return true;
    return std::ranges::any_of(options_.fleet->clusters(), [this](k8s::cluster* c) {
      const k8s::engagement* api = c->find(words_.api);
      return api && !api->is_settled();
    });
  };
  if (looks_only()) co_await prepare_all();
  while (!stopping_ && on_.loop().now() < patient_until_ && waits_for_clusters())
    co_await on_.loop().sleep_for(look_again_for_clusters);
  std::vector<fleet_look> all;
  for (const fleet_object& p : objects()) {
    if (stopping_) break;
    fleet_look at = co_await look_and_ask(p);
    all.push_back(std::move(at));
  }
  co_return all;
}

awaitable<std::vector<units::plan_row>> fleet_home::overview() {
  const std::vector<fleet_look> all = co_await look_at_all();
  std::vector<units::plan_row> rows;
  for (const fleet_look& at : all) rows.push_back(row_of(at));
  co_return rows;
}

}  // namespace fleetwide
