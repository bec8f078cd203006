// One look at a FleetPool: what is asked for, what its clusters have, what policies and the brake say.
#include "fleetwide/api.hpp"
#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/gathering.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/fleet_revision.hpp"
#include "policies/host/host.hpp"
#include "policies/moment.hpp"
#include "policies/subject_labels.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace fleetwide {

using namespace std::chrono_literals;

namespace {

constexpr reactor::nanoseconds policy_retry = 1min;

/// Of names with counts, the most frequent one.
std::string most_of(const std::map<std::string, std::size_t>& counted) {
  const auto most =
      std::ranges::max_element(counted, {}, [](const auto& one) { return one.second; });
  return most == counted.end() ? std::string() : most->first;
}

}  // namespace

bool fleet_home::is_granted(const fleet_pool& p, std::string_view cluster,
                            const k8s::string_map& labels) const {
  if (p.meta.ns.str() == options_.ns) return true;
  bool granted = false;
  grants_.objects().each([&](const fleet_grant& g) {
    granted |= g.meta.ns.str() == options_.ns && g.is_for(p.meta.ns.str(), "FleetPool") &&
               g.clusters.chooses(cluster, labels);
  });
  return granted;
}

/// Of two that want the same pool of a cluster the older one has it.
std::string fleet_home::claimed_by_older(const fleet_pool& p, std::string_view cluster,
                                         const k8s::string_map& labels) const {
  std::string found;
  pools_.objects().each([&](const fleet_pool& other) {
    if (!found.empty() || other.meta.key() == p.meta.key() || other.pool_name != p.pool_name)
      return;
    if (!other.spec_problem().empty() || other.meta.deleting()) return;
    if (std::pair(other.created, other.meta.key()) > std::pair(p.created, p.meta.key())) return;
    if (other.clusters.chooses(cluster, labels) && is_granted(other, cluster, labels))
      found = other.mark();
  });
  return found;
}

/// A tag is held at what its newest revision says, until it is followed or a person approves.
revision_content fleet_home::content_wanted(const fleet_pool& p) const {
  revision_content c;
  c.template_json = p.template_json;
  c.ref = p.image_ref;
  const revision_content* now = content_of(p.status.digest, p);
  if (!c.is_by_tag() || !now || now->ref != c.ref) return c;
  c.image_digest = now->image_digest;
  const std::string& available = p.status.available_digest;
  const bool is_under_way =
      !p.status.history.empty() && p.status.history.back().outcome == outcome::rolling;
  const bool moves =
      p.follows_tag ? !is_under_way : p.meta.annotations.get(names::approve) == available;
  if (!available.empty() && moves) c.image_digest = available;
  return c;
}

const revision_content* fleet_home::content_of(const std::string& digest,
                                               const fleet_pool& p) const {
  if (digest.empty()) return nullptr;
  const fleetwide::revision* r =
      revisions_.find({p.meta.ns.str(), revision_name(p.meta.name.str(), digest)});
  return r ? &r->content : nullptr;
}

void fleet_home::add_member(fleet_look& at, member m, const bootc::node_pool* pool) {
  const std::string digest(pool ? pool->meta.annotations.get(names::digest) : "");
  const revision_content* content = content_of(digest, at.object);
  const std::string ref = content ? content->ref : std::string();
  pool_sight sight = sight_of(std::move(m), pool, at.object.mark(), ref, at.world.now);
  member& is = sight.is;
  const place here{at.object.meta.key(), is.cluster};
  const reactor::steady_time now = on_.loop().now();
  if (const auto begun = begun_.find(here); begun != begun_.end()) {
    const bool is_there = pool && is.digest == begun->second.digest &&
                          pool->meta.annotations.get(names::since) == begun->second.since;
    if (is_there || begun->second.until <= now) {
      begun_.erase(begun);
    } else {
      is.has = member::owner::ours;
      is.digest = begun->second.digest;
      is.is = member::progress::moving;
    }
  }
  if (const auto no = refused_.find(here); no != refused_.end()) {
    const std::string version = pool ? pool->meta.resource_version.text() : std::string();
    if (no->second.until <= now || (no->second.is_conflict && no->second.version != version)) {
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
    if (k8s::cluster* c = options_.fleet->find(is.cluster))
      if (const std::string older = claimed_by_older(at.object, is.cluster, c->labels());
          !older.empty()) {
        is.has = member::owner::other;
        is.holder = "the pool is claimed by " + older + ", which is older";
        is.is_adopted = false;
      }
  }
  at.look_again_by(sight.look_again);
  if (!is.is_selected && is.has != member::owner::ours) return;
  at.world.members.push_back(std::move(is));
}

void fleet_home::gather(fleet_look& at) {
  const fleet_pool& p = at.object;
  for (k8s::cluster* c : options_.fleet->clusters()) {
    member m;
    m.cluster = c->name();
    m.wave_value = c->labels().get(p.rollout.wave_label);
    m.is_selected = p.clusters.chooses(m.cluster, c->labels());
    m.is_granted = !m.is_selected || is_granted(p, m.cluster, c->labels());
    m.is_adopted = p.adopts_on(m.cluster);
    fleet_members* part = options_.members(m.cluster);
    if (part && part->on().is_live()) {
      lost_at_.erase(m.cluster);
      add_member(at, std::move(m), part->pool(p.pool_name));
      continue;
    }
    note_lost(at, m);
    const k8s::engagement* api = c->find(pools_api);
    m.why_away = api ? api->says() : c->says();
    add_member(at, std::move(m), part ? part->pool(p.pool_name) : nullptr);
  }
  for (const k8s::fleet::unusable& u : options_.fleet->without_connection()) {
    // Its labels are not known, so it is meant where it is named.
    if (!std::ranges::binary_search(p.clusters.names, u.name)) continue;
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

/// What members found the tag to name, and what it names by now.
void fleet_home::see_tags(fleet_look& at) const {
  if (!at.wanted.is_by_tag()) return;
  std::map<std::string, std::size_t> held, newer;
  for (const member& m : at.world.members) {
    if (m.has != member::owner::ours || m.digest != at.world.wanted) continue;
    fleet_members* part = options_.members(m.cluster);
    const bootc::node_pool* pool = part ? part->pool(at.object.pool_name) : nullptr;
    if (!pool || pool->spec.image_ref != at.wanted.ref ||
        pool->status.resolved_ref != at.wanted.ref)
      continue;
    if (!pool->status.target_digest.empty()) ++held[pool->status.target_digest];
    if (!pool->status.available_digest.empty()) ++newer[pool->status.available_digest];
  }
  at.held_at = !at.wanted.image_digest.empty() ? at.wanted.image_digest : most_of(held);
  at.available = most_of(newer);
  if (at.available == at.held_at) at.available.clear();
}

fleet_look fleet_home::look(const fleet_pool& p) {
  fleet_look at;
  at.object = p;
  at.wanted = content_wanted(p);
  rollout_world& w = at.world;
  w.wanted = at.wanted.digest();
  at.number = p.status.digest == w.wanted ? p.status.revision : p.status.revision + 1;
  w.proven = content_of(p.status.proven_digest, p) ? p.status.proven_digest : std::string();
  const bool asked_again = p.meta.annotations.get(names::retry) != p.status.retried;
  w.has_failed = p.status.failed_digest == w.wanted && !asked_again;
  w.retries = asked_again;
  w.is_paused = p.paused;
  w.is_leaving = p.meta.deleting();
  w.removes = p.removes;
  w.settings = p.rollout;
  w.now = on_.loop().wall();
  gather(at);
  at.plan = plan_rollout(w);
  see_tags(at);
  at.look_again_by(at.plan.look_again);
  ask_brakes(at);
  return at;
}

awaitable<fleet_look> fleet_home::look_and_ask(fleet_pool p) {
  fleet_look at = look(p);
  const bool begins = std::ranges::any_of(at.plan.members, [&](const member_plan& m) {
    return m.does == deed::write && m.digest == at.world.wanted;
  });
  if (!begins || !options_.packs || !p.spec_problem().empty()) co_return at;
  co_await ask_policy(at);
  co_return at;
}

/// The plan is made again with what the policy says of those that would begin.
awaitable<void> fleet_home::ask_policy(fleet_look& at) {
  const fleet_pool& p = at.object;
  policies::subject about;
  about.api = pools_api;
  about.object_labels = policies::as_labels(p.meta.labels);
  if (!options_.packs->select("fleet.revision", about)) co_return;
  auto q = std::make_shared<policies::fleet_question>();
  q->object.kind = "FleetPool";
  q->object.ns = p.meta.ns.str();
  q->object.name = p.meta.name.str();
  q->object.labels = p.meta.labels;
  q->object.annotations = p.meta.annotations;
  q->object.revision = at.number;
  q->object.digest = at.world.wanted;
  q->object.reference = at.wanted.ref;
  q->object.proven = at.world.proven;
  for (std::size_t i = 0; i < at.world.members.size(); ++i) {
    const member& m = at.world.members[i];
    policies::fleet_cluster c;
    c.name = m.cluster;
    if (k8s::cluster* on = options_.fleet->find(m.cluster)) c.cluster_labels = on->labels();
    c.wave = p.rollout.wave_name(at.plan.members[i].wave);
    c.state = text(at.plan.members[i].is);
    c.has = m.digest;
    if (m.is != member::progress::moving && m.has == member::owner::ours)
      c.since = policies::unix_seconds(m.since);
    q->clusters.push_back(std::move(c));
  }
  std::ranges::sort(q->clusters, {}, &policies::fleet_cluster::name);
  auto said = co_await policies::ask_revision(*options_.packs, std::move(about), q, at.world.now);
  for (member& m : at.world.members) {
    units::hold h;
    h.unit = m.cluster;
    if (!said) {
      h.code = units::hold_code::policy_fault.code;
      h.sentence = "the policy failed: " + said.error().message();
      h.released_by = units::hold_code::policy_fault.released;
    } else if (const auto held = said->holds.find(m.cluster); held != said->holds.end()) {
      const units::hold_kind kind = units::hold_code::of_policy_word(held->second.code);
      h.code = kind.code;
      if (kind == units::hold_code::policy.code && !held->second.code.empty())
        h.code += ":" + held->second.code;
      h.sentence = held->second.reason;
      h.released_by = kind.released;
      h.by = said->pack + " " + said->version;
    } else {
      continue;
    }
    m.policy = std::move(h);
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
    if (m.does == deed::nothing) continue;
    fleet_members* part = options_.members(m.cluster);
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
