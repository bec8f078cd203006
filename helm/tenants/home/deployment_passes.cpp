// One pass over a KryptonDeployment: what home and its region are asked, what is planned, and the
// steps that are over in a moment.
#include "helm/tenants/cluster/workspace_writes.hpp"
#include "helm/tenants/home/deployment_under_way.hpp"
#include "helm/tenants/home/deployments_at_home.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::log_level;

constexpr reactor::nanoseconds home_not_live_retry = 5s, region_unknown_retry = 1s,
                               unreadable_retry = 30s;
/// No way leads through more steps without an operation between them.
constexpr int most_deployment_steps = 12;

/// Not an answer of the region's, but the lack of one.
bool is_of_the_connection(const k8s::fault& f) noexcept {
  return f.cancelled || f.code == k8s::errc::unavailable || f.code == k8s::errc::unauthorized ||
         f.code == k8s::errc::throttled;
}

std::string_view noted_for(const krypton_deployment& d, const k8s::object_key& target) {
  return d.meta.annotations.get(names::deployment_fingerprint_annotation(target.ns, target.name));
}

bool is_as_asked_for(const deployment_world& w, const k8s::object_key& target) {
  return w.release && w.release->state == release::status::deployed &&
         noted_for(*w.object, target) == w.wanted.fingerprint;
}

/// What `lastAppliedChart` says from now on; empty where that is not certain.
std::string applied_chart(const deployment_world& w, const k8s::object_key& target) {
  return is_as_asked_for(w, target) ? w.wanted.chart.text() : std::string();
}

}  // namespace

awaitable<deployments_at_home::gathered> deployments_at_home::gather(key_type key,
                                                                     krypton_deployment about) {
  gathered g;
  deployment_world& w = g.world;
  const auto wanted = options_.wanted();
  w.discovery_ns = wanted->all.ns;
  w.reserved = reserved_by(wanted->all);
  const names::owner_reference me{std::string(names::deployment_kind), key};
  const region_rules rules{wanted->all.ns, wanted->all.region_secrets_in};
  if (options_.does == units::mode::look) co_await remember();
  w.check_interval = wanted->all.check_interval;
  w.wanted = wanted->in_regions.release;
  const k8s::object_key target = target_of(about, w.discovery_ns);
  w.object = std::move(about);
  if (target.name.empty()) {
    w.edge = {edge_facts::state::secret_missing, "spec.region.name is empty"};
  } else if (std::string why = rules.problem_with(target); !why.empty()) {
    g.to.secret = target;
    w.edge = {edge_facts::state::not_granted, std::move(why)};
  } else {
    auto to = visit_to(target);
    if (!to) {
      g.again_soon = true;
      co_return g;
    }
    g.to = std::move(*to);
    w.edge = g.to.edge;
    why = rules.problem_with(target, g.to.grant, w.object->meta.ns.view());
    const bool is_there = w.edge.is != edge_facts::state::secret_missing;
    if (is_there && !why.empty()) w.edge = {edge_facts::state::not_granted, std::move(why)};
    if (w.edge.is == edge_facts::state::ready) co_await look_at_region(key, g);
    const bool others = !w.workspace.owner.empty() && names::read_owner(w.workspace.owner) != me;
    if (w.release && !others && options_.does == units::mode::act)
      co_await note_place(*w.object, target);
  }
  const auto& places = places_.of(key, w.object->meta.uid);
  w.was_there = std::ranges::find(places, target) != places.end();

  // From here on nothing is waited for, so that all of it is of one moment.
  w.now = on_.loop().wall();
  for (const k8s::object_key& former : former_targets(*w.object, target)) {
    const auto there = visit_to(former);
    edge_facts edge{edge_facts::state::down, "it is not known yet"};
    if (there) edge = there->edge;
    w.former.push_back({former, std::move(edge)});
  }
  add_claimants(w, g.to);
  memory* m = find(key);
  if (!m) co_return g;
  if (!w.release || !release::is_pending(w.release->state)) {
    m->pending_seen.reset();
  } else if (!m->pending_seen || m->pending_revision != w.release->revision) {
    m->pending_seen = w.now;
    m->pending_revision = w.release->revision;
  }
  w.pending_seen = m->pending_seen;
  m->chart.want(w.wanted.chart);
  w.chart = m->chart.facts();
  w.workloads = m->workloads;
  w.attempt = attempt_of(*w.object, g.to, w.wanted);
  w.retry_in = m->tries.left(w.attempt, on_.loop().now());
  if (m->running && !m->running->ended.is_set()) w.running = m->running->what;
  w.applied = m->applied;
  w.account_told = m->account_told;
  w.routing_told = m->routing_told;
  w.cleaning_since = m->cleaning_since;
  w.deleting_namespace_since = m->deleting_namespace_since;
  co_return g;
}

awaitable<void> deployments_at_home::look_at_region(key_type key, gathered& g) {  // borrowed
  deployment_world& w = g.world;
  const std::string name = w.object->meta.name.str();
  const names::owner_reference me{std::string(names::deployment_kind), key};
  cluster_reads reads(on_.loop(), g.to.at->api(), options_.wanted()->all);
  const auto refused = [&](const k8s::fault& why) {
    if (!is_of_the_connection(why)) {
      g.unreadable = why.message();
      return;
    }
    w.edge = {edge_facts::state::down, why.message()};
  };
  auto workspace = co_await reads.workspace(name);
  if (!workspace) co_return refused(workspace.error());
  w.workspace = std::move(*workspace);
  if (names::read_owner(w.workspace.owner) != me) {
    auto tenants = co_await reads.tenants_called(name);
    if (!tenants) co_return refused(tenants.error());
    w.others = std::move(*tenants);
  }
  std::optional<known_release> known;
  if (const memory* m = find(key)) known = m->release;
  auto found = co_await reads.release(name, names::deployment_release_name(name), std::move(known));
  if (!found) co_return refused(found.error());
  if (*found) w.release = (*found)->facts;
  if (memory* m = find(key)) m->release = *found;
  if (*found && is_as_asked_for(w, g.to.secret) && !w.object->meta.deleting())
    w.missing = co_await reads.missing((*found)->objects);
}

awaitable<k8s::result<k8s::next>> deployments_at_home::pass(key_type key) {
  std::optional<krypton_deployment> fresh;
  bool is_fresh = false;
  if (memory* m = find(key)) m->workloads.reset();
  for (int steps = 0; steps < most_deployment_steps; ++steps) {
    if (stopping_) co_return k8s::await_change();
    if (!on_.is_live()) co_return k8s::requeue_after(home_not_live_retry);
    const krypton_deployment* seen = objects_.find(key);
    memory* m = find(key);
    const bool other = m && seen && !(m->uid == seen->meta.uid);
    if (m && m->running && (!seen || other || m->running->ended.is_set())) {
      co_await end_operation(key, stop_limit);
      continue;
    }
    if (!seen || other) forget(key);
    if (!seen) co_return k8s::await_change();
    if (!find(key)) known_[key].uid = seen->meta.uid;
    krypton_deployment about = fresh ? *fresh : *seen;
    gathered g = co_await gather(key, std::move(about));
    if (g.again_soon) co_return k8s::requeue_after(region_unknown_retry);
    deployment_plan p;
    if (g.unreadable.empty())
      p = plan_deployment(g.world);
    else
      p.is = unreadable_region(g.unreadable);
    const krypton_deployment& planned_for = *g.world.object;
    const bool would_say =
        p.is && !(status_after(planned_for, *p.is, applied_chart(g.world, g.to.secret),
                               on_.loop().wall()) == planned_for.status);
    // The view may be behind: whoever writes decides on what the server says.
    if (!is_fresh && (p.next != deployment_step::none || would_say)) {
      auto now = co_await writes_.current(key);
      if (!now) co_return now.error();
      if (!*now) co_return k8s::await_change();  // the watch is about to say so
      is_fresh = true;
      const bool same = (*now)->meta.resource_version == planned_for.meta.resource_version;
      fresh = std::move(**now);
      if (!same) continue;
    }
    if (memory* known = find(key)) known->last = p;
    ++revision_;
    stepped led;
    if (!g.unreadable.empty())
      led = co_await say_unreadable(std::move(g));
    else
      led = co_await carry_out(key, std::move(g), std::move(p));
    if (!led.again) co_return led.then;
    fresh = std::move(led.fresh);
    is_fresh = fresh.has_value();
  }
  co_return k8s::requeue_after(1s);
}

awaitable<deployments_at_home::stepped> deployments_at_home::carry_out(key_type key, gathered g,
                                                                       deployment_plan p) {
  switch (p.next) {
    case deployment_step::none: co_return co_await rest(std::move(g), std::move(p));
    case deployment_step::add_finalizer:
    case deployment_step::remove_finalizer:
      co_return co_await change_finalizer(key, std::move(g), std::move(p));
    case deployment_step::create_namespace:
      co_return co_await make_namespace(key, std::move(g), std::move(p));
    case deployment_step::delete_namespace:
      co_return co_await remove_namespace(key, std::move(g), std::move(p));
    case deployment_step::tell_deletion:
      co_return co_await tell_deletion(key, std::move(g), std::move(p));
    case deployment_step::recover:
      co_return co_await end_abandoned(key, std::move(g), std::move(p));
    case deployment_step::note_fingerprint: co_return co_await note(key, std::move(g));
    case deployment_step::look_at_workloads: {
      cluster_reads reads(on_.loop(), g.to.at->api(), options_.wanted()->all);
      auto all = co_await reads.workloads(p.workspace, p.release);
      if (memory* m = find(key))
        m->workloads = all ? judge(*all) : not_listed(all.error().message());
      stepped on;
      on.again = true;
      on.fresh = std::move(g.world.object);
      co_return on;
    }
    case deployment_step::stop_operation: {
      co_await end_operation(key, stop_limit);
      stepped on;
      on.again = true;
      co_return on;
    }
    case deployment_step::load_chart: start_loading(key, g); break;
    case deployment_step::install: start_operation(key, operation::install, p.next, g.to); break;
    case deployment_step::upgrade: start_operation(key, operation::upgrade, p.next, g.to); break;
    case deployment_step::finish_uninstall:
    case deployment_step::uninstall:
      start_operation(key, operation::uninstall, p.next, g.to);
      break;
    case deployment_step::leave_former_region:
      if (p.is) (void)co_await say(*g.world.object, *p.is, applied_chart(g.world, g.to.secret));
      if (auto there = visit_to(*p.leaving))
        start_operation(key, operation::uninstall, p.next, std::move(*there));
      break;
  }
  co_return stepped{};
}

/// Nothing to do now: it is said, and when to look again.
awaitable<deployments_at_home::stepped> deployments_at_home::rest(gathered g, deployment_plan p) {
  stepped out;
  const krypton_deployment& about = *g.world.object;
  tell_all(about, p.events);
  if (g.world.edge.is != edge_facts::state::ready) note_failed_cleaning(about);
  std::optional<nanoseconds> again = p.again_in;
  if (again && *again == nanoseconds::max()) again.reset();
  if (p.is) {
    const bool well = co_await say(about, *p.is, applied_chart(g.world, g.to.secret));
    const nanoseconds retry = pause_after(setback::status_write, 1);
    if (!well) again = again ? std::min(*again, retry) : retry;
  }
  if (again) out.then = k8s::requeue_after(*again);
  co_return out;
}

awaitable<deployments_at_home::stepped> deployments_at_home::say_unreadable(gathered g) {
  stepped out;
  const krypton_deployment& about = *g.world.object;
  note_failed_cleaning(about);
  (void)co_await say(about, unreadable_region(g.unreadable), std::string());
  out.then = k8s::requeue_after(unreadable_retry);
  co_return out;
}

awaitable<deployments_at_home::stepped> deployments_at_home::change_finalizer(key_type key,
                                                                              gathered g,
                                                                              deployment_plan p) {
  using is = object_writes<krypton_deployment>::finalizer_is;
  const bool adds = p.next == deployment_step::add_finalizer;
  stepped out;
  const krypton_deployment about = *g.world.object;
  if (!adds) {
    auto forgotten = co_await places_.forget(key);
    say_unnoted(forgotten, about);
  }
  auto end =
      co_await writes_.set_finalizer(*std::move(g.world.object), adds ? is::wanted : is::done);
  if (end.is == write_end::conflict) {
    out.again = true;
    co_return out;
  }
  if (end.is == write_end::failed) {
    log(log_level::warning, "the finalizer cannot be written", about, end.why);
    out.then = k8s::requeue_after(pause_after(setback::finalizer, 1));
    co_return out;
  }
  tell_all(about, p.events);
  if (!adds || end.is == write_end::gone) {
    forget(key);
    co_return out;
  }
  out.again = true;
  out.fresh = std::move(end.now);
  co_return out;
}

awaitable<deployments_at_home::stepped> deployments_at_home::make_namespace(key_type key,
                                                                            gathered g,
                                                                            deployment_plan p) {
  stepped out;
  tell_all(*g.world.object, p.events);
  co_await note_place(*g.world.object, g.to.secret);
  names::owner_reference owner{std::string(names::deployment_kind), key};
  auto made = co_await create_workspace(g.to.at->api(), p.workspace, std::move(owner));
  if (made) {
    if (*made) {
      tell(*g.world.object, deployment_event::namespace_created, p.workspace);
      log(log_level::info, log_line::namespace_made, *g.world.object);
    }
    out.again = true;
    out.fresh = std::move(g.world.object);
    co_return out;
  }
  const std::string why = made.error().message();
  if (memory* m = find(key))
    m->tries.failed(setback::namespace_, g.world.attempt, on_.loop().now());
  log(log_level::warning, "the namespace cannot be made", *g.world.object, why);
  (void)co_await say(*g.world.object, failed_namespace(why), std::string());
  out.then = k8s::requeue_after(pause_after(setback::namespace_, 1));
  co_return out;
}

awaitable<deployments_at_home::stepped> deployments_at_home::remove_namespace(key_type key,
                                                                              gathered g,
                                                                              deployment_plan p) {
  stepped out;
  names::owner_reference me{std::string(names::deployment_kind), key};
  auto gone = co_await delete_workspace(g.to.at->api(), p.workspace, std::move(me));
  memory* m = find(key);
  if (!gone) {
    if (m) {
      m->tries.failed(setback::edge_operation, g.world.attempt, on_.loop().now());
      if (m->cleaning_since == reactor::wall_time{}) m->cleaning_since = on_.loop().wall();
    }
    log(log_level::warning, "the namespace cannot be deleted", *g.world.object,
        gone.error().message());
    out.then = k8s::requeue_after(pause_after(setback::finalizer, 1));
    co_return out;
  }
  tell_all(*g.world.object, p.events);
  if (m) m->deleting_namespace_since = on_.loop().wall();
  out.again = true;
  out.fresh = std::move(g.world.object);
  co_return out;
}

awaitable<deployments_at_home::stepped> deployments_at_home::tell_deletion(key_type key, gathered g,
                                                                           deployment_plan p) {
  stepped out;
  auto end = co_await writes_.annotate(key, std::string(names::deleting), "true");
  if (end.is == write_end::failed) {
    log(log_level::warning, "it cannot be marked as going", *g.world.object, end.why);
    out.then = k8s::requeue_after(pause_after(setback::finalizer, 1));
    co_return out;
  }
  if (end.is == write_end::gone) co_return out;
  tell_all(*g.world.object, p.events);
  out.again = true;
  out.fresh = end.now ? std::move(end.now) : std::move(g.world.object);
  co_return out;
}

awaitable<deployments_at_home::stepped> deployments_at_home::end_abandoned(key_type key, gathered g,
                                                                           deployment_plan p) {
  stepped out;
  operation_order of = order_of(options_.wanted()->all);
  of.release = p.release;
  of.ns = p.workspace;
  auto ended =
      co_await end_pending(on_.loop(), g.to.at->api(), std::move(of), g.world.release->revision);
  if (!ended) {
    log(log_level::warning, "a pending release cannot be recovered", *g.world.object,
        ended.error().text);
    out.then = k8s::requeue_after(pause_after(setback::operation, 1));
    co_return out;
  }
  log(log_level::warning, "a pending release was recovered", *g.world.object, p.reason);
  tell_all(*g.world.object, p.events);
  if (memory* m = find(key)) m->pending_seen.reset();
  out.again = true;
  out.fresh = std::move(g.world.object);
  co_return out;
}

awaitable<deployments_at_home::stepped> deployments_at_home::note(key_type key, gathered g) {
  stepped out;
  const bool noted =
      co_await note_fingerprint(key, *g.world.object, g.to.secret, g.world.wanted.fingerprint);
  if (noted) {
    out.again = true;
    co_return out;
  }
  if (memory* m = find(key))
    m->tries.failed(setback::status_write, g.world.attempt, on_.loop().now());
  out.then = k8s::requeue_after(pause_after(setback::status_write, 1));
  co_return out;
}

void deployments_at_home::start_loading(const key_type& key, const gathered& g) {
  memory* m = find(key);
  if (!m || !m->chart.ask(g.world.wanted.chart)) return;
  tasks_.start("chart for " + key.text(), load(key, g.world.wanted.chart, g.world.attempt));
}

awaitable<void> deployments_at_home::load(key_type key, chart_coordinates c, attempt_key at) {
  supplied_chart got = co_await options_.charts->get(c);
  memory* m = find(key);
  if (!m) co_return;
  const chart_memory::arrival came = m->chart.take(c, std::move(got));
  if (came == chart_memory::arrival::unwanted) co_return;
  if (came == chart_memory::arrival::refused) m->tries.failed(setback::chart, at, on_.loop().now());
  controller_.add(key);
}

}  // namespace helm::tenants
