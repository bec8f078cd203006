// One pass over a Tenant: what is asked, what is planned, and the steps that are over in a moment.
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/cluster/workspace_writes.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/published.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "reactor/turn.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::log_level;

constexpr reactor::nanoseconds not_live_retry = 5s;
/// Finalizer, namespace, deletion: no way leads through more steps without an operation between
/// them.
constexpr int most_steps = 12;
/// A check that comes a tenth too early is one, too: passes are spread by that.
constexpr double early = 0.85;

/// The complaint is in the object's conditions already.
bool is_said(const tenant& t, const std::string& cluster, happening what,
             const std::string& message) {
  const std::string type = std::string(condition_prefix::error) + cluster;
  const k8s::condition* is = k8s::find_condition(t.status.conditions, type);
  return is && is->is_true() && is->reason == kind_of(what).error.reason &&
         is->message == safe_message(message);
}

}  // namespace

tenant_world tenant_cluster::world_of(const tenant& t) const {
  const auto wanted = options_.wanted();
  tenant_world w;
  w.object = t;
  w.cluster = on_.on().name();
  k8s::server_names names = options_.server();
  w.names_here = std::move(names.all);
  w.primary = std::move(names.primary);
  w.discovery_ns = wanted->all.ns;
  w.reserved = reserved_by(wanted->all);
  w.wanted = wanted->release;
  w.on_drift = wanted->all.drift;
  w.skip = wanted->all.skip;
  w.now = on_.loop().wall();
  return w;
}

attempt_key tenant_cluster::attempt_of(const tenant& t, const desired_release& wanted) const {
  attempt_key out;
  out.generation = t.meta.generation;
  out.fingerprint = wanted.fingerprint;
  out.credentials = on_.on().hash();
  out.connection = connection_;
  out.asked = std::string(t.meta.annotations.get(names::retry));
  return out;
}

awaitable<k8s::result<tenant_world>> tenant_cluster::gather(key_type key,
                                                            std::optional<tenant> fresh) {
  if (!fresh) {
    const tenant* seen = tenants_.find(key);
    if (!seen) co_return tenant_world{};
    fresh = *seen;
  }
  const tenant t = std::move(*fresh);
  tenant_world w = world_of(t);
  if (const memory* m = find(key)) w.mismatch_told = m->mismatch_told;
  const bool carries_ours = t.meta.deleting() && !t.fingerprint(w.cluster).empty();
  if (concern_of(t, w) != concern::ours && !carries_ours) co_return w;

  const std::string ns = t.workload_namespace();
  auto workspace = co_await reads_.workspace(ns);
  if (!workspace) co_return workspace.error();
  w.workspace = std::move(*workspace);
  if (w.workspace.is != workspace_facts::state::absent) {
    std::optional<known_release> known;
    if (const memory* m = find(key)) known = m->release;
    auto found = co_await reads_.release(ns, names::release_name(t.meta.name.view(), w.cluster),
                                         std::move(known));
    if (!found) co_return found.error();
    if (*found) w.release = (*found)->facts;
    if (memory* m = find(key)) m->release = *found;
    const bool noted = t.fingerprint(w.cluster) == w.wanted.fingerprint;
    if (*found && w.release->state == release::status::deployed && noted &&
        options_.does == units::mode::act && w.on_drift != drift_mode::off)
      co_await look_for_drift(key, **found);
  } else if (memory* m = find(key)) {
    m->release.reset();
  }

  if (is_change(t, w)) {
    std::string changed = w.wanted.fingerprint;
    w.held = co_await turn_of(key, std::move(changed));
  }

  // From here on nothing is waited for, so that all of it is of one moment.
  tenants_.objects().each_by("namespace", ns, [&](const tenant& other) {
    if (other.meta.key() == key || concern_of(other, world_of(other)) != concern::ours) return;
    names::owner_reference who{std::string(names::tenant_kind), other.meta.key()};
    w.others.push_back({std::move(who), other.created});
  });
  // For whom we made the namespace has it as long as that object is there, whatever cluster it is
  // meant for by now.
  const auto named = names::read_owner(w.workspace.owner);
  if (named && named->kind == names::tenant_kind && named->key != key) {
    const auto is_named = [&](const claimant& c) { return c.who == *named; };
    const tenant* owner = tenants_.find(named->key);
    if (owner && std::ranges::none_of(w.others, is_named))
      w.others.push_back({*named, owner->created});
  }
  memory* m = find(key);
  if (!m) co_return w;
  const bool pending = w.release && release::is_pending(w.release->state);
  if (!pending) {
    m->pending_seen.reset();
  } else if (!m->pending_seen || m->pending_revision != w.release->revision) {
    m->pending_seen = w.now;
    m->pending_revision = w.release->revision;
  }
  w.pending_seen = m->pending_seen;
  m->chart.want(w.wanted.chart);
  w.chart = m->chart.facts();
  w.drift = m->drift;
  w.attempt = attempt_of(t, w.wanted);
  w.retry_in = m->tries.left(w.attempt, on_.loop().now());
  if (m->running) w.running = m->running->what;
  w.applied = m->applied;
  w.skip_told = m->skip_told;
  w.drift_told = m->drift_told;
  w.deleting_namespace_since = m->deleting_namespace_since;
  co_return w;
}

awaitable<void> tenant_cluster::look_for_drift(key_type key, known_release release) {
  const reactor::steady_time now = on_.loop().now();
  memory* m = find(key);
  if (!m) co_return;
  const auto interval = options_.wanted()->all.check_interval;
  const auto due = reactor::nanoseconds(
      static_cast<std::int64_t>(early * static_cast<double>(interval.count())));
  if (!m->drift_looked) {  // whoever starts has more urgent things to do
    m->drift_looked = now;
    co_return;
  }
  if (now - *m->drift_looked < due) co_return;
  m->drift_looked = now;
  std::vector<std::string> missing = co_await reads_.missing(std::move(release.objects));
  m = find(key);
  if (m) m->drift.missing = std::move(missing);
}

k8s::result<k8s::next> tenant_cluster::refused(const key_type& key, const k8s::fault& why) {
  if (why.cancelled || why.code == k8s::errc::unavailable || why.code == k8s::errc::unauthorized ||
      why.code == k8s::errc::throttled)
    return why;  // of the connection, and told as that
  memory* m = find(key);
  const tenant* t = tenants_.find(key);
  if (m && t && std::exchange(m->refused_told, why.message()) != why.message()) {
    tell(*t, tenant_event::config_init_failed, why.message());
    log(log_level::warning, "the cluster does not say what is there", *t, why.message());
  }
  return k8s::requeue_after(pause_after(setback::helm_setup, 1));
}

turn_of_events tenant_cluster::turn_for(const tenant_plan& p) const {
  const auto wanted = options_.wanted();
  turn_of_events turn;
  turn.cluster = on_.on().name();
  turn.what = p.is.value_or(happening::waiting);
  turn.message = p.message;
  turn.applied_chart = p.applied_chart;
  turn.skip = wanted->all.skip;
  turn.plan = published(p, wanted->release, turn.cluster);
  turn.known = options_.known;
  return turn;
}

bool tenant_cluster::would_say(const tenant& t, const tenant_plan& p) const {
  const turn_of_events turn = turn_for(p);
  if (!p.is && !turn.plan) return false;
  return !(status_after(t, turn, on_.loop().wall()) == t.status);
}

awaitable<k8s::result<k8s::next>> tenant_cluster::pass(key_type key) {
  std::optional<tenant> fresh;
  bool is_fresh = false;
  for (int steps = 0; steps < most_steps; ++steps) {
    if (stopping_) co_return k8s::await_change();
    if (!on_.is_live()) co_return k8s::requeue_after(not_live_retry);
    const tenant* seen = tenants_.find(key);
    memory* m = find(key);
    const bool other = m && seen && !(m->uid == seen->meta.uid);
    if (m && m->running && (!seen || other || m->running->ended.is_set())) {
      co_await end_operation(key, stop_limit);
      continue;
    }
    if (!seen || other) forget(key);
    if (!seen) co_return k8s::await_change();
    if (!find(key)) known_[key].uid = seen->meta.uid;
    m = find(key);
    if (m->unsaved) {
      const memory::unsaid what = *m->unsaved;
      tenant about = fresh ? *fresh : *seen;
      const said again = co_await say(key, std::move(about), what.what, what.message,
                                      what.applied_chart, what.plan);
      if (!again.well) co_return k8s::requeue_after(pause_after(setback::status_write, 1));
      if (again.now) fresh = again.now;
    }
    auto world = co_await gather(key, fresh);
    if (!world) co_return refused(key, world.error());
    tenant_world w = std::move(*world);
    if (memory* known = find(key)) known->refused_told.clear();
    if (!w.object) co_return k8s::await_change();
    tenant_plan p = plan_tenant(w);
    // The view may be behind: whoever writes decides on what the server says.
    if (!is_fresh && (p.next != step::none || would_say(*w.object, p))) {
      auto now = co_await writes_.current(key);
      if (!now) co_return refused(key, now.error());
      if (!*now) co_return k8s::await_change();  // the watch is about to say so
      is_fresh = true;
      const bool same = (*now)->meta.resource_version == w.object->meta.resource_version;
      fresh = std::move(**now);
      if (!same) continue;
    }
    const bool ours = concern_of(*w.object, w) == concern::ours || p.action != "none";
    if (memory* known = find(key))
      known->stands = standing_after(known->stands, w.wanted.fingerprint,
                                     w.object->fingerprint(w.cluster), p, w.now);
    remember(key, ours ? std::optional(p) : std::nullopt);
    stepped led = co_await carry_out(key, std::move(w), std::move(p));
    if (!led.again) co_return led.then;
    fresh = std::move(led.fresh);
    is_fresh = fresh.has_value();
    if (reactor::turn::is_over()) co_await reactor::turn::give_way();
  }
  co_return k8s::requeue_after(1s);
}

awaitable<tenant_cluster::stepped> tenant_cluster::carry_out(key_type key, tenant_world w,
                                                             tenant_plan p) {
  switch (p.next) {
    case step::none: co_return co_await rest(key, std::move(w), std::move(p));
    case step::add_finalizer:
    case step::remove_finalizer:
      co_return co_await change_finalizer(key, std::move(w), std::move(p));
    case step::create_namespace: co_return co_await make_namespace(key, std::move(w), std::move(p));
    case step::delete_namespace:
      co_return co_await remove_namespace(key, std::move(w), std::move(p));
    case step::note_fingerprint: co_return co_await note(key, std::move(w));
    case step::mark_deleting: co_return co_await mark_deleting(key, std::move(w), std::move(p));
    case step::recover: co_return co_await end_abandoned(key, std::move(w), std::move(p));
    case step::load_chart: start_loading(key, w); break;
    case step::install: start_operation(key, operation::install); break;
    case step::upgrade: start_operation(key, operation::upgrade); break;
    case step::finish_uninstall:
    case step::uninstall: start_operation(key, operation::uninstall); break;
    case step::stop_operation: {
      co_await end_operation(key, stop_limit);
      stepped on;
      on.again = true;
      co_return on;
    }
  }
  co_return stepped{};
}

/// Nothing to do now: it is said, and when to look again.
awaitable<tenant_cluster::stepped> tenant_cluster::rest(key_type key, tenant_world w,
                                                        tenant_plan p) {
  stepped out;
  const auto wanted = options_.wanted();
  tell_all(*w.object, p.events);
  if (memory* m = find(key)) {
    for (const told& e : p.events) {
      if (e.what.reason == tenant_event::skip.reason) {
        m->skip_told = w.object->meta.generation;
        log(log_level::info, log_line::unchanged, *w.object);
        count_operation("skip", "success");
      }
      if (e.what.reason == tenant_event::drift_detected.reason) m->drift_told = e.note;
      if (e.what.reason == tenant_event::cluster_ref_mismatch.reason) m->mismatch_told = true;
      if (p.is && kind_of(*p.is).event && kind_of(*p.is).event->reason == e.what.reason &&
          e.what.type == k8s::event_severity::warning && !kind_of(*p.is).log_line.empty())
        log(log_level::warning, kind_of(*p.is).log_line, *w.object, p.message);
    }
  }
  std::optional<nanoseconds> again = p.again_in;
  if (again && *again == nanoseconds::max()) again.reset();
  // Whoever works on it ends sooner than it counts as abandoned.
  if (again && p.hold && p.hold->code == hold_code::release_pending.code)
    again = std::min(*again, wanted->all.check_interval);
  const bool skips = p.action == "skip";
  const bool may_be_freed = p.hold && (p.hold->code == hold_code::conflict.code ||
                                       p.hold->code == hold_code::drifted.code);
  if (!again && (skips || may_be_freed))
    again = next_check(wanted->all.check_interval, on_.loop().random());
  std::optional<k8s::condition> plan = published(p, w.wanted, w.cluster);
  if (p.is || plan) {
    const happening what = p.is.value_or(happening::waiting);
    const said told =
        co_await say(key, *w.object, what, p.message, p.applied_chart, std::move(plan));
    const nanoseconds retry = pause_after(setback::status_write, 1);
    if (!told.well) again = again ? std::min(*again, retry) : retry;
  }
  if (again) out.then = k8s::requeue_after(*again);
  co_return out;
}

awaitable<tenant_cluster::stepped> tenant_cluster::change_finalizer(key_type key, tenant_world w,
                                                                    tenant_plan p) {
  using is = tenant_writes::finalizer_is;
  const bool adds = p.next == step::add_finalizer;
  stepped out;
  const tenant about = *w.object;
  written_tenant end =
      co_await writes_.set_finalizer(*std::move(w.object), adds ? is::wanted : is::done);
  if (end.is == written_tenant::end::conflict) {
    out.again = true;
    co_return out;
  }
  if (end.is == written_tenant::end::failed) {
    log(log_level::warning, "the finalizer cannot be written", about, end.why);
    out.then = k8s::requeue_after(pause_after(setback::finalizer, 1));
    co_return out;
  }
  tell_all(about, p.events);
  if (!adds || end.is == written_tenant::end::gone) {
    forget(key);
    co_return out;
  }
  out.again = true;
  out.fresh = std::move(end.now);
  co_return out;
}

awaitable<tenant_cluster::stepped> tenant_cluster::make_namespace(key_type key, tenant_world w,
                                                                  tenant_plan p) {
  stepped out;
  names::owner_reference owner{std::string(names::tenant_kind), key};
  auto made = co_await create_workspace(on_.api(), p.workspace, std::move(owner));
  if (made) {
    if (*made) {
      tell(*w.object, tenant_event::workspace_created, p.workspace);
      log(log_level::info, log_line::namespace_made, *w.object);
    }
    out.again = true;
    out.fresh = std::move(w.object);
    co_return out;
  }
  const std::string why = made.error().message();
  if (memory* m = find(key)) m->tries.failed(setback::namespace_, w.attempt, on_.loop().now());
  if (!is_said(*w.object, w.cluster, happening::namespace_failed, why))
    tell(*w.object, tenant_event::workspace_create_failed, why);
  (void)co_await say(key, *w.object, happening::namespace_failed, why);
  out.then = k8s::requeue_after(pause_after(setback::namespace_, 1));
  co_return out;
}

awaitable<tenant_cluster::stepped> tenant_cluster::remove_namespace(key_type key, tenant_world w,
                                                                    tenant_plan p) {
  stepped out;
  names::owner_reference me{std::string(names::tenant_kind), key};
  auto gone = co_await delete_workspace(on_.api(), p.workspace, std::move(me));
  if (!gone) {
    if (memory* m = find(key)) m->tries.failed(setback::operation, w.attempt, on_.loop().now());
    log(log_level::warning, "the namespace cannot be deleted", *w.object, gone.error().message());
    out.then = k8s::requeue_after(pause_after(setback::finalizer, 1));
    co_return out;
  }
  tell_all(*w.object, p.events);
  if (memory* m = find(key)) m->deleting_namespace_since = on_.loop().wall();
  out.again = true;
  out.fresh = std::move(w.object);
  co_return out;
}

awaitable<tenant_cluster::stepped> tenant_cluster::note(key_type key, tenant_world w) {
  stepped out;
  const bool noted = co_await note_fingerprint(key, *w.object, w.wanted.fingerprint);
  if (!noted) {
    if (memory* m = find(key)) m->tries.failed(setback::status_write, w.attempt, on_.loop().now());
    out.then = k8s::requeue_after(pause_after(setback::status_write, 1));
  } else {
    out.again = true;
  }
  co_return out;
}

awaitable<tenant_cluster::stepped> tenant_cluster::mark_deleting(key_type key, tenant_world w,
                                                                 tenant_plan p) {
  stepped out;
  written_tenant end = co_await writes_.annotate(key, std::string(names::deleting), "true");
  if (end.is == written_tenant::end::failed) {
    log(log_level::warning, "the Tenant cannot be marked as going", *w.object, end.why);
    out.then = k8s::requeue_after(pause_after(setback::finalizer, 1));
    co_return out;
  }
  if (end.is == written_tenant::end::gone) co_return out;
  tell_all(*w.object, p.events);
  tenant now = end.now ? std::move(*end.now) : std::move(*w.object);
  std::optional<k8s::condition> plan = published(p, w.wanted, w.cluster);
  said told = co_await say(key, now, *p.is, p.message, {}, std::move(plan));
  out.again = true;
  out.fresh = told.now ? std::move(told.now) : std::optional(std::move(now));
  co_return out;
}

awaitable<tenant_cluster::stepped> tenant_cluster::end_abandoned(key_type key, tenant_world w,
                                                                 tenant_plan p) {
  stepped out;
  operation_order of = order_of(options_.wanted()->all);
  of.release = p.release;
  of.ns = p.workspace;
  auto ended = co_await end_pending(on_.loop(), on_.api(), std::move(of), w.release->revision);
  if (!ended) {
    log(log_level::warning, "a pending release cannot be recovered", *w.object, ended.error().text);
    out.then = k8s::requeue_after(pause_after(setback::operation, 1));
    co_return out;
  }
  log(log_level::warning, "a pending release was recovered", *w.object, p.reason);
  tell_all(*w.object, p.events);
  if (memory* m = find(key)) m->pending_seen.reset();
  out.again = true;
  out.fresh = std::move(w.object);
  co_return out;
}

void tenant_cluster::start_loading(const key_type& key, const tenant_world& w) {
  memory* m = find(key);
  if (!m || !m->chart.ask(w.wanted.chart)) return;
  tasks_.start("chart for " + key.text(), load(key, w.wanted.chart, w.attempt));
}

awaitable<void> tenant_cluster::load(key_type key, chart_coordinates c, attempt_key at) {
  supplied_chart got = co_await options_.charts->get(c);
  memory* m = find(key);
  if (!m) co_return;
  const chart_memory::arrival came = m->chart.take(c, std::move(got));
  if (came == chart_memory::arrival::unwanted) co_return;
  if (came == chart_memory::arrival::refused) m->tries.failed(setback::chart, at, on_.loop().now());
  controller_.add(key);
}

}  // namespace helm::tenants
