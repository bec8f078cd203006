// The judge of FleetCharts: every rule reads the same facts of home and clusters.
#include "simulation/charts/chart_invariants.hpp"

#include "k8s/sim/objects/json.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace simulation {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using k8s::sim::find_array;
using k8s::sim::find_object;
using k8s::sim::text;
using k8s::sim::write_type;

constexpr std::string_view own_namespace = "default", notes_namespace = "bootc-operator",
                           notes_name = "windlass-fleet", mark_prefix = "FleetChart/",
                           helm_records = "sh.helm.release.v1.", outside_suffix = "-outside",
                           values_key = "values.yaml", level_line = "level: ";
/// Between a look at the fleet and the note that follows from it something may change.
constexpr reactor::nanoseconds on_its_way = 60s, brake_lands_within = 1s, brake_is_heard_late = 20s;

std::map<std::string, std::string> texts_in(const json::object* o) {
  std::map<std::string, std::string> out;
  if (!o) return out;
  for (const auto& m : *o)
    if (m.value().is_string()) out[std::string(m.key())] = std::string(m.value().get_string());
  return out;
}

std::vector<std::string> list_in(const json::array* all) {
  std::vector<std::string> out;
  if (!all) return out;
  for (const json::value& v : *all)
    if (v.is_string()) out.emplace_back(v.get_string());
  return out;
}

std::set<std::string> set_in(const json::array* all) {
  const std::vector<std::string> list = list_in(all);
  return {list.begin(), list.end()};
}

bool has_labels(const std::map<std::string, std::string>& all,
                const std::map<std::string, std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& w) {
    const auto found = all.find(w.first);
    return found != all.end() && found->second == w.second;
  });
}

/// Of a text such as "level: debug"; empty: it says nothing of it.
std::string level_in(std::string_view values) {
  const std::size_t at = values.find(level_line);
  if (at == values.npos) return {};
  const std::string_view rest = values.substr(at + level_line.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

bool says_halted(const json::object& object) {
  const json::array* all = find_array(object, {"status", "conditions"});
  return all && std::ranges::any_of(*all, [](const json::value& v) {
           const json::object* c = v.if_object();
           return c && text(*c, {"type"}) == "Halted" && text(*c, {"status"}) == "True";
         });
}

bool pends(std::string_view status) {
  return status.starts_with("pending-");
}

/// What every service writes, whatever it moves.
bool is_noise(const k8s::sim::written& w) {
  return w.plural == "events" || w.plural == "leases";
}

}  // namespace

chart_invariants::chart_invariants(std::vector<place> clusters,
                                   std::function<reactor::steady_time()> now)
    : now_(std::move(now)) {
  for (place& p : clusters) clusters_.emplace_back().at = std::move(p);
}

void chart_invariants::by_person(const std::function<void()>& act) {
  by_person_ = true;
  act();
  by_person_ = false;
}

// -- home

void chart_invariants::saw_home(const k8s::sim::written& w) {
  if (rests_ && !by_person_ && !is_noise(w))
    found("home: " + std::string(w.plural) + " " + std::string(w.name) +
          " is written while nothing is asked for");
  if (w.plural == "fleetcharts") saw_object(w);
  if (w.plural == "controllerrevisions") saw_revision(w);
  if (w.plural == "fleetgrants") saw_grant(w);
}

void chart_invariants::saw_object(const k8s::sim::written& w) {
  const std::string id = std::string(w.ns) + "/" + std::string(w.name);
  if (w.type == write_type::deleted) {
    objects_.erase(id);
    return;
  }
  const auto [at, is_new] = objects_.try_emplace(id);
  facts_of_object& o = at->second;
  const json::object& all = *w.after;
  if (is_new) o.age = ++ages_;
  o.ns = w.ns;
  o.name = w.name;
  const std::string release(text(all, {"spec", "release"}));
  o.target = text(all, {"spec", "namespace"});
  o.key = o.target + "." + (release.empty() ? o.name : release);
  const json::object* selector = find_object(all, {"spec", "clusters", "selector"});
  const auto labels = texts_in(find_object(all, {"spec", "clusters", "selector", "matchLabels"}));
  const auto names = set_in(find_array(all, {"spec", "clusters", "names"}));
  if (is_new || o.chooses_by_labels != (selector != nullptr) || o.labels != labels ||
      o.names != names)
    o.spec_since = now_();
  o.chooses_by_labels = selector != nullptr;
  o.labels = labels;
  o.names = names;
  o.wave_label = text(all, {"spec", "rollout", "waves", "label"});
  o.waves = list_in(find_array(all, {"spec", "rollout", "waves", "values"}));
  const json::value* most = k8s::sim::find(all, {"spec", "rollout", "maxClusters"});
  o.max_clusters = !most               ? "1"
                   : most->is_string() ? std::string(most->get_string())
                                       : json::serialize(*most);
  o.depends_on = list_in(find_array(all, {"spec", "dependsOn"}));
  o.adopt = text(all, {"metadata", "annotations", "fleet.windlass.dev/adopt"});
  o.is_going = !text(all, {"metadata", "deletionTimestamp"}).empty();
  const bool is_paused = k8s::sim::flag(all, {"spec", "paused"});
  if (!is_paused)
    o.paused_since.reset();
  else if (!o.paused_since)
    o.paused_since = now_();
  const bool is_halted = says_halted(all);
  if (!is_halted)
    o.halted_since.reset();
  else if (!o.halted_since)
    o.halted_since = now_();
  const std::string proven(text(all, {"status", "provenDigest"}));
  if (!proven.empty()) o.proven.insert(proven);
  std::string wanted(text(all, {"status", "digest"}));
  if (wanted != o.wanted) asked_for(o, std::move(wanted));
}

void chart_invariants::asked_for(facts_of_object& o, std::string digest) {
  o.before = std::exchange(o.wanted, std::move(digest));
  o.since = now_();
  // What a cluster had when it was asked for before proves nothing.
  for (facts_of_cluster& c : clusters_) {
    std::set<std::string>& had = c.had[o.ns + "/" + o.name];
    had.clear();
    const note* n = note_of(o, c);
    if (n && n->state == "done") had.insert(c.effects[o.key]);
  }
}

void chart_invariants::saw_revision(const k8s::sim::written& w) {
  if (w.type == write_type::deleted) return;
  const json::object& all = *w.after;
  facts_of_revision& r = revisions_[std::string(w.ns) + "/" + std::string(w.name)];
  r = facts_of_revision();
  const std::string_view image = text(all, {"data", "imageDigest"});
  r.version = image.substr(0, image.find('@'));
  r.level = text(all, {"data", "template", "values", "level"});
  if (const json::array* from = find_array(all, {"data", "template", "valuesFrom"}))
    for (const json::value& one : *from) {
      const std::string_view key = text(one.as_object(), {"key"});
      r.keys.push_back(std::string(text(one.as_object(), {"name"})) + "/" +
                       std::string(key.empty() ? values_key : key));
    }
  if (const json::object* maps = find_object(all, {"data", "template", "configMaps"}))
    for (const auto& m : *maps)
      for (const auto& [key, said] : texts_in(m.value().if_object()))
        r.texts[std::string(m.key()) + "/" + key] = said;
}

void chart_invariants::saw_grant(const k8s::sim::written& w) {
  grants_since_ = now_();
  if (w.type == write_type::deleted || w.ns != own_namespace) {
    grants_.erase(std::string(w.name));
    return;
  }
  grant& g = grants_[std::string(w.name)];
  g.namespaces = set_in(find_array(*w.after, {"spec", "namespaces"}));
  g.targets = set_in(find_array(*w.after, {"spec", "targetNamespaces"}));
  g.labels = texts_in(find_object(*w.after, {"spec", "clusters", "selector", "matchLabels"}));
}

// -- clusters

void chart_invariants::saw(std::size_t cluster, const k8s::sim::written& w) {
  facts_of_cluster& c = clusters_[cluster];
  if (rests_ && !by_person_ && !is_noise(w))
    found(c.at.name + ": " + std::string(w.plural) + " " + std::string(w.ns) + "/" +
          std::string(w.name) + " is written while nothing is asked for");
  if (w.plural == "configmaps" && w.ns == notes_namespace && w.name == notes_name)
    return saw_notes(c, w);
  if (w.plural == "configmaps") return saw_config(c, w);
  if (w.plural == "secrets" && w.name.starts_with(helm_records)) return saw_record(c, w);
  if (w.plural != "namespaces" || w.type != write_type::added || by_person_) return;
  const std::string name(w.name);
  const bool is_target =
      name == notes_namespace || std::ranges::any_of(objects_, [&](const auto& one) {
        return one.second.target == name && is_meant(one.second, c);
      });
  if (!is_target) found(c.at.name + ": namespace " + name + " is made, which no FleetChart names");
}

void chart_invariants::saw_config(facts_of_cluster& c, const k8s::sim::written& w) {
  const std::string key = std::string(w.ns) + "." + std::string(w.name);
  if (w.type == write_type::deleted) {
    c.effects.erase(key);
    return;
  }
  if (!by_person_ && w.name.ends_with(outside_suffix)) {
    const std::string release(w.name.substr(0, w.name.size() - outside_suffix.size()));
    for (const auto& [id, o] : objects_)
      if (o.ns != own_namespace && o.key == o.target + "." + release && w.ns != o.target)
        violated(c, o, "writes " + key + ", outside of its namespace");
  }
  const std::string_view version = text(*w.after, {"data", "version"});
  if (version.empty()) return;
  c.effects[key] = std::string(version) + " " + std::string(text(*w.after, {"data", "level"}));
  const auto n = c.notes.find(key);
  if (by_person_ || n == c.notes.end()) return;
  const auto whose = objects_.find(n->second.object.substr(mark_prefix.size()));
  if (whose != objects_.end() && !is_granted(whose->second, c) &&
      now_() - grants_since_ > on_its_way)
    violated(c, whose->second, "has its objects written without a FleetGrant");
}

void chart_invariants::saw_record(facts_of_cluster& c, const k8s::sim::written& w) {
  const std::string key =
      std::string(w.ns) + "." + std::string(text(*w.after, {"metadata", "labels", "name"}));
  const int revision =
      std::atoi(std::string(text(*w.after, {"metadata", "labels", "version"})).c_str());
  if (by_person_) c.touched_at[key] = now_();
  std::map<int, record>& all = c.records[key];
  if (w.type == write_type::deleted) {
    all.erase(revision);
    return;
  }
  if (!by_person_ && !c.notes.contains(key))
    found(c.at.name + ": a release " + key + " is written that no note tells of");
  all[revision].status = text(*w.after, {"metadata", "labels", "status"});
  const auto count = [&](auto&& is) {
    return std::ranges::count_if(all, [&](const auto& one) { return is(one.second.status); });
  };
  if (count([](const std::string& s) { return s == "deployed"; }) > 1)
    found(c.at.name + ": release " + key + " has two deployed records");
  if (count([](const std::string& s) { return pends(s); }) > 1)
    found(c.at.name + ": release " + key + " has two pending records");
}

void chart_invariants::saw_notes(facts_of_cluster& c, const k8s::sim::written& w) {
  std::map<std::string, std::string> said;
  if (w.type != write_type::deleted) said = texts_in(find_object(*w.after, {"data"}));
  std::erase_if(c.notes, [&](const auto& n) { return !said.contains(n.first); });
  for (const auto& [key, line] : said) {
    const auto read = k8s::sim::parse(line);
    if (!read || !read->is_object()) {
      found(c.at.name + ": the note " + key + " cannot be read");
      continue;
    }
    const json::object& o = read->get_object();
    note now;
    now.object = text(o, {"object"});
    now.digest = text(o, {"digest"});
    now.content = text(o, {"content"});
    now.state = text(o, {"state"});
    saw_note(c, key, now);
  }
}

void chart_invariants::saw_note(facts_of_cluster& c, const std::string& key, const note& now) {
  const auto before = c.notes.find(key);
  const note* was = before == c.notes.end() ? nullptr : &before->second;
  if (was && was->object == now.object && was->digest == now.digest &&
      was->content == now.content && was->state == now.state)
    return;
  const auto whose =
      objects_.find(now.object.substr(std::min(now.object.size(), mark_prefix.size())));
  if (whose == objects_.end() || whose->second.key != key) {
    if (!by_person_)
      found(c.at.name + ": the note " + key + " is of " + now.object + ", which does not claim it");
  } else if (!by_person_) {
    const facts_of_object& o = whose->second;
    if (was && was->object != now.object && !adopts(o, c))
      violated(c, o, "takes over " + key + " from " + was->object + " without adoption");
    if (!was && is_there(c, key) && !adopts(o, c))
      violated(c, o, "takes over a release that no FleetChart made without adoption");
    const bool is_beginning =
        now.state == "begun" && !(was && was->object == now.object && was->content == now.content);
    const bool is_again = now.state == "begun" && was && was->state == "failed";
    if (is_beginning || is_again) begins(c, o, was, now);
    if (now.state == "done") {
      c.had[o.ns + "/" + o.name].insert(c.effects[key]);
      const auto newest = c.records[key].rbegin();
      const auto touched = c.touched_at.find(key);
      const bool is_deployed =
          newest != c.records[key].rend() && newest->second.status == "deployed";
      if (!is_deployed && (touched == c.touched_at.end() || now_() - touched->second > on_its_way))
        violated(c, o, "is noted as done while its release is not deployed");
    }
    if (is_beginning || is_again)
      begins_by_plan(c, o);
    else
      ends_by_plan(c, o);
  }
  c.notes[key] = now;
  c.changed_at[key] = now_();
}

// -- rules

void chart_invariants::begins(facts_of_cluster& c, const facts_of_object& o, const note* was,
                              const note& now) {
  const bool is_fresh = now_() - o.spec_since <= on_its_way || now_() - grants_since_ <= on_its_way;
  if (!is_meant(o, c) && !is_fresh)
    violated(c, o, chooses(o, c) ? "begins without a FleetGrant" : "begins where it is not meant");
  if (braked_since_ &&
      now_() - *braked_since_ > (is_home_reached_ ? brake_lands_within : brake_is_heard_late))
    violated(c, o, "begins while the brake is on");
  if (o.paused_since && now_() - *o.paused_since > on_its_way)
    violated(c, o, "begins while it is paused");
  // Of a cluster that is disturbed the note may have been sent before, and arrive late.
  if (now.digest == o.wanted && o.halted_since &&
      now_() - *o.halted_since > (c.is_reached ? brake_lands_within : on_its_way))
    violated(c, o, "begins revision " + now.digest + ", which is halted");
  if (now.digest == o.wanted) {
    judge_waves(c, o, now);
    judge_slots(c, o, now);
    judge_order(c, o);
  } else if (o.proven.contains(now.digest)) {
    // A cluster that comes gets it outside of waves, and one that goes back has what it needs.
    if (!was) judge_order(c, o);
  } else if (now.digest != o.before || now_() - o.since > on_its_way) {
    violated(c, o, "begins revision " + now.digest + ", which is neither asked for nor proven");
  }
}

void chart_invariants::judge_waves(const facts_of_cluster& c, const facts_of_object& o,
                                   const note& now) {
  const std::size_t mine = wave_of(o, c);
  for (const facts_of_cluster& e : clusters_) {
    if (wave_of(o, e) >= mine || !e.is_reached || !is_meant(o, e) || is_foreign(o, e) ||
        waits_for_ever(o, e))
      continue;
    const note* n = note_of(o, e);
    const auto effect = expected(o, now.digest, e);
    // Of another revision that comes to the same there it is failed all the same.
    if (n && n->state == "failed" && expected(o, n->digest, e) == effect) continue;
    const auto had = e.had.find(o.ns + "/" + o.name);
    if (effect && had != e.had.end() && had->second.contains(*effect)) continue;
    violated(c, o,
             "begins revision " + now.digest + " in wave " + std::to_string(mine) + ", which " +
                 e.at.name + " of wave " + std::to_string(wave_of(o, e)) + " has not had");
    return;
  }
}

void chart_invariants::judge_slots(const facts_of_cluster& c, const facts_of_object& o,
                                   const note& now) {
  std::size_t begun = 1;
  for (const facts_of_cluster& e : clusters_) {
    const note* n = &e == &c || !e.is_reached ? nullptr : note_of(o, e);
    begun += n && n->state == "begun" && n->digest == now.digest;
  }
  const std::size_t most = slots_of(o);
  if (begun > most)
    violated(c, o,
             "is the " + std::to_string(begun) + ". cluster that has begun revision " + now.digest +
                 ", and " + std::to_string(most) + " may at once");
}

void chart_invariants::judge_order(const facts_of_cluster& c, const facts_of_object& o) {
  for (const std::string& name : o.depends_on) {
    const auto other = objects_.find(o.ns + "/" + name);
    if (other == objects_.end()) {
      violated(c, o, "begins without " + name + ", which is not at home");
      continue;
    }
    const facts_of_object& b = other->second;
    const note* n = note_of(b, c);
    const auto changed = c.changed_at.find(b.key);
    if (changed != c.changed_at.end() && now_() - changed->second <= on_its_way) continue;
    if (!n || n->state != "done")
      violated(c, o, "begins before " + name + ", which it needs, is done");
  }
}

void chart_invariants::begins_by_plan(const facts_of_cluster& c, const facts_of_object& o) {
  const auto plan = planned_.find(o.ns + "/" + o.name);
  if (plan == planned_.end()) return;
  if (plan->second.erase(c.at.name) == 0) violated(c, o, "begins and was not in the plan");
  if (plan->second.empty()) planned_.erase(plan);
}

void chart_invariants::ends_by_plan(const facts_of_cluster& c, const facts_of_object& o) {
  const auto plan = planned_.find(o.ns + "/" + o.name);
  if (plan == planned_.end()) return;
  violated(c, o, "has ended before " + *plan->second.begin() + " began, which was in the plan");
  planned_.erase(plan);
}

void chart_invariants::will_begin(const std::string& object, std::set<std::string> clusters) {
  planned_[object] = std::move(clusters);
}

void chart_invariants::check_planned() {
  for (const auto& [object, clusters] : planned_)
    for (const std::string& name : clusters)
      found(name + ": FleetChart " + object + " did not begin, as the plan said it would");
  planned_.clear();
}

void chart_invariants::brakes(bool is_on) {
  if (!is_on)
    braked_since_.reset();
  else if (!braked_since_)
    braked_since_ = now_();
}

std::string chart_invariants::releases_of(const std::string& object) const {
  const auto o = objects_.find(object);
  if (o == objects_.end()) return "none";
  std::string out;
  for (const facts_of_cluster& c : clusters_) {
    const auto effect = c.effects.find(o->second.key);
    out += c.at.name + " " + (effect == c.effects.end() ? "none" : effect->second) + "\n";
  }
  return out;
}

void chart_invariants::check_undone(const std::string& object, const std::string& releases) {
  const std::string now = releases_of(object);
  if (now != releases)
    found("FleetChart " + object + " was put back, and its releases are\n" + now + "and were\n" +
          releases);
}

void chart_invariants::saw_start() {
  for (facts_of_cluster& c : clusters_)
    for (auto& [key, all] : c.records)
      for (auto& [revision, one] : all) one.is_inherited = pends(one.status);
}

void chart_invariants::saw_stop() {
  for (const facts_of_cluster& c : clusters_)
    for (const auto& [key, all] : c.records)
      if (!all.empty() && pends(all.rbegin()->second.status) && !all.rbegin()->second.is_inherited)
        found(c.at.name + ": release " + key + " is left " + all.rbegin()->second.status +
              " by a service that ended in good order");
}

// -- facts

bool chart_invariants::chooses(const facts_of_object& o, const facts_of_cluster& c) {
  return (o.chooses_by_labels && has_labels(c.at.labels, o.labels)) || o.names.contains(c.at.name);
}

bool chart_invariants::is_granted(const facts_of_object& o, const facts_of_cluster& c) const {
  if (o.ns == own_namespace) return true;
  return std::ranges::any_of(grants_, [&](const auto& one) {
    const grant& g = one.second;
    return g.namespaces.contains(o.ns) &&
           (g.targets.contains("*") || g.targets.contains(o.target)) &&
           has_labels(c.at.labels, g.labels);
  });
}

bool chart_invariants::is_meant(const facts_of_object& o, const facts_of_cluster& c) const {
  return !o.is_going && chooses(o, c) && is_granted(o, c);
}

bool chart_invariants::is_foreign(const facts_of_object& o, const facts_of_cluster& c) const {
  if (note_of(o, c)) return false;
  if (adopts(o, c)) return false;
  if (c.notes.contains(o.key) || is_there(c, o.key)) return true;
  return std::ranges::any_of(objects_, [&](const auto& one) {
    return one.second.key == o.key && one.second.age < o.age && is_meant(one.second, c);
  });
}

/// What it needs is not for the cluster, or another's there.
bool chart_invariants::waits_for_ever(const facts_of_object& o, const facts_of_cluster& c) const {
  return std::ranges::any_of(o.depends_on, [&](const std::string& name) {
    const auto other = std::ranges::find_if(objects_, [&](const auto& one) {
      return one.second.ns == o.ns && one.second.name == name;
    });
    return other == objects_.end() || !is_meant(other->second, c) || is_foreign(other->second, c) ||
           waits_for_ever(other->second, c);
  });
}

std::size_t chart_invariants::wave_of(const facts_of_object& o, const facts_of_cluster& c) {
  const auto value = c.at.labels.find(o.wave_label);
  const std::string is = value == c.at.labels.end() ? std::string() : value->second;
  return static_cast<std::size_t>(std::ranges::find(o.waves, is) - o.waves.begin());
}

std::size_t chart_invariants::slots_of(const facts_of_object& o) const {
  const std::size_t n = std::strtoul(o.max_clusters.c_str(), nullptr, 10);
  if (!o.max_clusters.ends_with('%')) return n;
  const auto meant = static_cast<std::size_t>(
      std::ranges::count_if(clusters_, [&](const auto& c) { return is_meant(o, c); }));
  return (meant * n + 99) / 100;
}

bool chart_invariants::adopts(const facts_of_object& o, const facts_of_cluster& c) {
  if (o.adopt == "*") return true;
  return ("," + o.adopt + ",").find("," + c.at.name + ",") != std::string::npos;
}

bool chart_invariants::is_there(const facts_of_cluster& c, const std::string& key) {
  const auto all = c.records.find(key);
  return all != c.records.end() && !all->second.empty() &&
         all->second.rbegin()->second.status != "uninstalled";
}

const chart_invariants::note* chart_invariants::note_of(const facts_of_object& o,
                                                        const facts_of_cluster& c) const {
  const auto n = c.notes.find(o.key);
  const bool is_its =
      n != c.notes.end() && n->second.object == std::string(mark_prefix) + o.ns + "/" + o.name;
  return is_its ? &n->second : nullptr;
}

std::optional<std::string> chart_invariants::expected(const facts_of_object& o,
                                                      const std::string& digest,
                                                      const facts_of_cluster& c) const {
  const auto found = revisions_.find(o.ns + "/" + o.name + "-" + digest);
  if (found == revisions_.end()) return std::nullopt;
  const facts_of_revision& r = found->second;
  std::string level = "info";
  for (std::string key : r.keys) {
    if (const std::size_t at = key.find('{'); at != key.npos) {
      const std::size_t end = key.find('}', at);
      const auto label = c.at.labels.find(key.substr(at + 1, end - at - 1));
      if (label == c.at.labels.end()) return std::nullopt;
      key.replace(at, end - at + 1, label->second);
    }
    const auto said = r.texts.find(key);
    if (said == r.texts.end()) return std::nullopt;
    if (const std::string one = level_in(said->second); !one.empty()) level = one;
  }
  return r.version + " " + (r.level.empty() ? level : r.level);
}

std::string chart_invariants::lacks(const facts_of_object& o, const facts_of_cluster& c) const {
  const note* n = note_of(o, c);
  if (!n) return "is not noted";
  if (n->state != "done") return "is " + n->state;
  const auto all = c.records.find(o.key);
  if (all == c.records.end() || all->second.empty()) return "has no release";
  if (all->second.rbegin()->second.status != "deployed")
    return "is " + all->second.rbegin()->second.status;
  const auto effect = c.effects.find(o.key);
  const auto wanted = expected(o, o.wanted, c);
  if (!wanted) return "has no values";
  if (effect == c.effects.end()) return "lacks its object";
  return effect->second == *wanted ? std::string() : "has " + effect->second + ", not " + *wanted;
}

void chart_invariants::each_place(
    const std::function<void(const facts_of_object&, const facts_of_cluster&)>& f) const {
  for (const auto& [id, o] : objects_)
    for (const facts_of_cluster& c : clusters_)
      if (is_meant(o, c) && !is_foreign(o, c) && !waits_for_ever(o, c)) f(o, c);
}

std::size_t chart_invariants::places() const {
  std::size_t n = 0;
  each_place([&](const facts_of_object&, const facts_of_cluster&) { ++n; });
  return n;
}

std::size_t chart_invariants::arrived() const {
  std::size_t n = 0;
  each_place(
      [&](const facts_of_object& o, const facts_of_cluster& c) { n += lacks(o, c).empty(); });
  return n;
}

std::string chart_invariants::unfinished() const {
  std::string out;
  each_place([&](const facts_of_object& o, const facts_of_cluster& c) {
    const std::string why = lacks(o, c);
    if (!why.empty())
      out += (out.empty() ? "" : "; ") + c.at.name + " " + o.ns + "/" + o.name + " " + why;
  });
  return out;
}

void chart_invariants::violated(const facts_of_cluster& c, const facts_of_object& o,
                                const std::string& sentence) {
  found(c.at.name + ": FleetChart " + o.ns + "/" + o.name + " " + sentence);
}

}  // namespace simulation
