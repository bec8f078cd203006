// The FleetCharts at home: their charts and values, what clusters have, and what they are told.
#include "fleetwide/charts/chart_home.hpp"

#include "fleetwide/charts/api.hpp"
#include "fleetwide/charts/chart_words.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/conditions.hpp"
#include "formats/digest.hpp"
#include "helm/placed/plan/chart_version.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "policies/fleet_values.hpp"
#include "policies/host/host.hpp"
#include "policies/subject_labels.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/secret.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fleetwide {

using namespace std::chrono_literals;

namespace {

/// A range may come to another version by then; what cannot be had is asked for again sooner.
constexpr reactor::nanoseconds range_again = 10min, problem_again = 30s, look_again_soon = 1s,
                               patience_of_a_look = 15s, poll = 50ms;
/// A pass waits so long for ConfigMaps and Secrets. They come at once, or are not to be had: then
/// whatever waits for them would keep others waiting.
constexpr reactor::nanoseconds patience_of_a_pass = 1s;
/// Charts of one namespace, but the operator's own, that are fetched at a time: their authors name
/// the repositories, and each archive is in memory as it comes.
constexpr std::size_t most_fetches_of_others = 2;
constexpr std::size_t most_effective = 131'072, most_contents = 1'024,
                      most_contents_bytes = 4u << 20;
/// Of public keys: as much as a ConfigMap may have.
constexpr std::size_t most_keyring_bytes = 1'048'576;

/// Of every fleet object, and of charts.
std::span<const units::hold_kind> all_holds() {
  static const std::vector<units::hold_kind> all = [] {
    std::vector<units::hold_kind> out(hold_code::of_members.begin(), hold_code::of_members.end());
    out.insert(out.end(), hold_code::of_charts.begin(), hold_code::of_charts.end());
    return out;
  }();
  return all;
}

units::hold hold_of_note(const chart_note& n) {
  for (const units::hold_kind& k : hold_code::of_charts)
    if (k.code == n.hold) return units::held(k, {}, n.why);
  return units::held(hold_code::drifted, {}, n.why);
}

}  // namespace

chart_home::chart_home(k8s::engagement& on, chart_options o)
    : fleet_home_of(on, std::move(o.common),
                    {.resource = fleet_charts(),
                     .kind = names::fleet_chart,
                     .api = charts_api,
                     .controller = "fleet_chart",
                     .asked_at = {"spec", "chart", "version"},
                     .removes = "uninstall the release",
                     .lets_go = "leave the release and forget it",
                     .conditions = chart_conditions,
                     .holds = all_holds()}),
      supply_(o.charts),
      operations_(o.operations),
      sources_(on.loop(), on.api(), options_.limits, on.log(),
               [this](const values_objects::key& changed) {
                 each_object([&](const fleet_object& p) {
                   if (objects_of(p).contains(changed)) controller_.add(p.meta.key());
                 });
               }),
      fetches_(on.loop()) {
  if (supply_) supply_->enter();
  start();
}

void chart_home::describe(boost::json::object& entry) const {
  entry["fleetCharts"] = objects_.objects().size();
}

awaitable<void> chart_home::stop() {
  co_await fleet_home::stop();
  co_await fetches_.cancel_and_join();
  co_await sources_.stop();
  if (supply_) co_await supply_->leave();
}

chart_members* chart_home::charts_on(const std::string& cluster) const {
  return static_cast<chart_members*>(options_.members(cluster));
}

std::set<values_objects::key> chart_home::sources_of(const fleet_object& p) const {
  std::set<values_objects::key> out;
  for (const values_source& s : p.chart.sources)
    out.emplace(s.is_secret, k8s::object_key{p.meta.ns.str(), s.name});
  return out;
}

std::set<values_objects::key> chart_home::objects_of(const fleet_object& p) const {
  auto out = sources_of(p);
  if (!p.chart.keys.name.empty())
    out.emplace(false, k8s::object_key{p.meta.ns.str(), p.chart.keys.name});
  return out;
}

object_texts chart_home::texts_of(const fleet_object& p, source which) const {
  object_texts out;
  for (const auto& k : sources_of(p))
    if (const values_object* is =
            k.first == (which == source::secrets) ? sources_.find(k) : nullptr)
      out[k.second.name] = is->texts;
  return out;
}

// -- the chart

helm::outcome<std::string> chart_home::keys_of(const fleet_object& p) const {
  const keyring_source& from = p.chart.keys;
  if (from.name.empty()) return std::string();
  const std::string where = "spec.chart.provenance: ConfigMap " + from.name;
  const values_object* is = sources_.find({false, {p.meta.ns.str(), from.name}});
  if (!is) return helm::problem{where + " is not there"};
  for (const auto* all : {&is->binaries, &is->texts}) {
    const auto keys = all->find(from.key);
    if (keys == all->end()) continue;
    if (keys->second.empty()) return helm::problem{where + ", key " + from.key + ": it is empty"};
    if (keys->second.size() <= most_keyring_bytes) return keys->second;
    return helm::problem{where + ", key " + from.key + ": it has " +
                         std::to_string(keys->second.size()) + " bytes, " +
                         std::to_string(most_keyring_bytes) + " are allowed"};
  }
  return helm::problem{where + " has no key " + from.key};
}

std::string chart_home::too_large(const fleet_object& p) const {
  std::size_t of_secrets = 0, of_config_maps = 0;
  for (const auto& k : sources_of(p))
    if (const values_object* is = sources_.find(k))
      (k.first ? of_secrets : of_config_maps) += is->bytes;
  const bool is_of_secrets = of_secrets > values_object::most_bytes;
  if (!is_of_secrets && of_config_maps <= values_object::most_bytes) return {};
  return std::string("spec.valuesFrom: its ") + (is_of_secrets ? "Secrets" : "ConfigMaps") +
         " have " + std::to_string(is_of_secrets ? of_secrets : of_config_maps) + " bytes, " +
         std::to_string(values_object::most_bytes) + " are allowed";
}

void chart_home::ask_for_chart(const fleet_object& p, std::string keys) {
  known_chart& is = known_[p.meta.key()];
  const std::string digest = keys.empty() ? std::string() : formats::digest_of(keys);
  const std::string asked = p.ref + "@" + p.chart.digest + "@" + digest;
  if (is.asked != asked) is = known_chart();
  is.asked = asked;
  is.is.keys = digest;
  if (is.is_asked || is.again > on_.loop().now() || !may_fetch(p.meta.ns.str())) return;
  is.is_asked = true;
  ++fetching_[p.meta.ns.str()];
  fetches_.start("chart of FleetChart " + p.meta.key().text(), fetch(p, asked, std::move(keys)));
}

bool chart_home::may_fetch(const std::string& ns) const {
  return ns == options_.ns || fetching(ns) < most_fetches_of_others;
}

/// What is not signed as it has to be is as if it were not there.
awaitable<void> chart_home::fetch(fleet_object p, std::string asked, std::string keys) {
  const k8s::object_key key = p.meta.key();
  helm::placed::chart_coordinates c{p.chart.repository, p.chart.name, p.chart.version};
  helm::placed::supplied_chart got = co_await supply_->get(c);
  std::string problem = got.why.text, signed_by;
  if (got.chart && !p.chart.digest.empty() && p.chart.digest != got.digest)
    problem = "the archive of " + c.text() + " has digest " + got.digest +
              ", and spec.chart.digest is " + p.chart.digest;
  if (got.chart && problem.empty() && !keys.empty()) {
    c.version = got.version;
    const auto by = co_await supply_->signer(c, got.digest, std::move(keys));
    if (by)
      signed_by = *by;
    else
      problem = "chart " + reactor::redact(c.text()) + " is not signed by a key of ConfigMap " +
                p.chart.keys.name + ", key " + p.chart.keys.key + ": " + by.error().text;
  }
  --fetching_[key.ns];
  // Others of its namespace may have waited for this one.
  for (const auto& [other, is] : known_)
    if (other.ns == key.ns && is.is.version.empty() && is.problem.empty() && !is.is_asked)
      controller_.add(other);
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.asked != asked) co_return;
  known_chart& is = found->second;
  is.is_asked = false;
  is.problem = std::move(problem);
  const bool is_exact =
      helm::placed::version_problem(p.chart.version).empty() && !p.chart.version.empty();
  is.again = is_exact ? reactor::never : on_.loop().now() + range_again;
  if (got.chart && is.problem.empty()) {
    is.is.version = got.version;
    is.is.digest = got.digest;
    is.signed_by = std::move(signed_by);
  } else {
    is.again = on_.loop().now() + problem_again;
  }
  controller_.add(key);
}

/// A version stays what its revision found it to be while that revision is on its way, unless a
/// person asks to try it again, and while nothing else is known. What it was found to be counts
/// only with the keys that it was checked with.
revision_content chart_home::content_wanted(const fleet_object& p) const {
  std::map<std::string, std::string> secrets;
  for (const auto& k : sources_of(p))
    if (const values_object* is = k.first ? sources_.find(k) : nullptr)
      secrets[k.second.name] = is->meta.uid.text() + "/" + is->meta.resource_version.text();
  found_version is;
  if (const auto known = known_.find(p.meta.key()); known != known_.end()) is = known->second.is;
  const revision_content* now = content_of(p.status.digest, p);
  const bool is_under_way = !p.status.history.empty() &&
                            p.status.history.back().outcome == outcome::rolling &&
                            p.meta.annotations.get(names::retry) == p.status.retried;
  if (now && now->ref == p.ref && (is.version.empty() || is_under_way)) {
    const chart_content& held = content(*now, p.status.digest);
    if ((p.chart.digest.empty() || p.chart.digest == held.digest) &&
        (p.chart.keys.name.empty() || (!is.keys.empty() && is.keys == held.keys))) {
      is.version = held.version;
      is.digest = held.digest;
    }
  }
  // What has too much gets no revision, so nothing is made of it either.
  const object_texts texts =
      too_large(p).empty() ? texts_of(p, source::config_maps) : object_texts();
  return revision_of(p, texts, secrets, is);
}

void chart_home::forget(const k8s::object_key& key) {
  sources_.want(key, {});
  known_.erase(key);
  std::erase_if(said_, [&](const auto& s) { return s.first.first == key; });
}

awaitable<chart_home::not_known> chart_home::prepare(fleet_object p) {
  not_known out;
  if (!p.spec_problem().empty()) co_return out;
  if (!has_grant(p)) {
    forget(p.meta.key());
    co_return out;
  }
  std::map<std::string, std::vector<std::string>> needs;
  each_object([&](const fleet_object& other) {
    if (other.meta.ns == p.meta.ns) needs[other.meta.name.str()] = other.chart.depends_on;
  });
  needs[p.meta.name.str()] = p.chart.depends_on;
  if (const std::string cycle = cycle_of(p.meta.name.str(), needs); !cycle.empty()) {
    out.why = "spec.dependsOn: " + cycle + " is a cycle";
    co_return out;
  }
  for (const std::string& name : p.chart.depends_on)
    if (const fleet_object* other = find_object({p.meta.ns.str(), name}))
      co_await load_current(*other);
  const k8s::object_key key = p.meta.key();
  sources_.want(key, objects_of(p));
  const reactor::steady_time until =
      on_.loop().now() + (looks_only() ? patience_of_a_look : patience_of_a_pass);
  // ConfigMaps come at once; what they say is no news before they were read.
  while (!sources_.knows(key) && on_.loop().now() < until) co_await on_.loop().sleep_for(poll);
  if (!sources_.knows(key)) {
    out.why = "its ConfigMaps and Secrets are being read";
    out.is_read = true;
    co_return out;
  }
  auto keys = keys_of(p);
  if (!keys) {
    known_.erase(key);
    out.why = keys.error().text;
    co_return out;
  }
  ask_for_chart(p, *keys);
  const auto is_known = [&] {
    return !known_[key].is.version.empty() || !known_[key].problem.empty();
  };
  // Once for what is asked for: a repository that hangs is not waited for again by each look.
  while (looks_only() && !is_known() && !known_[key].is_waited_for && on_.loop().now() < until) {
    co_await on_.loop().sleep_for(poll);
    ask_for_chart(p, *keys);  // others of its namespace may have been fetched before
  }
  known_[key].is_waited_for = true;
  out.why = too_large(p);
  if (!out.why.empty()) co_return out;
  const revision_content wanted = content_wanted(p);
  if (wanted.template_json.size() > most_revision_bytes) {
    out.why = "spec and the texts of its ConfigMaps have " +
              std::to_string(wanted.template_json.size()) + " bytes as JSON, " +
              std::to_string(most_revision_bytes) + " are allowed";
    co_return out;
  }
  if (wanted.image_digest.size() > 1) {
    if (p.chart.by_policy) co_await ask_values(p);
    co_return out;
  }
  const known_chart& is = known_[key];
  out.is_read = is.problem.empty();
  out.why = out.is_read ? "chart " + p.ref + " is being fetched" : is.problem;
  co_return out;
}

// -- values

const chart_content& chart_home::content(const revision_content& c,
                                         const std::string& digest) const {
  const auto found = contents_.find(digest);
  if (found != contents_.end()) return found->second;
  if (contents_.size() >= most_contents || contents_bytes_ > most_contents_bytes) {
    contents_.clear();
    contents_bytes_ = 0;
  }
  contents_bytes_ += c.template_json.size();
  return contents_.emplace(digest, chart_content::parse(c)).first->second;
}

cluster_values chart_home::values_for(const fleet_object& p, const revision_content& c,
                                      const std::string& digest, const std::string& cluster) {
  k8s::cluster* on = options_.fleet->find(cluster);
  const k8s::string_map labels = on ? on->labels() : k8s::string_map();
  const chart_content& is = content(c, digest);
  const auto said = said_.find({p.meta.key(), cluster});
  const bool asks = is.spec.by_policy && said != said_.end();
  cluster_values out =
      with_secrets(values_before_policy(is, labels), asks ? &said->second.values : nullptr, is,
                   texts_of(p, source::secrets), labels);
  if (asks && out.problem.empty()) out.problem = said->second.problem;
  return out;
}

const chart_home::effective& chart_home::effective_on(const fleet_object& p,
                                                      const revision_content& c,
                                                      const std::string& digest,
                                                      const std::string& cluster) {
  k8s::cluster* on = options_.fleet->find(cluster);
  const k8s::string_map labels = on ? on->labels() : k8s::string_map();
  const chart_content& is = content(c, digest);
  const auto said = said_.find({p.meta.key(), cluster});
  const bool asks = is.spec.by_policy && said != said_.end();
  std::string parts = p.meta.key().text() + "\n" + digest + "\n" + chosen_keys(is, labels);
  if (asks) parts += said->second.asked;
  for (const auto& k : sources_of(p))
    if (const values_object* s = k.first ? sources_.find(k) : nullptr)
      parts += "\n" + s->meta.resource_version.text();
  std::string key = formats::sha256_hex(parts);  // the parts may be long, and many are kept
  if (const auto found = effective_.find(key); found != effective_.end()) return found->second;
  if (effective_.size() >= most_effective) effective_.clear();
  effective out;
  if (asks) out.hold = said->second.hold;
  cluster_values values = values_for(p, c, digest, cluster);
  out.problem = std::move(values.problem);
  if (out.problem.empty()) out.digest = digest_of(is, values.values);
  return effective_.emplace(std::move(key), std::move(out)).first->second;
}

shown_values chart_home::values_before_secrets(const fleet_look& at, const std::string& cluster) {
  k8s::cluster* on = options_.fleet->find(cluster);
  const k8s::string_map labels = on ? on->labels() : k8s::string_map();
  const chart_content& is = content(at.wanted, at.world.wanted);
  cluster_values values = values_before_policy(is, labels);
  const auto said = said_.find({at.object.meta.key(), cluster});
  if (is.spec.by_policy && said != said_.end() && values.problem.empty()) {
    chart_content without = is;
    without.spec.sources.clear();
    values = with_secrets(std::move(values), &said->second.values, without, {}, labels);
  }
  return shown(values);
}

/// Each cluster's, once for all that it is told.
awaitable<void> chart_home::ask_values(fleet_object p) {
  policies::subject about;
  about.api = charts_api;
  about.object_labels = policies::as_labels(p.meta.labels);
  std::string pack;
  if (options_.packs)
    if (const auto found = options_.packs->select("fleet.values", about); found && *found)
      pack = (*found)->about().name + " " + (*found)->about().version;
  const revision_content wanted = content_wanted(p);
  const chart_content is = chart_content::parse(wanted);
  const std::string digest = wanted.digest();
  for (k8s::cluster* c : options_.fleet->clusters()) {
    const std::string cluster = c->name();
    const k8s::string_map labels = c->labels();
    if (!p.clusters.chooses(cluster, labels)) continue;
    if (pack.empty()) {
      said_[{p.meta.key(), cluster}] = {
          digest, {}, "spec.valuesByPolicy is true and no pack answers fleet.values", {}};
      continue;
    }
    auto q = std::make_shared<policies::chart_values_question>();
    chart_members* part = charts_on(cluster);
    q->cluster = {cluster, labels, part ? part->kubernetes() : std::string()};
    std::string asked = digest + "\n" + pack + "\n" + q->cluster.kubernetes;
    for (const auto& [key, label] : labels)
      asked.append("\n").append(key.view()).append("=").append(label.view());
    if (said_[{p.meta.key(), cluster}].asked == asked) continue;
    policies::fleet_chart_facts& o = q->object;
    o.kind = p.kind;
    o.ns = p.meta.ns.str();
    o.name = p.meta.name.str();
    o.labels = p.meta.labels;
    o.annotations = p.meta.annotations;
    o.chart = {is.spec.repository, is.spec.name, is.version};
    o.release = is.spec.release;
    o.target_namespace = is.spec.ns;
    o.config = is.config_maps;
    const cluster_values before = values_before_policy(is, labels);
    o.values = values_for_policy(before.values);
    policies::subject of = about;
    auto answer =
        co_await policies::ask_values(*options_.packs, std::move(of), q, on_.loop().wall());
    said_values next;
    next.asked = std::move(asked);
    if (!answer) {
      next.hold = units::held(units::hold_code::policy_fault, cluster,
                              "the policy failed: " + answer.error().message());
    } else {
      if (answer->hold)
        next.hold = units::held_by_policy(answer->hold->code, cluster, answer->hold->reason,
                                          answer->pack + " " + answer->version);
      next.values = values_of_policy(answer->values);
    }
    said_[{p.meta.key(), cluster}] = std::move(next);
  }
}

// -- members

needs_verdict chart_home::needs_on(const fleet_object& p, const std::string& cluster) {
  k8s::cluster* on = options_.fleet->find(cluster);
  return judge_needs(cluster, p.chart.depends_on, [&](const std::string& name) -> needed_chart {
    const fleet_object* other = find_object({p.meta.ns.str(), name});
    if (!other) return {needed_chart::state::missing, {}};
    if (!on || !other->clusters.chooses(cluster, on->labels()))
      return {needed_chart::state::not_meant, {}};
    if (!is_granted(*other, *on)) return {needed_chart::state::not_granted, {}};
    const chart_members* part = charts_on(cluster);
    if (!part) return {needed_chart::state::not_ready, other->chart.depends_on};
    return {state_of_needed(*other, part->look(*other), cluster), other->chart.depends_on};
  });
}

needed_chart::state chart_home::state_of_needed(const fleet_object& other,
                                                const chart_members::seen& is,
                                                const std::string& cluster) {
  if (is.is_known && is.is_foreign_to(other) && !other.adopts_on(cluster))
    return needed_chart::state::foreign;
  const revision_content* asked = content_of(other.status.digest, other);
  const bool is_looked_at = other.status.observed_generation >= other.meta.generation;
  const bool is_ready =
      asked && is_looked_at && is.is_noted_for(other) && is.rests(other.chart.drift) &&
      is.note->content == effective_on(other, *asked, other.status.digest, cluster).digest;
  return is_ready ? needed_chart::state::ready : needed_chart::state::not_ready;
}

member_sight chart_home::sight_on(fleet_look& at, member m, member_part* of) {
  member_sight out;
  out.is = std::move(m);
  member& is = out.is;
  if (!of) return out;
  const fleet_object& p = at.object;
  const chart_members::seen seen = static_cast<chart_members*>(of)->look(p);
  if (!seen.is_known) {
    if (is.seen != member::sight::seen) return out;
    is.seen = member::sight::lost;
    is.why_away = "what Helm has there is being read";
    out.look_again = at.world.now + look_again_soon;
    return out;
  }
  is.refusal = seen.refusal;
  const effective wanted =
      has_grant(p) ? effective_on(p, at.wanted, at.world.wanted, is.cluster) : effective();
  if (!wanted.problem.empty())
    is.stuck = units::held(hold_code::values_refused, is.cluster, wanted.problem);
  else if (wanted.hold)
    is.policy = wanted.hold;
  else {
    needs_verdict needs = needs_on(p, is.cluster);
    (needs.is_stuck ? is.stuck : is.needs) = std::move(needs.hold);
  }
  const revision_content* before = content_of(at.world.proven, p);
  const std::string proven =
      before ? effective_on(p, *before, at.world.proven, is.cluster).digest : std::string();
  // What one cluster gets may be the same by several revisions.
  const auto revision_of_content = [&](const std::string& content, const std::string& noted) {
    if (!wanted.digest.empty() && content == wanted.digest) return at.world.wanted;
    if (!proven.empty() && content == proven) return at.world.proven;
    return noted == at.world.wanted && wanted.problem.empty() ? noted + "~" : noted;
  };
  const bool is_mine = seen.is_noted_for(p);
  is.waits = seen.hold;
  if (is.waits) is.waits->unit = is.cluster;
  if (seen.is_told) is.told = revision_of_content(seen.ordered, {});
  if (!is_mine && (!seen.is_ordered || seen.is_told)) {
    if (!seen.note && !seen.is_there()) return out;
    is.has = member::owner::other;
    is.holder = seen.note ? "the release comes from " + seen.note->object
                          : "a release " + p.claim + " is there that no FleetChart made";
    return out;
  }
  is.has = member::owner::ours;
  is.is_going = seen.goes;
  is.is = member::progress::moving;
  if (!is_mine) return out;
  if (!is.waits && !seen.note->hold.empty()) {
    is.waits = hold_of_note(*seen.note);
    is.waits->unit = is.cluster;
  }
  is.digest = revision_of_content(seen.note->content, seen.note->digest);
  const auto since = reactor::parse_rfc3339(seen.note->since);
  is.since = since ? *since : reactor::wall_time{};
  if (seen.note->is == chart_note::state::begun) is.begun = seen.note->digest;
  if (seen.note->is == chart_note::state::failed) {
    is.is = member::progress::failed;
    is.message = seen.note->why;
  } else if (seen.note->is == chart_note::state::done) {
    const bool is_noted = seen.is_as_noted();
    if (is_noted || p.chart.drift != chart_spec::on_drift::repair) is.is = member::progress::ready;
    if (is_noted || p.chart.drift == chart_spec::on_drift::ignore) is.waits.reset();
  }
  return out;
}

std::string chart_home::digest_on(member_part& part, const fleet_object& p) const {
  const auto seen = static_cast<chart_members&>(part).look(p);
  return seen.is_noted_for(p) ? seen.note->digest : std::string();
}

void chart_home::see_tags(fleet_look& at) const {
  at.held_at = at.wanted.image_digest;
  for (const revision_record& r : at.object.status.history)
    if (r.digest == at.world.wanted) at.signed_by = r.signed_by;
  const auto known = known_.find(at.object.meta.key());
  if (known == known_.end()) return;
  at.not_taken = known->second.problem;
  const found_version& is = known->second.is;
  if (!known->second.signed_by.empty() && is.version + "@" + is.digest == at.held_at)
    at.signed_by = known->second.signed_by;
}

chart_order chart_home::order_for(const fleet_object& p, const revision_content& c,
                                  const std::string& digest, std::int64_t number,
                                  const std::string& cluster) {
  const chart_content& is = content(c, digest);
  cluster_values has = values_for(p, c, digest, cluster);
  chart_order o;
  o.meta = p.meta;
  o.meta.generation = number;
  o.mark = p.mark();
  o.digest = digest;
  o.wanted.chart = is.coordinates();
  o.wanted.fingerprint = effective_on(p, c, digest, cluster).digest;
  o.wanted.values = helm::placed::values_digest(has.values);
  o.chart_digest = is.digest;
  o.values = std::move(has.values);
  o.ns = p.chart.ns;
  o.release = p.chart.release;
  o.is_confined = p.meta.ns.str() != options_.ns;
  o.tests = p.chart.tests;
  o.atomic = p.chart.atomic;
  o.drift = p.chart.drift;
  o.timeout = p.chart.timeout;
  o.asked = p.meta.annotations.get(names::retry);
  return o;
}

/// What was told and is no longer planned is taken back. What is under way when the process begins,
/// and what another writer changed, goes on without a deed.
void chart_home::keep(const fleet_look& at) {
  const fleet_object& p = at.object;
  for (std::size_t i = 0; i < at.world.members.size(); ++i) {
    const member& m = at.world.members[i];
    // Whose server refuses it takes it once it may.
    if (!m.told.empty() && !at.plan.members[i].was_told && m.refusal.empty())
      if (chart_members* part = charts_on(m.cluster)) part->take_back(p.meta.key());
    if (p.paused || p.meta.deleting()) continue;
    const bool is_ours = m.seen == member::sight::seen && m.has == member::owner::ours &&
                         m.is_selected && m.is_granted && !m.is_going;
    if (!is_ours || at.plan.members[i].does != deed::nothing) continue;
    const bool is_wanted = m.digest == at.world.wanted;
    if (!is_wanted && m.digest != at.world.proven) continue;
    chart_members* part = charts_on(m.cluster);
    if (!part || !part->on().is_live()) continue;
    const chart_members::seen seen = part->look(p);
    if (!seen.is_noted_for(p) || seen.is_told || seen.rests(p.chart.drift)) continue;
    const revision_content* c = is_wanted ? &at.wanted : content_of(m.digest, p);
    if (!c) continue;
    chart_order o = order_for(p, *c, m.digest, seen.note->revision, m.cluster);
    // That it is tried again is for the plan to say.
    if (o.is_retry(*seen.note)) o.asked.clear();
    part->order(std::move(o));
  }
}

bool chart_home::asks_for(const chart_order& o, const std::string& cluster) {
  const fleet_object* p = find_object(o.meta.key());
  k8s::cluster* on = options_.fleet->find(cluster);
  if (!p || !(p->meta.uid == o.meta.uid) || p->paused || p->meta.deleting() ||
      !p->spec_problem().empty() || !on || !p->clusters.chooses(cluster, on->labels()))
    return false;
  if (o.digest == p->status.proven_digest) return true;
  if (is_halted(*p)) return false;
  if (o.digest != content_wanted(*p).digest()) return false;
  if (needs_on(*p, cluster).hold) return false;
  // Counted as the plan does, or what it tells a cluster would be taken back again and again.
  std::size_t begun = 0;
  for (k8s::cluster* c : options_.fleet->clusters()) {
    const chart_members* part = c->name() == cluster ? nullptr : charts_on(c->name());
    // One that cannot be reached keeps no slot, as in the plan, or none would ever begin.
    begun += part && part->on().is_live() && part->is_under_way(*p, o.digest);
  }
  return begun < p->rollout.max_clusters.up(meant(*p));
}

awaitable<void> chart_home::load_and_doubt(fleet_object p, std::string digest,
                                           std::string cluster) {
  std::vector<std::string> one{digest};
  co_await load(p, std::move(one));
  chart_members* part = charts_on(cluster);
  if (part && content_of(digest, p)) doubt(*part, p.claim);
}

void chart_home::doubt(chart_members& on, const std::string& claim) {
  if (looks_only()) return;
  each_object([&](const fleet_object& p) {
    if (p.claim != claim || p.paused || p.meta.deleting() ||
        p.chart.drift == chart_spec::on_drift::ignore)
      return;
    const chart_members::seen seen = on.look(p);
    if (seen.is_ordered || !seen.is_noted_for(p)) return;
    const revision_content* c = content_of(seen.note->digest, p);
    if (!c && find_revision(seen.note->digest, p))
      fetches_.start("revision of FleetChart " + p.meta.key().text(),
                     load_and_doubt(p, seen.note->digest, on.on().on().name()));
    if (!c) return;
    chart_order o = order_for(p, *c, seen.note->digest, seen.note->revision, on.on().on().name());
    if (o.wanted.fingerprint == seen.note->content) on.order(std::move(o));
  });
}

awaitable<void> chart_home::carry_out(deed_order d) {
  chart_members* part = charts_on(d.where.second);
  k8s::result<void> done;
  if (part && d.what.does == deed::write) {
    chart_order o = order_for(d.of, d.content, d.what.digest, d.marks.revision, d.where.second);
    o.adopts = d.what.takes_over;
    part->order(std::move(o));
  } else if (part && d.what.does == deed::remove) {
    chart_order o;
    o.meta = d.of.meta;
    o.mark = d.of.mark();
    o.ns = d.of.chart.ns;
    o.release = d.of.chart.release;
    o.timeout = d.of.chart.timeout;
    o.is_confined = d.of.meta.ns.str() != options_.ns;
    o.uninstalls = true;
    part->order(std::move(o));
  } else if (part && d.what.does == deed::let_go) {
    done = co_await part->let_go(d.where.first, d.of.claim);
  }
  deed_done(d, done, {}, true);
  co_return;
}

/// A release that is noted and waits is asked about at each change and keeps its values, so only as
/// many wait as keep the operations busy.
std::size_t chart_home::room() const {
  std::size_t busy = 0;
  for (k8s::cluster* c : options_.fleet->clusters())
    if (const chart_members* part = charts_on(c->name())) busy += part->busy();
  const std::size_t most = 3 * operations_;
  return most > busy ? most - busy : 0;
}

bool chart_home::grant_reaches(const fleet_grant& g, const fleet_object& p) const {
  return std::ranges::any_of(g.target_namespaces,
                             [&](const std::string& ns) { return ns == "*" || ns == p.chart.ns; });
}

bool chart_home::concerns(const fleet_object& p, const std::string& claim) const {
  if (p.claim == claim) return true;
  return std::ranges::any_of(p.chart.depends_on, [&](const std::string& name) {
    const fleet_object* other = find_object({p.meta.ns.str(), name});
    return other && other->claim == claim;
  });
}

}  // namespace fleetwide
