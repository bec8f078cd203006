// One pass over a KryptonDeployment: what home and its region are asked, what is planned, and the
// steps that are over in a moment.
#include "helm/tenants/home/deployments_at_home.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::log_level;

constexpr reactor::nanoseconds unreadable_retry = 30s;

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

void deployments_at_home::begin_pass(const key_type& key) {
  if (memory* m = find(key)) m->workloads_looked = false;
}

awaitable<k8s::result<deployments_at_home::gathered>> deployments_at_home::gather(
    key_type key, krypton_deployment about, ask how) {
  gathered g;
  deployment_world& w = g.is;
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
    if (w.edge.is == edge_facts::state::ready) co_await look_at_region(key, g, how);
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
  recall(key, g, attempt_of(*w.object, g.to, w.wanted));
  if (const memory* m = find(key)) {
    w.workloads = m->workloads;
    w.account_told = m->account_told;
    w.routing_told = m->routing_told;
    w.cleaning_since = m->cleaning_since;
  }
  co_return g;
}

awaitable<void> deployments_at_home::look_at_region(key_type key, gathered& g,  // borrowed
                                                    ask how) {
  deployment_world& w = g.is;
  const std::string name = w.object->meta.name.str();
  const names::owner_reference me{std::string(names::deployment_kind), key};
  cluster_reads reads(on_.loop(), g.to.at->api(), records_of(options_.wanted()->all));
  const auto refused = [&](const k8s::fault& why) {
    if (!is_of_the_connection(why)) {
      g.unreadable = why.message();
      return;
    }
    w.edge = {edge_facts::state::down, why.message()};
  };
  release_sight before;
  if (const memory* m = find(key)) before = m->sight;
  auto found = co_await look_at_release(
      reads, g.to.view.get(), name, names::deployment_release_name(name), std::move(before), how);
  if (!found) co_return refused(found.error());
  w.workspace = std::move(found->workspace);
  if (found->release) w.release = found->release->facts;
  if (memory* m = find(key)) m->sight = std::move(found->sight);
  g.watched = found->watched;
  if (names::read_owner(w.workspace.owner) != me) {
    g.watched = false;  // Tenants of the region are not
    k8s::resource kind = tenant_resource();
    auto tenants = co_await reads.objects_called(std::move(kind), name);
    if (!tenants) co_return refused(tenants.error());
    w.others = std::move(*tenants);
  }
  if (!found->release || !is_as_asked_for(w, g.to.secret) || w.object->meta.deleting()) co_return;
  std::vector<checked_object> objects = std::move(found->release->objects);
  missing_objects seen = co_await look_for_missing(reads, g.to.view.get(), objects);
  if (!seen.watched) seen.names = co_await reads.missing(std::move(objects));
  w.missing = std::move(seen.names);
  const std::string at = g.to.view ? g.to.view->workloads_at(name) : std::string();
  g.watched = g.watched && seen.watched && !at.empty();
  memory* m = find(key);
  if (m && !m->workloads_looked && (at.empty() || at != m->workloads_at)) m->workloads.reset();
}

deployment_plan deployments_at_home::plan_for(const gathered& g) const {
  if (g.unreadable.empty()) return plan_deployment(g.is);
  deployment_plan p;
  p.is = unreadable_region(g.unreadable);
  return p;
}

bool deployments_at_home::would_say(const gathered& g, const deployment_plan& p) const {
  const krypton_deployment& about = *g.is.object;
  return p.is && !(status_after(about, *p.is, applied_chart(g.is, g.to.secret), loop_.wall()) ==
                   about.status);
}

void deployments_at_home::planned(const key_type& key, const gathered&, const deployment_plan& p) {
  if (memory* known = find(key)) known->last = p;
  ++revision_;
}

awaitable<deployments_at_home::stepped> deployments_at_home::carry_out_own(key_type key, gathered g,
                                                                           deployment_plan p) {
  stepped out;
  if (p.next == step::look_at_workloads) {
    cluster_reads reads(loop_, g.to.at->api(), records_of(options_.wanted()->all));
    std::string at = g.to.view ? g.to.view->workloads_at(p.workspace) : std::string();
    auto all = co_await reads.workloads(p.workspace, p.release);
    if (memory* m = find(key)) {
      m->workloads = all ? judge(*all) : not_listed(all.error().message());
      m->workloads_at = all ? std::move(at) : std::string();
      m->workloads_looked = true;
    }
    out.again = true;
    out.fresh = std::move(g.is.object);
    co_return out;
  }
  if (p.is) (void)co_await say(*g.is.object, *p.is, applied_chart(g.is, g.to.secret));
  if (auto there = visit_to(*p.leaving))
    start_operation(key, operation::uninstall, p.next, std::move(*there));
  co_return out;
}

/// Nothing to do now: it is said, and when to look again.
awaitable<deployments_at_home::stepped> deployments_at_home::rest(key_type key, gathered g,
                                                                  deployment_plan p) {
  stepped out;
  const krypton_deployment& about = *g.is.object;
  if (!g.unreadable.empty()) {
    cleaning_failed(about);
    (void)co_await say(about, *p.is, std::string());
    out.then = k8s::requeue_after(unreadable_retry);
    co_return out;
  }
  // A change of what it is made of wakes it, so nothing is asked until then.
  const bool settled = p.is && (p.is->reason == "Deployed" || p.is->reason == "NotReady") &&
                       g.is.retry_in == nanoseconds(0);
  if (memory* m = find(key)) m->watched = g.watched && settled;
  if (g.watched && settled) p.again_in.reset();
  tell_all(about, p.events);
  if (g.is.edge.is != edge_facts::state::ready) cleaning_failed(about);
  std::optional<nanoseconds> again = p.again_in;
  if (again && *again == nanoseconds::max()) again.reset();
  if (p.is) {
    const bool well = co_await say(about, *p.is, applied_chart(g.is, g.to.secret));
    const nanoseconds retry = pause_after(retry_cause::status_write, 1);
    if (!well) again = again ? std::min(*again, retry) : retry;
  }
  if (again) out.then = k8s::requeue_after(*again);
  co_return out;
}

awaitable<void> deployments_at_home::namespace_failed(key_type, gathered g, std::string why) {
  log(log_level::warning, "the namespace cannot be made", *g.is.object, why);
  (void)co_await say(*g.is.object, helm::tenants::failed_namespace(why), std::string());
}

awaitable<void> deployments_at_home::before_letting_go(
    const krypton_deployment& about) {  // borrowed
  auto forgotten = co_await places_.forget(about.meta.key());
  say_unnoted(forgotten, about);
}

}  // namespace helm::tenants
