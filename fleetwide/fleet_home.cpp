#include "fleetwide/fleet_home.hpp"

#include "app/api/target_history.hpp"
#include "fleetwide/api.hpp"
#include "fleetwide/conditions.hpp"
#include "fleetwide/events.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/gathering.hpp"
#include "fleetwide/plan/holds.hpp"
#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/fleet_revision.hpp"
#include "policies/host/host.hpp"
#include "policies/moment.hpp"
#include "policies/subject_labels.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fleetwide {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_fleet_pools = 1'000, most_grants = 1'000, most_revisions = 20'000,
                      deeds_at_once = 32;
constexpr reactor::nanoseconds not_live_retry = 5s, refused_retry = 1min, policy_retry = 1min,
                               seen_within = 30s, look_again_for_clusters = 50ms,
                               look_again_while_moving = 30s, look_again_at_rest = 5min,
                               patience_of_an_overview = 10s;

k8s::controller_options controller_of_fleet_pools(reactor::metrics* metrics,
                                                  const reactor::logger& log) {
  k8s::controller_options o;
  o.name = "fleet_pool";
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

k8s::object_reference reference_to(const fleet_pool& p) {
  return {std::string(names::api_version), "FleetPool", p.meta.ns.str(), p.meta.name.str(),
          p.meta.uid.text()};
}

/// Of names with counts, the most frequent one.
std::string most_of(const std::map<std::string, std::size_t>& counted) {
  const auto most =
      std::ranges::max_element(counted, {}, [](const auto& one) { return one.second; });
  return most == counted.end() ? std::string() : most->first;
}

units::standing standing_of(member_state s) {
  if (s == member_state::ready) return units::standing::done;
  return s == member_state::failed ? units::standing::trouble : units::standing::moving;
}

std::string deed_text(const member_plan& p, std::int64_t number, const std::string& wanted) {
  switch (p.does) {
    case deed::write:
      return p.digest == wanted ? "write revision " + std::to_string(number)
                                : "write the revision before, " + p.digest;
    case deed::remove: return "delete the pool";
    case deed::let_go: return "let the pool be nobody's";
    case deed::nothing: break;
  }
  return {};
}

}  // namespace

fleet_home::fleet_home(k8s::engagement& on, options o)
    : on_(on),
      options_(std::move(o)),
      pools_(on.loop(), on.api(),
             k8s::all_of(fleet_pools(), options_.limits, on.log(), most_fleet_pools)),
      grants_(on.loop(), on.api(),
              k8s::all_of(fleet_grants(), options_.limits, on.log(), most_grants)),
      revisions_(on.loop(), on.api(), revisions_of_ours(options_.limits, on.log())),
      figures_(options_.metrics && options_.rows && options_.does == units::mode::act
                   ? std::make_unique<units::row_figures>(*options_.metrics, *options_.rows,
                                                          std::string(pools_api), on.on().name())
                   : nullptr),
      controller_(on.loop(), *this, controller_of_fleet_pools(options_.metrics, on.log()),
                  [](const k8s::object_key& key) { return key.ns; }),
      patient_until_(on.loop().now() + patience_of_an_overview),
      overviews_(on.loop()),
      tasks_(on.loop()) {
  on.follow(pools_);
  on.follow(grants_);
  on.follow(revisions_);
  pools_.on_change([this](const fleet_pool* before, const fleet_pool* now) {
    ++revision_;
    controller_.add((now ? now : before)->meta.key());
    // Who is older, or gone, decides about the others that claim the same pool.
    if (!before || !now) reconsider();
  });
  grants_.on_change([this](const fleet_grant*, const fleet_grant*) { reconsider(); });
  revisions_.on_change([this](const fleetwide::revision* before, const fleetwide::revision* now) {
    ++revision_;
    const fleetwide::revision& r = *(now ? now : before);
    pools_.objects().each([&](const fleet_pool& p) {
      if (r.meta.labels.get(names::revision_of) == p.meta.uid.text()) controller_.add(p.meta.key());
    });
  });
  pools_.start();
  grants_.start();
  revisions_.start();
  if (options_.does == units::mode::look) return;
  tasks_.start("FleetPools", [this]() -> awaitable<void> {
    (void)co_await pools_.synced();
    (void)co_await grants_.synced();
    (void)co_await revisions_.synced();
    controller_.start();
  });
}

fleet_home::~fleet_home() = default;

awaitable<void> fleet_home::stop() {
  stopping_ = true;
  if (options_.on_stop) options_.on_stop();
  co_await tasks_.cancel_and_join();
  co_await controller_.stop();
  co_await pools_.stop();
  co_await grants_.stop();
  co_await revisions_.stop();
  co_await overviews_.empty();
}

awaitable<bool> fleet_home::synced(reactor::steady_time deadline) {
  const bool pools = co_await pools_.synced(deadline);
  const bool grants = co_await grants_.synced(deadline);
  const bool revisions = co_await revisions_.synced(deadline);
  co_return pools&& grants&& revisions;
}

void fleet_home::reconsider() {
  ++revision_;
  pools_.objects().each([this](const fleet_pool& p) { controller_.add(p.meta.key()); });
}

void fleet_home::pool_changed(const std::string& pool) {
  pools_.objects().each([&](const fleet_pool& p) {
    if (p.pool_name != pool) return;
    ++revision_;
    controller_.add(p.meta.key());
  });
}

void fleet_home::describe(json::object& entry) const {
  entry["fleetPools"] = pools_.objects().size();
}

/// Those at home, and in their place or beside them what is assumed.
std::vector<fleet_pool> fleet_home::objects() const {
  std::vector<fleet_pool> all;
  const auto is_assumed = [this](const k8s::object_key& key) {
    return std::ranges::any_of(options_.assumed,
                               [&](const fleet_pool& p) { return p.meta.key() == key; });
  };
  pools_.objects().each([&](const fleet_pool& p) {
    if (!is_assumed(p.meta.key())) all.push_back(p);
  });
  for (fleet_pool p : options_.assumed) {
    if (const fleet_pool* now = pools_.find(p.meta.key())) {
      p.meta.uid = now->meta.uid;
      p.meta.annotations = now->meta.annotations;
      p.created = now->created;
      p.status = now->status;
    }
    all.push_back(std::move(p));
  }
  std::ranges::sort(all, {}, [](const fleet_pool& p) { return p.meta.key(); });
  return all;
}

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

/// A tag is held at what its newest revision says, until it is followed or somebody approves.
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
      if (!at.look_again || no->second.at < *at.look_again) at.look_again = no->second.at;
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
  if (sight.look_again && (!at.look_again || *sight.look_again < *at.look_again))
    at.look_again = sight.look_again;
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
  const reactor::wall_time then = on_.loop().wall() + (lost_at + patience_for_a_cluster - now);
  if (!at.look_again || then < *at.look_again) at.look_again = then;
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
  at.number = p.status.digest == at.wanted.digest() ? p.status.revision : p.status.revision + 1;
  rollout_world& w = at.world;
  w.wanted = at.wanted.digest();
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
  if (at.plan.look_again && (!at.look_again || *at.plan.look_again < *at.look_again))
    at.look_again = at.plan.look_again;
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
  if (at.plan.look_again && (!at.look_again || *at.plan.look_again < *at.look_again))
    at.look_again = at.plan.look_again;
  const reactor::nanoseconds again = said ? said->look_again : policy_retry;
  if (again > 0s) {
    const reactor::wall_time then = at.world.now + again;
    if (!at.look_again || then < *at.look_again) at.look_again = then;
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
    if (held->again_in) {
      const reactor::wall_time then = on_.loop().wall() + *held->again_in;
      if (!at.look_again || then < *at.look_again) at.look_again = then;
    }
    m.does = deed::nothing;
    held->unit = m.cluster;
    m.hold = *held;
  }
}

void fleet_home::tell(const fleet_pool& about, const k8s::event_kind& what, std::string note) {
  on_.on().events().record(k8s::tell_of(what, reference_to(about), std::move(note)));
}

awaitable<k8s::result<void>> fleet_home::publish(fleet_pool before, fleet_pool_status s) {
  json::object status = to_json(s);
  for (const auto& [code, n] : before.status.held)
    if (!s.held.contains(code)) status["held"].as_object()[code] = nullptr;
  json::object patch, metadata;
  metadata["resourceVersion"] = before.meta.resource_version.text();
  patch["metadata"] = std::move(metadata);
  patch["status"] = std::move(status);
  auto written = co_await on_.api().merge_patch(
      fleet_pools(), before.meta.key(), std::move(patch),
      k8s::request_options().at("status").by(std::string(names::field_manager)));
  if (!written) co_return written.error();
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> fleet_home::finalizers(fleet_pool of, bool ours) {
  json::array all;
  for (const k8s::interned& f : of.meta.finalizers)
    if (f.str() != names::cleanup) all.emplace_back(f.str());
  if (ours) all.emplace_back(names::cleanup);
  json::object patch, metadata;
  metadata["resourceVersion"] = of.meta.resource_version.text();
  metadata["finalizers"] = std::move(all);
  patch["metadata"] = std::move(metadata);
  auto written =
      co_await on_.api().merge_patch(fleet_pools(), of.meta.key(), std::move(patch),
                                     k8s::request_options().by(std::string(names::field_manager)));
  if (!written) co_return written.error();
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> fleet_home::write_revision(const fleet_look& at) {
  const fleet_pool& p = at.object;
  const revision_owner owner{std::string(names::api_version), "FleetPool", p.meta.name.str(),
                             p.meta.uid.text()};
  json::object body = to_json(owner, at.number, at.wanted);
  auto made =
      co_await on_.api().create(controller_revisions(), p.meta.ns.str(), std::move(body),
                                k8s::request_options().by(std::string(names::field_manager)));
  if (!made && made.error().code == k8s::errc::exists) {
    json::object patch;
    patch["revision"] = at.number;
    k8s::object_key key{p.meta.ns.str(), revision_name(p.meta.name.str(), at.world.wanted)};
    made = co_await on_.api().merge_patch(
        controller_revisions(), std::move(key), std::move(patch),
        k8s::request_options().by(std::string(names::field_manager)));
  }
  if (!made) co_return made.error();
  co_return k8s::result<void>();
}

/// The revision of what is asked for stands at home before any cluster gets it.
awaitable<k8s::result<void>> fleet_home::make_revision(fleet_look& at) {
  const fleet_pool& p = at.object;
  auto now = co_await on_.api().get(fleet_pools(), p.meta.key());
  if (!now) co_return now.error();
  // An older view than the server's would make one more of the same.
  if (formats::text_member(*now, "metadata", "resourceVersion") != p.meta.resource_version.text())
    co_return k8s::result<void>();
  const auto owners = units::owners_of(*now, {"spec", "image", "ref"});
  std::int64_t newest = p.status.revision, made_before = 0;
  revisions_.objects().each([&](const fleetwide::revision& r) {
    if (r.meta.labels.get(names::revision_of) != p.meta.uid.text()) return;
    newest = std::max(newest, r.number);
    if (r.meta.name.str() == revision_name(p.meta.name.str(), at.world.wanted))
      made_before = r.number;
  });
  // One that was made and not told, by a process that ended in between.
  at.number = made_before > p.status.revision ? made_before : newest + 1;
  if (at.number != made_before) {
    auto made = co_await write_revision(at);
    if (!made) co_return made.error();
  }
  fleet_pool_status s = p.status;
  for (revision_record& r : s.history)
    if (r.outcome == outcome::rolling || r.outcome == outcome::halted)
      r.outcome = outcome::replaced;
  revision_record next;
  next.revision = at.number;
  next.digest = at.world.wanted;
  next.ref = at.wanted.ref;
  next.image_digest = at.wanted.image_digest;
  if (!owners.empty()) next.by = owners.front().manager;
  next.at = reactor::format_rfc3339(on_.loop().wall());
  next.outcome = outcome::rolling;
  s.history.push_back(std::move(next));
  while (s.history.size() > static_cast<std::size_t>(p.history_limit))
    s.history.erase(s.history.begin());
  s.revision = at.number;
  s.digest = at.world.wanted;
  s.failed_digest.clear();
  s.available_digest.clear();
  auto said = co_await publish(p, std::move(s));
  if (!said) co_return said.error();
  tell(p, fleet_event::revision_made,
       "revision " + std::to_string(at.number) + ": " + at.wanted.ref);
  co_return k8s::result<void>();
}

/// What no history, no member and no wave needs any more.
awaitable<void> fleet_home::prune(fleet_pool p) {
  std::set<std::string> needed{p.status.digest, p.status.proven_digest, p.status.failed_digest};
  for (const revision_record& r : p.status.history) needed.insert(r.digest);
  for (k8s::cluster* c : options_.fleet->clusters())
    if (fleet_members* part = options_.members(c->name()))
      if (const bootc::node_pool* pool = part->pool(p.pool_name))
        needed.insert(std::string(pool->meta.annotations.get(names::digest)));
  std::vector<std::pair<k8s::object_key, std::string>> old;
  revisions_.objects().each([&](const fleetwide::revision& r) {
    if (r.meta.labels.get(names::revision_of) == p.meta.uid.text() &&
        !needed.contains(r.content.digest()))
      old.emplace_back(r.meta.key(), r.meta.uid.text());
  });
  for (auto& [key, uid] : old) {
    k8s::delete_options how;
    how.uid = uid;
    (void)co_await on_.api().remove(controller_revisions(), key, std::move(how));
  }
}

/// What is written to a member.
json::object fleet_home::body_for(const fleet_look& at, const member_plan& m,
                                  const revision_content& c) const {
  const fleet_pool& p = at.object;
  member_marks marks;
  marks.object = p.mark();
  marks.uid = p.meta.uid.text();
  marks.digest = m.digest;
  marks.revision = at.number;
  marks.since = reactor::format_rfc3339(on_.loop().wall());
  for (const revision_record& r : p.status.history) {
    if (r.digest != m.digest) continue;
    marks.revision = r.revision;
    marks.image_digest = r.image_digest;
  }
  if (m.digest == at.world.wanted && !at.held_at.empty()) marks.image_digest = at.held_at;
  return pool_for_member(c, p.pool_name, marks);
}

/// Starts what the plan says, a few at once. Returns how much has to wait for that.
std::size_t fleet_home::start_deeds(const fleet_look& at) {
  std::size_t left = 0;
  for (const member_plan& m : at.plan.members) {
    if (m.does == deed::nothing) continue;
    const place here{at.object.meta.key(), m.cluster};
    if (begun_.contains(here)) continue;
    fleet_members* part = options_.members(m.cluster);
    if (!part || !part->on().is_live()) continue;
    const revision_content* content =
        m.digest == at.world.wanted ? &at.wanted : content_of(m.digest, at.object);
    if (m.does == deed::write && !content) continue;
    // Since it was looked at the brake may have come.
    if (tasks_.size() >= deeds_at_once ||
        units::begin(part->brake(), at.object.meta.key().text())) {
      ++left;
      continue;
    }
    begun_[here] = {m.digest, reactor::format_rfc3339(on_.loop().wall()),
                    on_.loop().now() + seen_within};
    json::object body;
    if (m.does == deed::write) body = body_for(at, m, *content);
    tasks_.start("FleetPool " + here.first.text() + " on " + m.cluster,
                 carry_out(here, at.object, m, std::move(body)));
  }
  return left;
}

awaitable<void> fleet_home::carry_out(place where, fleet_pool p, member_plan m, json::object body) {
  fleet_members* part = options_.members(where.second);
  const bootc::node_pool* pool = part ? part->pool(p.pool_name) : nullptr;
  const std::string version = pool ? pool->meta.resource_version.text() : std::string();
  k8s::result<void> done;
  if (part && m.does == deed::write)
    done = co_await part->apply(p.pool_name, std::move(body), m.takes_over);
  else if (pool && m.does == deed::remove)
    done = co_await part->remove(p.pool_name, pool->meta.uid.text());
  else if (pool && m.does == deed::let_go)
    done = co_await part->let_go(p.pool_name, version);
  if (!done || m.does != deed::write) begun_.erase(where);
  if (!done) {
    refused r;
    r.version = version;
    r.digest = m.digest;
    r.is_conflict = done.error().code == k8s::errc::conflict;
    r.why = done.error().detail.empty() ? done.error().message() : done.error().detail;
    r.until = on_.loop().now() + refused_retry;
    r.at = on_.loop().wall() + refused_retry;
    on_.log().warning("a cluster did not take what was said at home",
                      {{"cluster", where.second}, {"pool", p.pool_name}, {"why", r.why}});
    tell(p, fleet_event::refused, where.second + ": " + r.why);
    refused_[where] = std::move(r);
  }
  controller_.add(where.first);
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
  const fleet_pool& p = at.object;
  if (!p.meta.has_finalizer(names::cleanup)) co_return k8s::await_change();
  (void)start_deeds(at);
  const bool waited =
      on_.loop().wall() - p.meta.deletion_timestamp >= reactor::nanoseconds(patience_for_cleanup);
  if (!at.plan.is_gone || (at.plan.left_away > 0 && !waited))
    co_return k8s::requeue_after(not_live_retry);
  if (at.plan.left_away > 0)
    tell(p, fleet_event::left,
         std::to_string(at.plan.left_away) + " clusters could not be reached for 10 minutes");
  auto freed = co_await finalizers(p, false);
  if (!freed && freed.error().code != k8s::errc::not_found) co_return freed.error();
  co_return k8s::await_change();
}

awaitable<k8s::result<k8s::next>> fleet_home::reconcile(k8s::object_key key) {
  if (!on_.is_live() || !options_.fleet->is_discovered())
    co_return k8s::requeue_after(not_live_retry);
  const fleet_pool* found = pools_.find(key);
  if (!found) {
    if (figures_) figures_->forget(key.text());
    std::erase_if(refused_, [&](const auto& r) { return r.first.first == key; });
    co_return k8s::await_change();
  }
  const fleet_pool p = *found;
  if (p.meta.deleting()) {
    fleet_look leaving = look(p);
    co_return co_await clean_up(std::move(leaving));
  }
  if (!p.spec_problem().empty()) {
    fleet_pool_status s = status_of_invalid(p, on_.loop().wall());
    if (s == p.status) co_return k8s::await_change();
    auto said = co_await publish(p, std::move(s));
    if (!said) co_return said.error();
    co_return k8s::await_change();
  }
  if (!p.meta.has_finalizer(names::cleanup)) {
    auto held = co_await finalizers(p, true);
    if (!held) co_return held.error();
    co_return k8s::await_change();
  }
  fleet_look at = co_await look_and_ask(p);
  if (!on_.is_live()) co_return k8s::requeue_after(not_live_retry);
  if (p.status.digest != at.world.wanted || !content_of(at.world.wanted, p)) {
    auto made = co_await make_revision(at);
    if (!made) co_return made.error();
    co_return k8s::await_change();
  }
  count(at);
  fleet_pool_status s = status_after(p, at.world, at.plan, at.world.now);
  s.retried = std::string(p.meta.annotations.get(names::retry));
  if (s.retried != p.status.retried && !at.plan.notes_failure) s.failed_digest.clear();
  s.available_digest = at.available;
  for (revision_record& r : s.history)
    if (r.digest == at.world.wanted && r.revision == s.revision) r.image_digest = at.held_at;
  // What is only not known yet, at a start for example, is no news.
  const bool is_sure = std::ranges::none_of(at.world.members, [](const member& m) {
    return m.is_selected && m.seen == member::sight::lost;
  });
  if (s != p.status && (is_sure || at.plan.notes_failure)) {
    auto said = co_await publish(p, s);
    if (!said) co_return said.error();
    const auto was = k8s::find_condition(p.status.conditions, fleet_condition::halted);
    const auto is = k8s::find_condition(s.conditions, fleet_condition::halted);
    if (is->is_true() && !(was && was->is_true())) tell(p, fleet_event::halted, is->message);
    if (s.proven_digest != p.status.proven_digest)
      tell(p, fleet_event::complete, "revision " + std::to_string(s.revision));
    if (at.plan.notes_failure) co_return k8s::await_change();
  }
  const std::size_t left = start_deeds(at);
  co_await prune(p);
  if (left > 0) co_return k8s::requeue_after(1s);
  // A cluster that goes away tells nobody.
  reactor::nanoseconds then = at.plan.wave ? look_again_while_moving : look_again_at_rest;
  if (at.look_again)
    then = std::clamp<reactor::nanoseconds>(*at.look_again - on_.loop().wall(), 100ms, then);
  co_return k8s::requeue_after(then);
}

units::plan_row fleet_home::row_of(const fleet_look& at) const {
  const fleet_pool& p = at.object;
  units::plan_row row;
  row.name = p.meta.key().text();
  row.target = at.wanted.ref;
  row.offered = at.available;
  units::add_problems(row.problems, fleet_conditions, p.status.conditions);
  if (!p.spec_problem().empty()) {
    row.notes.push_back(p.spec_problem());
    return row;
  }
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
        {.key = "revision", .value = at.world.members[i].digest, .label = "revision"},
    };
    row.updated += m.is == member_state::ready;
    row.updating += m.is == member_state::moving || m.is == member_state::waiting;
    row.degraded += m.is == member_state::failed;
    row.occupied += m.is == member_state::moving;
    if (m.does != deed::nothing) {
      row.start.push_back(m.cluster);
      row.actions.push_back({deed_text(m, at.number, at.world.wanted), m.cluster});
    }
    if (m.hold) {
      row.holds.push_back(*m.hold);
      row.forecast.push_back(*m.hold);
    }
    row.units.push_back(std::move(u));
  }
  return row;
}

awaitable<std::vector<fleet_look>> fleet_home::look_at_all() {
  const reactor::gate::visit here(overviews_);
  // Who looks once has just come; clusters are not there before home.
  const auto waits_for_clusters = [this] {
    if (!options_.fleet->is_discovered()) return true;
    return std::ranges::any_of(options_.fleet->clusters(), [](k8s::cluster* c) {
      const k8s::engagement* api = c->find(pools_api);
      return api && !api->is_settled();
    });
  };
  while (!stopping_ && on_.loop().now() < patient_until_ && waits_for_clusters())
    co_await on_.loop().sleep_for(look_again_for_clusters);
  std::vector<fleet_look> all;
  for (const fleet_pool& p : objects()) {
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
