// One pass over a Tenant: what is asked, what is planned, and the steps that are over in a moment.
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/published.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::log_level;

/// A check that comes a tenth too early is one, too: passes are spread by that.
constexpr double early = 0.85;

/// The complaint is in the object's conditions already.
bool is_said(const tenant& t, const std::string& cluster, transition what,
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

awaitable<k8s::result<tenant_cluster::gathered>> tenant_cluster::gather(key_type key, tenant about,
                                                                        ask how) {
  gathered g;
  tenant_world& w = g.is;
  w = world_of(about);
  const tenant t = std::move(about);
  if (const memory* m = find(key)) w.mismatch_told = m->mismatch_told;
  const bool carries_ours = t.meta.deleting() && !t.fingerprint(w.cluster).empty();
  if (concern_of(t, w) != concern::ours && !carries_ours) co_return g;

  const std::string ns = t.workload_namespace();
  release_sight before;
  if (const memory* m = find(key)) before = m->sight;
  auto found = co_await look_at_release(reads_, view_.get(), ns,
                                        names::release_name(t.meta.name.view(), w.cluster),
                                        std::move(before), how);
  if (!found) co_return found.error();
  w.workspace = std::move(found->workspace);
  if (found->release) w.release = found->release->facts;
  if (memory* m = find(key)) m->sight = std::move(found->sight);
  g.watched = found->watched;
  const bool noted = t.fingerprint(w.cluster) == w.wanted.fingerprint;
  if (w.release && w.release->state == release::status::deployed && noted &&
      options_.does == units::mode::act && w.on_drift != drift_mode::off) {
    const bool whole = co_await look_for_drift(key, *std::move(found->release));
    g.watched = g.watched && whole;
  }
  if (memory* m = find(key)) m->watched = g.watched;

  if (is_change(t, w)) {
    std::string changed = w.wanted.fingerprint;
    w.held = co_await gate_.hold_for(key, std::move(changed));
  }

  // From here on nothing is waited for, so that all of it is of one moment.
  tenants_.objects().each_by("namespace", ns, [&](const tenant& other) {
    if (other.meta.key() == key || concern_of(other, world_of(other)) != concern::ours) return;
    names::owner_reference who{std::string(names::tenant_kind), other.meta.key()};
    w.others.push_back({std::move(who), other.created});
  });
  // The object that we made the namespace for has it as long as that object is there, whatever
  // cluster it is meant for by now.
  const auto named = names::read_owner(w.workspace.owner);
  if (named && named->kind == names::tenant_kind && named->key != key) {
    const auto is_named = [&](const claimant& c) { return c.who == *named; };
    const tenant* owner = tenants_.find(named->key);
    if (owner && std::ranges::none_of(w.others, is_named))
      w.others.push_back({*named, owner->created});
  }
  recall(key, g, attempt_of(t, w.wanted));
  if (const memory* m = find(key)) {
    w.drift = m->drift;
    w.skip_told = m->skip_told;
    w.drift_told = m->drift_told;
  }
  co_return g;
}

awaitable<bool> tenant_cluster::look_for_drift(key_type key, known_release release) {
  const reactor::steady_time now = on_.loop().now();
  missing_objects seen = co_await look_for_missing(reads_, view_.get(), release.objects);
  memory* m = find(key);
  if (!m) co_return false;
  if (seen.watched) {
    m->drift.missing = std::move(seen.names);
    co_return true;
  }
  const auto interval = options_.wanted()->all.check_interval;
  const auto due = reactor::nanoseconds(
      static_cast<std::int64_t>(early * static_cast<double>(interval.count())));
  if (!m->drift_looked) {  // a start has more urgent things to do
    m->drift_looked = now;
    co_return false;
  }
  if (now - *m->drift_looked < due) co_return false;
  m->drift_looked = now;
  std::vector<std::string> missing = co_await reads_.missing(std::move(release.objects));
  m = find(key);
  if (m) m->drift.missing = std::move(missing);
  co_return false;
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
  return k8s::requeue_after(pause_after(retry_cause::helm_setup, 1));
}

status_change tenant_cluster::turn_for(const tenant_plan& p) const {
  const auto wanted = options_.wanted();
  status_change turn;
  turn.cluster = on_.on().name();
  turn.what = p.is.value_or(transition::waiting);
  turn.message = p.message;
  turn.applied_chart = p.applied_chart;
  turn.skip = wanted->all.skip;
  turn.plan = published(p, wanted->release, turn.cluster);
  turn.known = options_.known;
  return turn;
}

bool tenant_cluster::would_say(const gathered& g, const tenant_plan& p) const {
  const status_change turn = turn_for(p);
  if (!p.is && !turn.plan) return false;
  return !(status_after(*g.is.object, turn, loop_.wall()) == g.is.object->status);
}

awaitable<std::optional<k8s::next>> tenant_cluster::catch_up(key_type key,
                                                             std::optional<tenant>& fresh) {
  std::optional<k8s::next> later;
  const memory* m = find(key);
  if (!m || !m->unsaved) co_return later;
  const kept_tenants::extra::unsaid what = *m->unsaved;
  tenant about = fresh ? *fresh : *tenants_.find(key);
  said again =
      co_await say(key, std::move(about), what.what, what.message, what.applied_chart, what.plan);
  if (!again.well) later = k8s::requeue_after(pause_after(retry_cause::status_write, 1));
  if (again.now) fresh = std::move(again.now);
  co_return later;
}

void tenant_cluster::planned(const key_type& key, const gathered& g, const tenant_plan& p) {
  const tenant_world& w = g.is;
  const bool ours = concern_of(*w.object, w) == concern::ours || p.action != "none";
  if (memory* known = find(key)) {
    known->refused_told.clear();
    known->stands = wave_state_after(known->stands, w.wanted.fingerprint,
                                     w.object->fingerprint(w.cluster), p, w.now);
  }
  remember(key, ours ? std::optional(p) : std::nullopt);
}

/// Nothing to do now: it is said, and when to look again.
awaitable<tenant_cluster::stepped> tenant_cluster::rest(key_type key, gathered g, tenant_plan p) {
  stepped out;
  const tenant_world& w = g.is;
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
  // A process that works on it ends sooner than it counts as abandoned.
  if (again && p.hold && p.hold->code == hold_code::release_pending.code)
    again = std::min(*again, wanted->all.check_interval);
  const bool skips = p.action == "skip";
  const bool may_be_freed = p.hold && (p.hold->code == hold_code::conflict.code ||
                                       p.hold->code == hold_code::drifted.code);
  if (!again && (skips || may_be_freed) && !g.watched)
    again = next_check(wanted->all.check_interval, on_.loop().random());
  std::optional<k8s::condition> plan = published(p, w.wanted, w.cluster);
  if (p.is || plan) {
    const transition what = p.is.value_or(transition::waiting);
    const said told =
        co_await say(key, *w.object, what, p.message, p.applied_chart, std::move(plan));
    const nanoseconds retry = pause_after(retry_cause::status_write, 1);
    if (!told.well) again = again ? std::min(*again, retry) : retry;
  }
  if (again) out.then = k8s::requeue_after(*again);
  co_return out;
}

awaitable<void> tenant_cluster::namespace_failed(key_type key, gathered g, std::string why) {
  tenant about = *std::move(g.is.object);
  if (!is_said(about, g.is.cluster, transition::namespace_failed, why))
    tell(about, tenant_event::workspace_create_failed, why);
  (void)co_await say(key, std::move(about), transition::namespace_failed, why);
}

awaitable<std::optional<tenant>> tenant_cluster::say_deletion(tenant now, gathered g,
                                                              tenant_plan p) {
  std::optional<k8s::condition> plan = published(p, g.is.wanted, g.is.cluster);
  said told = co_await say(now.meta.key(), now, *p.is, p.message, {}, std::move(plan));
  co_return told.now ? std::move(told.now) : std::optional(std::move(now));
}

}  // namespace helm::tenants
