#include "fleetwide/commands/object_view.hpp"

#include "formats/plain/listed.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace cli {
namespace {

namespace json = boost::json;
using fleetwide::fleet_look;
using fleetwide::member_plan;
using fleetwide::member_state;

constexpr std::size_t clusters_named = 5;

std::size_t count_of(const fleet_look& at, member_state s) {
  const auto found = at.plan.counts.find(s);
  return found == at.plan.counts.end() ? 0 : found->second;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

tone tone_of(member_state s) {
  if (s == member_state::ready) return tone::good;
  return s == member_state::moving || s == member_state::waiting ? tone::busy : tone::bad;
}

/// Why nothing is done about it; empty: it can be.
std::string problem_of(const fleet_look& at) {
  return at.object.spec_problem().empty() ? at.unknown : at.object.spec_problem();
}

/// The same, or why it stays at what it has.
std::string shown_problem_of(const fleet_look& at) {
  const std::string why = problem_of(at);
  return why.empty() ? at.not_taken : why;
}

/// In one word.
std::string state_of(const fleet_look& at) {
  if (!at.object.spec_problem().empty()) return "InvalidSpec";
  if (!at.unknown.empty()) return "NotAvailable";
  if (at.object.meta.deleting()) return "Leaving";
  if (at.world.has_failed) return "Returned";
  if (!at.plan.halt.empty()) return "Halted";
  if (at.object.paused) return "Paused";
  if (at.plan.members.empty()) return "NoClusters";
  return count_of(at, member_state::ready) == at.plan.members.size() ? "Ready" : "RollingOut";
}

tone tone_of(const std::string& state) {
  if (state == "Ready") return tone::good;
  return state == "RollingOut" || state == "Paused" ? tone::busy : tone::bad;
}

std::string wave_of(const fleet_look& at) {
  return at.plan.wave ? at.object.rollout.wave_name(*at.plan.wave) : std::string();
}

std::string next_of(const fleet_kind& kind, const fleet_look& at, const member_plan& m) {
  switch (m.does) {
    case fleetwide::deed::write: return "revision " + revision_text(at, m.digest);
    case fleetwide::deed::remove:
      return "its " + std::string(kind.has) + " is " + std::string(kind.removed);
    case fleetwide::deed::let_go: return "its " + std::string(kind.has) + " is let go";
    case fleetwide::deed::nothing: break;
  }
  return {};
}

json::object hold_json(const units::hold& h) {
  json::object o{{"code", h.code}, {"reason", h.sentence}, {"releasedBy", h.released_by}};
  if (!h.asked_again.empty()) o["askedAgain"] = h.asked_again;
  return o;
}

/// The leaves of a JSON value by their paths.
void leaves_of(const json::value& v, const std::string& path,
               std::map<std::string, std::string>& into) {
  if (const json::object* o = v.if_object(); o && !o->empty()) {
    for (const auto& m : *o)
      leaves_of(m.value(), path + (path.empty() ? "" : ".") + std::string(m.key()), into);
  } else if (const json::array* a = v.if_array(); a && !a->empty()) {
    for (std::size_t i = 0; i < a->size(); ++i)
      leaves_of((*a)[i], path + "[" + std::to_string(i) + "]", into);
  } else {
    into[path] = v.is_string() ? std::string(v.as_string()) : json::serialize(v);
  }
}

std::map<std::string, std::string> leaves_of(const fleet_kind& kind,
                                             const fleetwide::revision_content& c) {
  std::map<std::string, std::string> out;
  boost::system::error_code wrong;
  const json::value made = json::parse(c.template_json, wrong);
  if (!wrong) leaves_of(made, "", out);
  out[std::string(kind.ref_path)] = c.ref;
  if (!c.image_digest.empty()) out[std::string(kind.ref_path) + " (digest)"] = c.image_digest;
  return out;
}

}  // namespace

listing objects_listing(const fleet_kind& kind, const std::vector<fleet_look>& all, colours tint) {
  listing t({{upper(kind.kind)},
             {"STATE"},
             {"CLUSTERS"},
             {"READY"},
             {"MOVING", 1},
             {"FAILED"},
             {"WAVE", 2},
             {"REVISION", 3},
             {std::string(kind.column), 4}});
  for (const fleet_look& at : all) {
    listed_object one{
        std::string(kind.resource().plural.substr(0, kind.resource().plural.size() - 1)), "",
        at.object.meta.ns.str(), at.object.meta.name.str()};
    const std::string state = state_of(at);
    one.cells = {at.object.meta.key().text(),
                 toned(state, tone_of(state), tint),
                 std::to_string(at.plan.members.size()),
                 std::to_string(count_of(at, member_state::ready)),
                 std::to_string(count_of(at, member_state::moving)),
                 std::to_string(count_of(at, member_state::failed)),
                 wave_of(at).empty() ? std::string("-") : wave_of(at),
                 std::to_string(at.number),
                 at.wanted.ref};
    one.body = object_json(kind, at);
    one.trouble = tone_of(state) == tone::bad ? 2 : state == "Ready" ? 0 : 1;
    t.add(std::move(one));
  }
  return t;
}

json::object object_json(const fleet_kind& kind, const fleet_look& at) {
  json::object o{{"state", state_of(at)},
                 {kind.ref_key, at.wanted.ref},
                 {"revision", at.number},
                 {"digest", at.world.wanted}};
  if (!at.held_at.empty()) o["imageDigest"] = at.held_at;
  if (!at.signed_by.empty()) o["signedBy"] = at.signed_by;
  if (!at.available.empty()) o["availableDigest"] = at.available;
  if (!at.plan.halt.empty()) o["halt"] = at.plan.halt;
  if (const std::string why = shown_problem_of(at); !why.empty()) o["problem"] = why;
  if (const std::string wave = wave_of(at); !wave.empty()) o["wave"] = wave;
  json::array clusters;
  for (std::size_t i = 0; i < at.plan.members.size(); ++i) {
    const member_plan& m = at.plan.members[i];
    json::object one{{"cluster", m.cluster},
                     {"wave", at.object.rollout.wave_name(m.wave)},
                     {"state", text(m.is)},
                     {"revision", revision_text(at, at.world.members[i].digest)}};
    if (const std::string next = next_of(kind, at, m); !next.empty()) one["next"] = next;
    one["hold"] = nullptr;
    if (m.hold) one["hold"] = hold_json(*m.hold);
    clusters.push_back(std::move(one));
  }
  o["clusters"] = std::move(clusters);
  return o;
}

page object_status_text(const fleet_kind& kind, const fleet_look& at, colours tint,
                        std::size_t columns) {
  const std::string state = state_of(at);
  page out = page(at.object.meta.key().text()) + "  " + toned(state, tone_of(state), tint) + "\n";
  out += folded(page("  revision  ") + std::to_string(at.number) + ", " + at.wanted.ref + "\n",
                columns, 12);
  if (!at.held_at.empty() && at.wanted.is_by_tag())
    out += folded(page("  held at   ") + at.held_at + "\n", columns, 12);
  if (!at.signed_by.empty()) out += folded(page("  signed by ") + at.signed_by + "\n", columns, 12);
  if (!at.available.empty()) out += folded(page("  available ") + at.available + "\n", columns, 12);
  if (const std::string why = shown_problem_of(at); !why.empty())
    out += folded(page("  problem   ") + why + "\n", columns, 12);
  if (!at.plan.halt.empty()) out += folded(page("  halted    ") + at.plan.halt + "\n", columns, 12);
  table t({"CLUSTER", "WAVE", "STATE", "REVISION", "WAITS"});
  for (std::size_t i = 0; i < at.plan.members.size(); ++i) {
    const member_plan& m = at.plan.members[i];
    t.row({m.cluster, at.object.rollout.wave_name(m.wave),
           toned(std::string(text(m.is)), tone_of(m.is), tint),
           revision_text(at, at.world.members[i].digest),
           m.hold ? m.hold->code + ": " + m.hold->sentence : next_of(kind, at, m)});
  }
  return out + t.text("  ", columns);
}

page object_plan_text(const fleet_kind& kind, const fleet_look& at, colours tint,
                      std::size_t columns) {
  const std::string state = state_of(at);
  page out = page(at.object.meta.key().text()) + "  " + toned(state, tone_of(state), tint) +
             "  revision " + std::to_string(at.number) + ", " + at.wanted.ref + "\n";
  if (const std::string why = problem_of(at); !why.empty())
    return out + folded(page("  ") + why + "\n", columns);
  std::map<std::string, std::vector<std::string>> next, waits;
  for (const member_plan& m : at.plan.members) {
    if (const std::string what = next_of(kind, at, m); !what.empty())
      next[what].push_back(m.cluster);
    if (m.hold) waits[m.hold->code + ": " + m.hold->sentence].push_back(m.cluster);
  }
  if (next.empty() && waits.empty()) return out + "  nothing to do\n";
  for (const auto& [what, clusters] : next)
    out +=
        folded(page("  next   ") + formats::listed(clusters, clusters_named) + ": " + what + "\n",
               columns, 9);
  for (const auto& [why, clusters] : waits)
    out += folded(page("  waits  ") + formats::listed(clusters, clusters_named) + ": " + why + "\n",
                  columns, 9);
  return out;
}

page object_history_text(const fleet_kind& kind, const fleet_look& at, std::size_t columns) {
  const auto& all = at.object.status.history;
  const bool is_signed = std::ranges::any_of(
      all, [](const fleetwide::revision_record& r) { return !r.signed_by.empty(); });
  std::vector<page> heads{"REVISION", "OUTCOME", "AT", "BY", std::string(kind.column)};
  if (is_signed) heads.emplace_back("SIGNED BY");
  table t(std::move(heads));
  for (const fleetwide::revision_record& r : all) {
    std::vector<page> cells{std::to_string(r.revision), r.outcome, r.at, r.by, r.ref};
    if (is_signed) cells.emplace_back(r.signed_by);
    t.row(std::move(cells));
  }
  return t.text("", columns);
}

json::object object_history_document(const fleet_kind& kind, const fleet_look& at) {
  json::array all;
  for (const fleetwide::revision_record& r : at.object.status.history) {
    json::object one{{"revision", r.revision},
                     {"digest", r.digest},
                     {kind.ref_key, r.ref},
                     {"imageDigest", r.image_digest},
                     {"outcome", r.outcome},
                     {"at", r.at},
                     {"by", r.by}};
    if (!r.signed_by.empty()) one["signedBy"] = r.signed_by;
    all.push_back(std::move(one));
  }
  json::object o{{kind.one, at.object.meta.key().text()}};
  o["history"] = std::move(all);
  return document(std::string(kind.kind) + "History", std::move(o));
}

std::vector<field_change> changes_between(const fleet_kind& kind,
                                          const fleetwide::revision_content& from,
                                          const fleetwide::revision_content& to) {
  std::map<std::string, std::string> before = leaves_of(kind, from);
  std::vector<field_change> out;
  for (const auto& [path, value] : leaves_of(kind, to)) {
    const auto was = before.find(path);
    if (was == before.end() || was->second != value)
      out.push_back({path, was == before.end() ? std::string() : was->second, value});
    if (was != before.end()) before.erase(was);
  }
  for (const auto& [path, value] : before) out.push_back({path, value, {}});
  std::ranges::sort(out, {}, &field_change::path);
  return out;
}

page object_diff_text(const fleet_kind& kind, const fleet_look& at,
                      const std::vector<object_difference>& all, std::size_t columns) {
  page out;
  for (const object_difference& d : all) {
    out += folded(page(at.object.meta.key().text()) + "  " +
                      formats::listed(d.clusters, clusters_named) +
                      (d.has.empty() ? page(": gets the ") + std::string(kind.has) + "\n"
                                     : page(": has revision ") + revision_text(at, d.has) + "\n"),
                  columns);
    for (const field_change& c : d.changes) {
      if (!c.from.empty()) out += folded(page("  - ") + c.path + ": " + c.from + "\n", columns, 6);
      if (!c.to.empty()) out += folded(page("  + ") + c.path + ": " + c.to + "\n", columns, 6);
    }
  }
  return all.empty() ? page(at.object.meta.key().text()) + "  no cluster would change\n" : out;
}

json::object object_diff_document(const fleet_kind& kind, const fleet_look& at,
                                  const std::vector<object_difference>& all) {
  json::array groups;
  for (const object_difference& d : all) {
    json::array clusters, changes;
    for (const std::string& c : d.clusters) clusters.emplace_back(c);
    for (const field_change& c : d.changes)
      changes.push_back(json::object{{"path", c.path}, {"from", c.from}, {"to", c.to}});
    json::object one{{"digest", d.has}};
    one["clusters"] = std::move(clusters);
    one["changes"] = std::move(changes);
    groups.push_back(std::move(one));
  }
  json::object o{{kind.one, at.object.meta.key().text()}, {"digest", at.world.wanted}};
  o["groups"] = std::move(groups);
  return document(std::string(kind.kind) + "Diff", std::move(o));
}

}  // namespace cli
