// One look at a fleet object: what is asked for, what its clusters have, what policies, signals and
// the brake say.
#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/conditions.hpp"
#include "fleetwide/plan/gathering.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/fleet_revision.hpp"
#include "policies/host/host.hpp"
#include "policies/moment.hpp"
#include "policies/subject_labels.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"

#include <algorithm>

namespace fleetwide {

using namespace std::chrono_literals;

namespace {

constexpr reactor::nanoseconds policy_retry = 1min;

}  // namespace

bool fleet_home::reach::has(std::string_view cluster, const k8s::string_map& labels) const {
  return is_all || std::ranges::any_of(choices, [&](const cluster_choice& c) {
           return c.chooses(cluster, labels);
         });
}

bool fleet_home::gives(const fleet_grant& g, const fleet_object& p) const {
  return g.is_for(p.meta.ns.str(), p.kind) && grant_reaches(g, p);
}

fleet_home::reach fleet_home::reach_of(const fleet_object& p) const {
  if (p.meta.ns.str() == options_.ns) return {.is_all = true};
  reach out;
  grants_.objects().each([&](const fleet_grant& g) {
    if (gives(g, p)) out.choices.push_back(g.clusters);
  });
  return out;
}

bool fleet_home::is_granted(const fleet_object& p, const k8s::cluster& on) const {
  return reach_of(p).has(on.name(), on.labels());
}

bool fleet_home::has_grant(const fleet_object& p) const {
  if (p.meta.ns.str() == options_.ns || !grants_.is_synced()) return true;
  bool has = false;
  grants_.objects().each([&](const fleet_grant& g) { has = has || gives(g, p); });
  return has;
}

bool fleet_home::is_halted(const fleet_object& p) const {
  const k8s::condition* said = k8s::find_condition(p.status.conditions, fleet_condition::halted);
  return (said && said->is_true()) || halted_.contains(p.meta.key());
}

std::size_t fleet_home::meant(const fleet_object& p) const {
  const reach granted = reach_of(p);
  std::size_t all = 0;
  for (k8s::cluster* c : options_.fleet->clusters())
    all += p.clusters.chooses(c->name(), c->labels()) && granted.has(c->name(), c->labels());
  for (const k8s::fleet::unusable& u : options_.fleet->without_connection())
    all += p.clusters.has_name(u.name);
  return all;
}

/// Of two that claim the same on a cluster the older one has it.
fleet_home::rivals fleet_home::older_than(const fleet_object& p) const {
  rivals out;
  each_object([&](const fleet_object& other) {
    if (other.meta.key() == p.meta.key() || other.claim != p.claim) return;
    if (!other.spec_problem().empty() || other.meta.deleting()) return;
    if (std::pair(other.created, other.meta.key()) > std::pair(p.created, p.meta.key())) return;
    out.push_back({other.mark(), other.clusters, reach_of(other)});
  });
  return out;
}

/// Others may write such objects, too: what one of them says is not what its name promises.
bool fleet_home::is_revision_of(const fleetwide::revision& r, const fleet_object& p) {
  return r.is_as_named && r.meta.labels.get(names::revision_of) == p.meta.uid.text();
}

const fleetwide::revision* fleet_home::find_revision(const std::string& digest,
                                                     const fleet_object& p) const {
  if (digest.empty()) return nullptr;
  const fleetwide::revision* r =
      revisions_.find({p.meta.ns.str(), revision_name(p.meta.name.str(), digest)});
  return r && is_revision_of(*r, p) ? r : nullptr;
}

const revision_content* fleet_home::content_of(const std::string& digest,
                                               const fleet_object& p) const {
  const fleetwide::revision* r = find_revision(digest, p);
  if (!r || r->is_whole) return r ? &r->content : nullptr;
  return large_of(p).find(digest);
}

awaitable<void> fleet_home::load_current(fleet_object p) {
  std::vector<std::string> digests{p.status.digest, p.status.proven_digest};
  co_await load(std::move(p), std::move(digests));
}

awaitable<void> fleet_home::load(fleet_object p, std::vector<std::string> digests) {
  for (const std::string& digest : digests) {
    if (!find_revision(digest, p) || content_of(digest, p)) continue;
    k8s::object_key key{p.meta.ns.str(), revision_name(p.meta.name.str(), digest)};
    auto got = co_await on_.api().get(controller_revisions(), std::move(key));
    if (!got) continue;
    revision_content is = fleetwide::content_of(*got);
    if (is.template_json.size() > most_revision_bytes || is.digest() != digest) continue;
    large_of(p).put(digest, std::move(is));
  }
}

void fleet_home::add_member(fleet_look& at, const rivals& older, member m, member_part* part) {
  member_sight sight = sight_on(at, std::move(m), part);
  member& is = sight.is;
  const place here{at.object.meta.key(), is.cluster};
  const reactor::steady_time now = on_.loop().now();
  if (const auto begun = begun_.find(here); begun != begun_.end()) {
    const bool is_there = is.digest == begun->second.digest && sight.since == begun->second.since;
    if (is_there || begun->second.until <= now) {
      begun_.erase(begun);
    } else {
      is.has = member::owner::ours;
      is.digest = begun->second.digest;
      is.is = member::progress::moving;
    }
  }
  if (const auto no = refused_.find(here); no != refused_.end()) {
    if (no->second.until <= now ||
        (no->second.is_conflict && no->second.version != sight.version)) {
      refused_.erase(no);
    } else if (!no->second.is_conflict) {
      is.refusal = no->second.why;
      at.look_again_by(no->second.at);
    } else if (is.digest != no->second.digest || is.has != member::owner::ours) {
      is.has = member::owner::other;
      is.holder = no->second.why;
      is.is_adopted = false;
    }
  }
  if (is.is_selected && is.has != member::owner::ours) {
    k8s::cluster* c = options_.fleet->find(is.cluster);
    const auto rival = std::ranges::find_if(older, [&](const fleet_home::rival& r) {
      return c && r.chooses.chooses(is.cluster, c->labels()) &&
             r.granted.has(is.cluster, c->labels());
    });
    if (rival != older.end()) {
      is.has = member::owner::other;
      is.holder = at.object.claim + " is claimed by " + rival->mark + ", which is older";
      is.is_adopted = false;
    }
  }
  at.look_again_by(sight.look_again);
  if (!is.is_selected && is.has != member::owner::ours) return;
  at.world.members.push_back(std::move(is));
}

awaitable<void> fleet_home::gather(fleet_look& at) {
  const fleet_object& p = at.object;
  const reach granted = reach_of(p);
  const rivals older = older_than(p);
  std::vector<std::string> all;
  for (k8s::cluster* c : options_.fleet->clusters()) all.push_back(c->name());
  for (std::string& name : all) {
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
    reactor::loop_slice::spend();
    k8s::cluster* c = options_.fleet->find(name);
    if (!c) continue;
    member m;
    m.cluster = std::move(name);
    m.wave_value = c->labels().get(p.rollout.wave_label);
    m.is_selected = p.clusters.chooses(m.cluster, c->labels());
    m.is_granted = !m.is_selected || granted.has(m.cluster, c->labels());
    m.is_adopted = p.adopts_on(m.cluster);
    member_part* part = options_.members(m.cluster);
    if (part && part->on().is_live()) {
      lost_at_.erase(m.cluster);
      add_member(at, older, std::move(m), part);
      continue;
    }
    note_lost(at, m);
    const k8s::engagement* api = c->find(words_.api);
    m.why_away = api ? api->says() : c->says();
    add_member(at, older, std::move(m), part);
  }
  for (const k8s::fleet::unusable& u : options_.fleet->without_connection()) {
    // Its labels are not known, so it is meant where it is named.
    if (!p.clusters.has_name(u.name)) continue;
    member m;
    m.cluster = u.name;
    m.why_away = u.why;
    note_lost(at, m);
    at.world.members.push_back(std::move(m));
  }
}

/// Lost for a while, then away.
void fleet_home::note_lost(fleet_look& at, member& m) {
  const reactor::steady_time now = on_.loop().now();
  const reactor::steady_time lost_at = lost_at_.try_emplace(m.cluster, now).first->second;
  m.seen = now - lost_at < patience_for_a_cluster ? member::sight::lost : member::sight::away;
  if (m.seen == member::sight::away) return;
  at.look_again_by(on_.loop().wall() + (lost_at + patience_for_a_cluster - now));
}

awaitable<fleet_look> fleet_home::look(fleet_object p) {
  co_await load_current(p);
  fleet_look at;
  at.object = p;
  at.wanted = content_wanted(p);
  rollout_world& w = at.world;
  w.wanted = at.wanted.digest();
  at.number = p.status.digest == w.wanted ? p.status.revision : p.status.revision + 1;
  w.proven = find_revision(p.status.proven_digest, p) ? p.status.proven_digest : std::string();
  const bool asked_again = p.meta.annotations.get(names::retry) != p.status.retried;
  const k8s::condition* halted = k8s::find_condition(p.status.conditions, fleet_condition::halted);
  if (halted && halted->is_true() && p.status.digest == w.wanted && !asked_again)
    w.halted = halted->message;
  w.has_failed = p.status.failed_digest == w.wanted && !asked_again;
  if (const auto at = reactor::parse_rfc3339(p.meta.annotations.get(names::retry))) w.retry = *at;
  w.is_paused = p.paused;
  w.is_leaving = p.meta.deleting();
  w.removes = p.removes;
  w.settings = p.rollout;
  w.now = on_.loop().wall();
  co_await gather(at);
  at.plan = plan_rollout(w);
  see_tags(at);
  at.look_again_by(at.plan.look_again);
  ask_brakes(at);
  co_return at;
}

awaitable<fleet_look> fleet_home::look_and_ask(fleet_object p) {
  co_await load_current(p);
  not_known missing = co_await prepare(p);
  fleet_look at = co_await look(p);
  at.unknown = std::move(missing.why);
  at.is_read = missing.is_read;
  if (!at.unknown.empty()) {
    at.not_taken.clear();
    for (member_plan& m : at.plan.members) m.does = deed::nothing;
    co_return at;
  }
  const bool begins = std::ranges::any_of(at.plan.members, [&](const member_plan& m) {
    return m.does == deed::write && m.digest == at.world.wanted;
  });
  const bool waits = std::ranges::any_of(
      at.plan.members, [](const member_plan& m) { return m.is == member_state::waiting; });
  if (!options_.packs || !p.spec_problem().empty()) co_return at;
  if (begins)
    co_await ask_policy(at, asking::what_may_begin);
  else if (waits)
    co_await ask_policy(at, asking::what_signals_say);
  co_return at;
}

/// The plan is made again with what the policy says of those that would begin. While the next wave
/// waits its signals are asked for all the same, so that by then they have been watched.
awaitable<void> fleet_home::ask_policy(fleet_look& at, asking what) {
  const fleet_object& p = at.object;
  policies::subject about;
  about.api = words_.api;
  about.object_labels = policies::as_labels(p.meta.labels);
  const auto asked = options_.packs->select("fleet.revision", about);
  if (!asked) co_return;
  const bool has_signals = options_.signals && !(*asked)->about().signals.empty();
  if (what == asking::what_signals_say && !has_signals) co_return;
  auto q = std::make_shared<policies::fleet_question>();
  q->object.kind = p.kind;
  q->object.ns = p.meta.ns.str();
  q->object.name = p.meta.name.str();
  q->object.labels = p.meta.labels;
  q->object.annotations = p.meta.annotations;
  q->object.revision = at.number;
  q->object.digest = at.world.wanted;
  q->object.reference = at.wanted.ref;
  q->object.proven = at.world.proven;
  for (std::size_t i = 0; i < at.world.members.size(); ++i) {
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
    reactor::loop_slice::spend();
    const member& m = at.world.members[i];
    policies::fleet_cluster c;
    c.name = m.cluster;
    if (k8s::cluster* on = options_.fleet->find(m.cluster)) c.cluster_labels = on->labels();
    c.wave = p.rollout.wave_name(at.plan.members[i].wave);
    c.state = text(at.plan.members[i].is);
    c.has = m.digest;
    if (m.is != member::progress::moving && m.has == member::owner::ours)
      c.since = policies::unix_seconds(m.since);
    if (has_signals) {
      policies::subject of_cluster = about;
      of_cluster.cluster_labels = policies::as_labels(c.cluster_labels);
      c.signals = options_.signals(of_cluster, m.cluster);
    }
    q->clusters.push_back(std::move(c));
  }
  if (what == asking::what_signals_say) co_return;
  std::ranges::sort(q->clusters, {}, &policies::fleet_cluster::name);
  auto said = co_await policies::ask_revision(*options_.packs, std::move(about), q, at.world.now);
  for (member& m : at.world.members) {
    if (!said) {
      m.policy = units::held(units::hold_code::policy_fault, m.cluster,
                             "the policy failed: " + said.error().message());
    } else if (const auto held = said->holds.find(m.cluster); held != said->holds.end()) {
      m.policy = units::held_by_policy(held->second.code, m.cluster, held->second.reason,
                                       said->pack + " " + said->version);
    }
  }
  at.plan = plan_rollout(at.world);
  at.look_again_by(at.plan.look_again);
  const reactor::nanoseconds again = said ? said->look_again : policy_retry;
  if (again > 0s) {
    const reactor::wall_time then = at.world.now + again;
    at.look_again_by(then);
    for (member_plan& m : at.plan.members)
      if (m.hold && m.hold->code.starts_with(units::hold_code::policy.code))
        m.hold->asked_again = reactor::format_rfc3339(then);
  }
  ask_brakes(at);
}

/// Who would be written waits for the brake, or for the speed limit until its time.
void fleet_home::ask_brakes(fleet_look& at) const {
  for (member_plan& m : at.plan.members) {
    if (m.does == deed::nothing || m.was_told) continue;
    member_part* part = options_.members(m.cluster);
    if (!part) continue;
    auto held = units::ask(part->brake(), at.object.meta.key().text());
    if (!held) continue;
    if (held->again_in) at.look_again_by(on_.loop().wall() + *held->again_in);
    m.does = deed::nothing;
    held->unit = m.cluster;
    m.hold = *held;
  }
}

}  // namespace fleetwide
