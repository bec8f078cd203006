// What status, plan and explain say, as text and as documents: both tell of the same rows and
// holds, so they stay beside each other.
#include "service/overview/overview.hpp"

#include "app/output.hpp"
#include "service/overview/how_long.hpp"
#include "service/overview/pack_view.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace cli {

using namespace app;

bool has_nothing(std::string_view cluster_state) {
  return cluster_state == "CRDMissing" || cluster_state == "Twin";
}

boost::json::object brake_json(const units::brake_order& is) {
  boost::json::object o{{"on", is.is_on}, {"why", is.why}, {"by", is.by}, {"since", is.since}};
  boost::json::array only;
  for (const std::string& api : is.only) only.emplace_back(api);
  o["only"] = std::move(only);
  o["selector"] = is.selector.text();
  if (!is.problem.empty()) o["problem"] = is.problem;
  return o;
}

namespace {

namespace json = boost::json;
using units::plan_row;

const units::hold* hold_of(const plan_row& row, const std::string& unit) {
  const auto found =
      std::ranges::find_if(row.holds, [&](const units::hold& h) { return h.unit == unit; });
  return found == row.holds.end() ? nullptr : &*found;
}

json::object hold_json(const units::hold& h) {
  json::object o{
      {"unit", h.unit}, {"code", h.code}, {"reason", h.sentence}, {"releasedBy", h.released_by}};
  if (!h.since.empty()) o["since"] = h.since;
  if (!h.by.empty()) o["by"] = h.by;
  if (!h.asked_again.empty()) o["askedAgain"] = h.asked_again;
  return o;
}

/// Nothing of it is to be done, and nothing is wrong.
bool rests(const plan_row& r) {
  return (r.is_done() || (r.units.empty() && r.start.empty() && r.problems.empty())) &&
         r.forecast.empty() && r.holds.empty() && r.notes.empty() && !r.halted;
}

json::array holds_json(const std::vector<units::hold>& holds) {
  json::array all;
  for (const units::hold& h : holds) all.push_back(hold_json(h));
  return all;
}

json::object problem_json(const units::row_problem& p) {
  json::object o{{"condition", p.condition}, {"status", p.status}, {"reason", p.reason}};
  if (!p.unit.empty()) o["unit"] = p.unit;
  if (!p.message.empty()) o["message"] = p.message;
  if (!p.since.empty()) o["since"] = p.since;
  return o;
}

/// Those that `counts`.
template <class Counts>
json::array problems_json(const plan_row& row, Counts counts) {
  json::array all;
  for (const units::row_problem& p : row.problems)
    if (counts(p)) all.push_back(problem_json(p));
  return all;
}

json::object cluster_head(const cluster_overview& c) {
  json::object o{{"name", c.name}, {"state", c.state}, {"server", c.server}};
  if (!c.last_error.empty()) o["lastError"] = c.last_error;
  json::object apis;
  for (const api_overview& a : c.apis) {
    json::object one{{"state", a.state}};
    if (!a.last_error.empty()) one["lastError"] = a.last_error;
    apis[a.name] = std::move(one);
  }
  o["apis"] = std::move(apis);
  return o;
}

json::object row_head(const plan_row& row, const units::words& says) {
  json::object o{
      {"name", row.name},         {"targetDigest", row.target}, {says.units, row.units.size()},
      {"updated", row.updated},   {"updating", row.updating},   {"degraded", row.degraded},
      {"capacity", row.capacity}, {"occupied", row.occupied},   {"halted", row.halted}};
  o["problems"] = problems_json(row, [](const units::row_problem&) { return true; });
  return o;
}

json::object totals(const fleet_overview& f) {
  json::object o;
  if (f.brake.is_on || !f.brake.problem.empty()) o["brake"] = brake_json(f.brake);
  std::size_t updated = 0, updating = 0, degraded = 0;
  for (const auto& [name, t] : f.apis) {
    o[t.says.units] = t.units;
    updated += t.updated;
    updating += t.updating;
    degraded += t.degraded;
  }
  o["updated"] = updated;
  o["updating"] = updating;
  o["degraded"] = degraded;
  o["held"] = f.held;
  return o;
}

json::value value_of(const units::detail& d) {
  return std::visit([](const auto& v) { return json::value_from(v); }, d.value);
}

std::string text_of(const units::detail& d) {
  if (!d.text.empty()) return d.text;
  if (const std::string* text = std::get_if<std::string>(&d.value)) return *text;
  if (const bool* flag = std::get_if<bool>(&d.value)) return *flag ? "yes" : "no";
  return std::to_string(std::get<std::int64_t>(d.value));
}

constexpr std::string_view name_of(units::standing is) noexcept {
  switch (is) {
    case units::standing::done: return "done";
    case units::standing::trouble: return "trouble";
    case units::standing::moving: break;
  }
  return "moving";
}

json::object unit_json(const units::unit& u) {
  json::object o{{"name", u.name}, {"state", u.state}, {"standing", name_of(u.is)}};
  for (const units::detail& d : u.details) o[d.key] = value_of(d);
  if (!u.message.empty()) o["message"] = u.message;
  if (!u.trouble.empty()) o["trouble"] = u.trouble;
  return o;
}

/// A detail of this key is what a plan says of a unit: "image a → image b, rolls nodes".
constexpr std::string_view step_key = "step";

const units::detail* step_of(const units::unit& u) {
  const auto found = std::ranges::find(u.details, step_key, &units::detail::key);
  return found == u.details.end() ? nullptr : &*found;
}

/// A cluster with its rows; `fill(plan_row, row)` adds what the command is about.
template <class Fill>
json::object cluster_json(const cluster_overview& c, Fill fill) {
  json::object cluster = cluster_head(c);
  for (const api_overview& a : c.apis) {
    json::array rows;
    for (const plan_row& r : a.rows) {
      json::object row = row_head(r, a.says);
      fill(r, row);
      rows.push_back(std::move(row));
    }
    cluster[a.says.rows] = std::move(rows);
  }
  return cluster;
}

void fill_status(const plan_row& r, json::object& row) {
  json::array units;
  for (const units::unit& u : r.units) units.push_back(unit_json(u));
  row["units"] = std::move(units);
  row["holds"] = holds_json(r.holds);
}

/// Totals, and the clusters.
template <class Fill>
json::object fleet_json(const fleet_overview& f, Fill fill) {
  json::object o = totals(f);
  json::array clusters;
  for (const cluster_overview& c : f.clusters) clusters.push_back(cluster_json(c, fill));
  o["clusters"] = std::move(clusters);
  return o;
}

tone tone_of(std::string_view cluster_state) {
  if (cluster_state == "Live") return tone::good;
  if (cluster_state == "Unreachable" || cluster_state == "Unauthorized" ||
      cluster_state == "Forbidden" || cluster_state == "Invalid" || cluster_state == "CRDMissing")
    return tone::bad;
  return tone::busy;
}
page toned_state(const std::string& cluster_state, colours tint) {
  return toned(cluster_state, tone_of(cluster_state), tint);
}
page toned_state(const units::unit& u, colours tint) {
  const tone t = u.is == units::standing::done      ? tone::good
                 : u.is == units::standing::trouble ? tone::bad
                                                    : tone::busy;
  return toned(u.state, t, tint);
}

page joined(const std::vector<std::string>& names, std::size_t most) {
  page text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

/// One line while the brake is on, or while it is not known whether it is.
page brake_banner(const fleet_overview& f, colours tint) {
  const units::brake_order& is = f.brake;
  if (!is.is_on && is.problem.empty()) return {};
  page text = is.is_on ? page(units::brake_sentence(is))
                       : page("it is not known whether the brake is on: ") + is.problem;
  if (!is.only.empty()) text += page("; only of ") + joined(is.only, is.only.size());
  if (!is.selector.empty()) text += page("; only on clusters with ") + is.selector.text();
  return toned(text, tone::bad, tint) + "\n";
}

/// One line for each service whose memory is near its limit.
page memory_banner(const fleet_overview& f, colours tint) {
  page text;
  for (const service_near_limit& s : f.near_limit)
    text += toned(page("MemoryNearLimit: the service at work (") + s.kind + " " + s.ns + "/" +
                      s.name + ") " + s.note + ", seen " + s.seen +
                      "; raise the limit: it ends itself before the kernel kills it",
                  tone::bad, tint) +
            "\n";
  return text;
}

page heading(const fleet_overview& f, colours tint) {
  std::map<std::string, std::size_t> states;
  for (const cluster_overview& c : f.clusters) ++states[c.state];
  page text =
      std::to_string(f.clusters.size()) + (f.clusters.size() == 1 ? " cluster" : " clusters");
  bool first = true;
  for (const auto& [state, n] : states) {
    text += (first ? ": " : ", ") + std::to_string(n) + " " + state;
    first = false;
  }
  for (const auto& [name, t] : f.apis)
    text += page("    ") + std::to_string(t.units) + " " +
            (t.units == 1 ? t.says.unit : t.says.units) + ": " + std::to_string(t.updated) +
            " updated, " + std::to_string(t.updating) + " updating, " + std::to_string(t.degraded) +
            " degraded";
  return memory_banner(f, tint) + brake_banner(f, tint) + text + "\n";
}

std::string capitals(std::string word) {
  for (char& c : word)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return word;
}

/// One line per reason with the units that share it, so that a big row stays readable.
page grouped_holds(const std::vector<units::hold>& holds, extent how, colours tint,
                   std::size_t columns) {
  std::vector<std::pair<const units::hold*, std::vector<std::string>>> groups;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
  for (const units::hold& h : holds) {
    const auto [group, fresh] = known.try_emplace({h.code, h.sentence}, groups.size());
    if (fresh) groups.push_back({&h, {}});
    groups[group->second].second.push_back(h.unit);
  }
  table t({"HELD", "CODE", "WHY", "RELEASED BY"});
  for (const auto& [h, names] : groups)
    t.row({joined(names, how == extent::wide ? names.size() : 4), toned(h->code, tone::busy, tint),
           with_short_digests(h->sentence), toned(h->released_by, tone::faint, tint)});
  return groups.empty() ? page() : t.text("  ", columns);
}

/// "Degraded is True: TagResolutionError"
std::string words_of(const units::row_problem& p) {
  return p.condition + " is " + p.status + (p.reason.empty() ? "" : ": " + p.reason);
}

/// One line per problem with the units that share it.
page table_of_problems(const plan_row& r, const units::words& says, extent how, colours tint,
                       std::size_t columns) {
  std::vector<std::pair<const units::row_problem*, std::vector<std::string>>> groups;
  std::map<std::pair<std::string, std::string_view>, std::size_t> known;
  for (const units::row_problem& p : r.problems) {
    const auto [group, fresh] =
        known.try_emplace({words_of(p) + (p.unit.empty() ? "" : "/"), p.message}, groups.size());
    if (fresh) groups.push_back({&p, {}});
    groups[group->second].second.push_back(p.unit.empty() ? "the " + says.row : p.unit);
  }
  table t({"PROBLEM", "CONDITION", "WHY"});
  for (const auto& [p, names] : groups)
    t.row({joined(names, how == extent::wide ? names.size() : 4),
           toned(words_of(*p), tone::bad, tint), with_short_digests(p->message)});
  return groups.empty() ? page() : t.text("  ", columns);
}

/// The detail that all units of a row share; empty when there is none.
page shared_detail(const plan_row& r, std::string_view key) {
  if (r.units.empty()) return {};
  for (const units::detail& d : r.units.front().details)
    if (d.key == key) return with_short_digests(text_of(d));
  return {};
}

/// What there is to say of a row beside its numbers.
page note_of(const plan_row& r, const api_overview& a, extent how, colours tint) {
  page note;
  const auto say = [&](const page& more) { note += (note.empty() ? page() : page(", ")) + more; };
  if (r.halted) say(toned("halted", tone::bad, tint));
  if (r.degraded > 0 && how != extent::wide)
    say(toned(page(std::to_string(r.degraded)) + " degraded", tone::bad, tint));
  std::size_t wrong_units = 0;
  const std::string* counted = nullptr;
  for (const units::row_problem& p : r.problems) {
    // Of a row that is said to be halted or degraded already the words stand below.
    if (p.unit.empty() && !r.halted && (r.degraded == 0 || how == extent::wide))
      say(toned(p.reason.empty() ? p.condition : p.reason, tone::bad, tint));
    // Those of one unit stand beside each other.
    if (p.unit.empty() || (counted && *counted == p.unit)) continue;
    counted = &p.unit;
    ++wrong_units;
  }
  if (wrong_units > 0)
    say(toned(page(std::to_string(wrong_units)) + " with problems", tone::bad, tint));
  if (!a.last_error.empty()) say(a.last_error);
  if (how == extent::wide) {
    if (const page tag = shared_detail(r, "follows"); !tag.empty()) say(page("follows ") + tag);
  }
  if (!r.offered.empty()) say(page("offered ") + with_short_digests(r.offered));
  return note;
}

/// "sha256:0123456789ab" as a column, whose head says what it is.
std::string digest_column(const std::string& target) {
  constexpr std::string_view prefix = "sha256:";
  if (target.empty()) return "-";
  std::string text = with_short_digests(target);
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// How bad it is, for a list that shows the worst first.
unsigned trouble_of(const plan_row& r) {
  if (r.halted || r.degraded > 0) return 4;
  if (!r.problems.empty()) return 3;
  if (!r.holds.empty()) return 2;
  return r.updated < r.units.size() ? 1 : 0;
}

}  // namespace

listing rows_listing(const fleet_overview& f, const std::string& api, const units::words& says,
                     extent how, colours tint) {
  // What is left out first where the screen is narrow: the slots, the target, the holds, the state.
  std::vector<list_column> head = {{"CLUSTER"}, {"STATE", 4}, {capitals(says.row)}, {"TARGET", 2}};
  if (how == extent::wide)
    for (page more : {page(capitals(says.units)), page("UPDATED"), page("UPDATING"),
                      page("DEGRADED"), page("HELD"), page("SLOTS"), page("NOTE")})
      head.push_back({std::move(more)});
  else
    head.insert(head.end(), {{"UPDATED"}, {"SLOTS", 1}, {"HELD", 3}, {"NOTE"}});
  const std::size_t before_note = head.size() - 1;
  listing t(std::move(head));
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis) {
      if (a.name != api) continue;
      if (a.rows.empty()) {
        listed_object none{"cluster", {}, {}, c.name, c.labels};
        none.cells = {c.name, toned_state(a.state, tint)};
        none.cells.resize(before_note, "-");
        none.cells.push_back(a.last_error);
        none.body = {{"api", a.name}, {"state", a.state}};
        if (!a.last_error.empty()) none.body["lastError"] = a.last_error;
        none.trouble = a.state == "Live" || has_nothing(a.state) ? 0 : 5;
        t.add(std::move(none));
      }
      for (const plan_row& r : a.rows) {
        const std::string slots = std::to_string(r.occupied) + "/" + std::to_string(r.capacity),
                          held = std::to_string(r.holds.size());
        std::vector<page> cells = {c.name, toned_state(a.state, tint), r.name};
        if (how == extent::wide) {
          cells.insert(
              cells.end(),
              {r.target.empty() ? "-" : with_short_digests(r.target),
               std::to_string(r.units.size()), std::to_string(r.updated),
               std::to_string(r.updating),
               r.degraded ? toned(std::to_string(r.degraded), tone::bad, tint) : "0", held, slots});
        } else {
          cells.insert(
              cells.end(),
              {digest_column(r.target),
               std::to_string(r.updated) + "/" + std::to_string(r.units.size()), slots, held});
        }
        cells.push_back(note_of(r, a, how, tint));
        listed_object row{says.row, c.name, {}, r.name, c.labels, std::move(cells)};
        row.body = {{"api", a.name}, {"state", a.state}};
        for (auto& member : row_head(r, a.says)) row.body[member.key()] = member.value();
        row.body["held"] = r.holds.size();
        row.trouble = trouble_of(r);
        t.add(std::move(row));
      }
    }
  return t;
}

namespace {

/// What holds units anywhere, once for the fleet.
page holds_of_fleet(const fleet_overview& f, colours tint, std::size_t columns) {
  std::map<std::string, std::pair<std::size_t, const units::hold*>> by_code;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows)
        for (const units::hold& h : r.holds) {
          auto& [count, first] = by_code[h.code];
          if (++count == 1) first = &h;
        }
  table t({"HELD", "CODE", "RELEASED BY"});
  for (const auto& [code, held] : by_code)
    t.row({std::to_string(held.first), toned(code, tone::busy, tint),
           toned(held.second->released_by, tone::faint, tint)});
  return by_code.empty() ? page() : page("\n") + t.text({}, columns);
}

page table_of_units(const plan_row& r, const units::words& says, colours tint) {
  std::vector<page> head = {capitals(says.unit), "STATE"};
  if (!r.units.empty())
    for (const units::detail& d : r.units.front().details)
      if (!d.column.empty()) head.push_back(d.column);
  head.push_back("NOTE");
  table t(std::move(head));
  for (const units::unit& u : r.units) {
    std::vector<page> cells = {u.name, toned_state(u, tint)};
    for (const units::detail& d : u.details)
      if (!d.column.empty()) cells.push_back(with_short_digests(text_of(d)));
    cells.push_back(with_short_digests(u.trouble.empty() ? u.message : u.trouble));
    t.row(std::move(cells));
  }
  return t.text("  ");
}

struct place {
  const cluster_overview* cluster;
  const api_overview* api;
  const plan_row* row;
  const units::unit* unit;  // null: the row itself was asked for
};

/// `asked` is "worker-3", "prod/worker-3" or, of a unit whose name has a slash in it, as those in a
/// namespace have, "trustee/kbs" or "prod/trustee/kbs"; the same of a row. Where a cluster is
/// called like a namespace both are meant.
bool is_asked_for(const std::string& asked, const std::string& kind, const std::string& cluster,
                  const std::string& name) {
  for (const char* behind : {"/", "s/"})
    if (const std::string prefix = kind + behind; asked.starts_with(prefix))
      if (is_asked_for(asked.substr(prefix.size()), kind, cluster, name)) return true;
  return asked == name || (asked.size() == cluster.size() + 1 + name.size() &&
                           asked.starts_with(cluster + "/") && asked.ends_with(name));
}

/// Units of that name; where there are none, rows; else units that are called so in a namespace.
std::vector<place> find_unit(const fleet_overview& f, const std::string& name) {
  std::vector<place> units, rows, in_namespaces;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows) {
        if (is_asked_for(name, a.says.row, c.name, r.name)) rows.push_back({&c, &a, &r, nullptr});
        for (const units::unit& u : r.units) {
          if (is_asked_for(name, a.says.unit, c.name, u.name)) units.push_back({&c, &a, &r, &u});
          const std::string_view after_namespace =
              std::string_view(u.name).substr(u.name.find('/') + 1);
          if (name == after_namespace) in_namespaces.push_back({&c, &a, &r, &u});
        }
      }
  return !units.empty() ? units : !rows.empty() ? rows : in_namespaces;
}

/// What is wrong with it, and with its row as a whole.
bool concerns(const units::row_problem& p, const units::unit* unit) {
  return !unit || p.unit.empty() || p.unit == unit->name;
}

/// Packs that hold a unit and are not among those of this command.
std::vector<std::string> packs_elsewhere(const fleet_overview& f) {
  std::set<std::string> said;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows)
        for (const units::hold& h : r.holds)
          if (!h.by.empty()) said.insert(h.by);
  for (const policies::pack_status& p : f.packs) said.erase(p.name + " " + p.version);
  return {said.begin(), said.end()};
}

void add_packs_elsewhere(json::object& to, const fleet_overview& f) {
  json::array out;
  for (const std::string& pack : packs_elsewhere(f)) out.emplace_back(pack);
  if (!out.empty()) to["policiesElsewhere"] = std::move(out);
}

/// "  booted:   ": what follows stands in one column.
page labelled(const std::string& label) {
  constexpr std::size_t column = 10;
  std::string text = label + ":";
  text.resize(std::max(column, text.size() + 1), ' ');
  return page("  ") + text;
}

/// Edits of policies that are not taken; empty without one.
page refusals_text(const fleet_overview& f, std::size_t columns) {
  if (f.refused.empty()) return {};
  table rows({"CONFIGMAP", "SINCE", "REFUSED: WHAT WAS BEFORE STAYS IN FORCE"});
  for (const refused_policy& r : f.refused)
    rows.row({page(r.ns) + "/" + r.config_map, page(r.since), page(r.why)});
  return page("\n") + rows.text({}, columns);
}

}  // namespace

json::object status_json(const fleet_overview& f) {
  return fleet_json(f, fill_status);
}

json::object status_cluster_json(const cluster_overview& c) {
  return cluster_json(c, fill_status);
}

json::object plan_json(const fleet_overview& f) {
  return fleet_json(f, [&f](const plan_row& r, json::object& row) {
    json::array start, actions;
    for (const std::string& name : r.start) start.push_back(json::string(name));
    for (const units::planned_action& a : r.actions)
      actions.push_back(json::object{{"action", a.action}, {"unit", a.unit}});
    json::array units;
    for (const units::unit& u : r.units) {
      if (!step_of(u)) continue;
      json::object one = unit_json(u);
      const auto waits = std::ranges::find(r.forecast, u.name, &units::hold::unit);
      one["hold"] = waits == r.forecast.end() ? json::value() : json::value(hold_json(*waits));
      units.push_back(std::move(one));
    }
    if (!units.empty()) row["units"] = std::move(units);
    row["start"] = std::move(start);
    row["holds"] = holds_json(r.forecast);
    row["actions"] = std::move(actions);
    json::array notes;
    for (const std::string& note : r.notes) notes.emplace_back(note);
    if (!notes.empty()) row["notes"] = std::move(notes);
    add_how_long(row, f, r);
    if (!r.unresolved.empty()) row["unresolved"] = r.unresolved;
  });
}

page status_text(const fleet_overview& f, extent how, colours tint, std::size_t columns,
                 const list_request& asked, std::size_t rows) {
  if (how == extent::wide) columns = any_width;
  page text = asked.output.no_headers ? page() : folded(heading(f, tint), columns);
  bool first = true, is_long = false;
  for (const auto& [name, t] : f.apis) {
    if (!std::exchange(first, false) && !asked.output.no_headers) text += "\n";
    listing all = rows_listing(f, name, t.says, how, tint);
    all.arrange(asked);
    is_long = is_long || (rows > 0 && all.objects().size() > rows);
    text += all.text(asked, columns, rows);
  }
  if (asked.output.no_headers) return text;
  if (is_long && how != extent::wide)
    return text + holds_of_fleet(f, tint, columns) + refusals_text(f, columns);
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows) {
        if (how == extent::wide)
          text += page("\n") + c.name + "/" + r.name + "\n" + table_of_units(r, a.says, tint);
        if (!r.problems.empty() || !r.holds.empty())
          text += page("\n") + c.name + "/" + r.name + "\n" +
                  table_of_problems(r, a.says, how, tint, columns) +
                  grouped_holds(r.holds, how, tint, columns);
      }
  if (const auto elsewhere = packs_elsewhere(f); !elsewhere.empty())
    text += folded(page("\nthe service at work asks packs that are not at hand here: ") +
                       joined(elsewhere, elsewhere.size()) + "\n",
                   columns, 2);
  text += refusals_text(f, columns);
  const page packs = packs_text(
      f.packs, how == extent::wide ? packs_shown::all : packs_shown::noteworthy, columns);
  if (!packs.empty()) text += page("\n") + packs;
  return text;
}

namespace {

/// Which units of a row go first, or why none does.
page first_units(const plan_row& r, const units::words& says, extent how, std::size_t columns) {
  if (r.is_done()) return page("  nothing to do: every ") + says.unit + " runs the target\n";
  if (r.units.size() != r.updated || !r.start.empty())
    return folded(
        page("  goes first: ") +
            (r.start.empty() ? page("no unit")
                             : joined(r.start, how == extent::wide ? r.start.size() : 8)) +
            "\n",
        columns, 12);
  if (r.units.empty()) return r.problems.empty() ? page("  it has no ") + says.unit + "\n" : page();
  if (r.problems.empty()) return page("  every ") + says.unit + " runs the target\n";
  if (r.target.empty())
    return page("  nothing is planned: it is not known what the ") + says.units + " are to run\n";
  return page("  every ") + says.unit +
         " runs the last target that is known; what is wrong stands above\n";
}

/// What the next pass would do with a row.
page planned_row(const fleet_overview& f, const plan_row& r, const units::words& says, extent how,
                 colours tint, std::size_t columns) {
  page text = table_of_problems(r, says, how, tint, columns) + first_units(r, says, how, columns);
  for (const units::unit& u : r.units)
    if (const units::detail* step = step_of(u); step && !text_of(*step).empty())
      text += folded(page("  ") + u.name + ": " + text_of(*step) + "\n", columns, 4);
  for (const std::string& note : r.notes)
    text += folded(page("  note: ") + note + "\n", columns, 8);
  if (const auto takes = how_long_of(f, r))
    text += folded(page("  note: ") + text_of(*takes, r.steps) + "\n", columns, 8);
  text += grouped_holds(r.forecast, how, tint, columns);
  if (how == extent::wide)
    for (const units::planned_action& p : r.actions)
      text += page("  would ") + p.action + " " + p.unit + "\n";
  return text;
}

}  // namespace

page plan_text(const fleet_overview& f, extent how, colours tint, std::size_t columns) {
  if (how == extent::wide) columns = any_width;
  constexpr std::size_t few = 8;
  std::size_t resting = 0, rows = 0;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis) {
      rows += std::max<std::size_t>(a.rows.size(), 1);
      resting += a.rows.empty() ? (a.state == "Live" || has_nothing(a.state) ? 1 : 0)
                                : static_cast<std::size_t>(std::ranges::count_if(a.rows, rests));
    }
  const bool counted = how != extent::wide && rows > few;
  page head = heading(f, tint);
  if (counted && resting > 0) head = page(resting == rows ? "Nothing to do. " : "") + head;
  page text = folded(head, columns);
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis) {
      if (a.rows.empty() && !(counted && (a.state == "Live" || has_nothing(a.state))))
        text +=
            folded(page("\n") + c.name + ": " + (f.apis.size() > 1 ? page(a.name) + " " : page()) +
                       toned_state(a.state, tint) +
                       (a.last_error.empty() ? page() : page(", ") + a.last_error) + "\n",
                   columns);
      for (const plan_row& r : a.rows) {
        if (counted && rests(r)) continue;
        text += page("\n") + c.name + "/" + r.name +
                (r.target.empty() ? page() : page(" → ") + with_short_digests(r.target)) + "\n" +
                planned_row(f, r, a.says, how, tint, columns);
      }
    }
  if (counted && resting > 0 && resting < rows)
    text += page("\n") + std::to_string(resting) + " others have nothing to do\n";
  if (const auto elsewhere = packs_elsewhere(f); !elsewhere.empty())
    text +=
        folded(page("\nthis is what the packs at hand answer; the service at work asks others: ") +
                   joined(elsewhere, elsewhere.size()) +
                   " (`status` and `explain` say what they hold; `--policies` asks them)\n",
               columns, 2);
  return text;
}

page explain_text(const fleet_overview& f, const std::string& unit, colours tint,
                  std::size_t columns) {
  page text;
  for (const place& at : find_unit(f, unit)) {
    if (!text.empty()) text += "\n";
    text += page(at.cluster->name) + "/" + (at.unit ? page(at.unit->name) + " in " : page()) +
            (at.unit ? page(at.api->says.row) + " " : page()) + at.row->name + ": " +
            (at.unit ? toned_state(*at.unit, tint)
                     : page(std::to_string(at.row->updated)) + " of " +
                           std::to_string(at.row->units.size()) + " " + at.api->says.units +
                           " updated") +
            "\n";
    for (const units::row_problem& p : at.row->problems)
      if (concerns(p, at.unit))
        text += labelled(p.unit.empty() ? at.api->says.row : "problem") +
                (at.unit || p.unit.empty() ? page() : page(p.unit) + ": ") +
                toned(words_of(p), tone::bad, tint) +
                (p.message.empty() ? page() : page(": ") + with_short_digests(p.message)) + "\n";
    if (!at.unit) {
      text += grouped_holds(at.row->holds, extent::usual, tint, columns);
      continue;
    }
    const units::unit& u = *at.unit;
    if (!u.trouble.empty()) text += labelled("trouble") + u.trouble + "\n";
    if (!u.message.empty()) text += labelled("reported") + with_short_digests(u.message) + "\n";
    for (const units::detail& d : u.details)
      if (!d.label.empty() && !text_of(d).empty()) text += labelled(d.label) + text_of(d) + "\n";
    if (const units::hold* h = hold_of(*at.row, u.name)) {
      text += labelled("waits") + with_short_digests(h->sentence) + " [" + h->code + "]\n" +
              (h->since.empty() ? page() : labelled("since") + h->since + "\n") +
              labelled("released") + h->released_by + "\n" +
              (h->by.empty() ? page() : labelled("said by") + h->by + "\n");
    } else {
      text += labelled("waits") + (u.is == units::standing::done ? page("no, it runs the target\n")
                                   : u.is == units::standing::trouble
                                       ? page("no, but something is wrong with it\n")
                                       : page("no, it is on its way\n"));
    }
  }
  return folded(text, columns, 10);
}

listing explained_listing(const fleet_overview& f, const std::vector<std::string>& names,
                          colours tint) {
  listing out({{"CLUSTER"}, {"NAME"}, {"STATE"}, {"CODE"}, {"WHY"}});
  for (const std::string& name : names)
    for (const place& at : find_unit(f, name)) {
      const units::hold* h = at.unit ? hold_of(*at.row, at.unit->name) : nullptr;
      const std::string& full = at.unit ? at.unit->name : at.row->name;
      const std::size_t slash = full.find('/');
      listed_object one{at.unit ? at.api->says.unit : at.api->says.row, at.cluster->name,
                        slash == full.npos ? std::string() : full.substr(0, slash),
                        slash == full.npos ? full : full.substr(slash + 1), at.cluster->labels};
      one.cells = {at.cluster->name, full, at.unit ? toned_state(*at.unit, tint) : page("-"),
                   h ? page(h->code) : page("-"), h ? page(h->sentence) : page()};
      one.body = at.unit ? unit_json(*at.unit) : row_head(*at.row, at.api->says);
      one.body.erase("name");
      one.body[at.api->says.row] = at.row->name;
      if (h) one.body["hold"] = hold_json(*h);
      out.add(std::move(one));
    }
  return out;
}

json::array explain_json(const fleet_overview& f, const std::string& unit) {
  json::array all;
  for (const place& at : find_unit(f, unit)) {
    json::object o = at.unit ? unit_json(*at.unit) : row_head(*at.row, at.api->says);
    if (!at.unit) o["state"] = at.row->is_done() ? "Done" : at.row->halted ? "Halted" : "Moving";
    o["cluster"] = at.cluster->name;
    o[at.api->says.row] = at.row->name;
    o["problems"] =
        problems_json(*at.row, [&](const units::row_problem& p) { return concerns(p, at.unit); });
    if (at.unit)
      if (const units::hold* h = hold_of(*at.row, at.unit->name)) o["hold"] = hold_json(*h);
    all.push_back(std::move(o));
  }
  return all;
}

namespace {

/// All rows as objects, for paths and templates.
json::array items_of(const fleet_overview& f, const list_request& asked) {
  listing all = all_rows(f);
  all.arrange(asked);
  return all.items();
}

}  // namespace

json::object status_document(const fleet_overview& f, const list_request& asked) {
  json::object all = status_json(f);
  all["items"] = items_of(f, asked);
  all["policies"] = packs_json(f.packs);
  add_packs_elsewhere(all, f);
  json::array refused;
  for (const refused_policy& r : f.refused)
    refused.push_back(json::object{
        {"namespace", r.ns}, {"configMap", r.config_map}, {"reason", r.why}, {"since", r.since}});
  if (!refused.empty()) all["policiesRefused"] = std::move(refused);
  json::array near_limit;
  for (const service_near_limit& s : f.near_limit)
    near_limit.push_back(json::object{{"condition", memory_event::near_limit.reason},
                                      {"kind", s.kind},
                                      {"namespace", s.ns},
                                      {"name", s.name},
                                      {"message", s.note},
                                      {"seen", s.seen}});
  if (!near_limit.empty()) all["serviceProblems"] = std::move(near_limit);
  return document("FleetStatus", std::move(all));
}

json::object plan_document(const fleet_overview& f, const list_request& asked) {
  json::object all = plan_json(f);
  all["items"] = items_of(f, asked);
  add_packs_elsewhere(all, f);
  return document("FleetPlan", std::move(all));
}

json::object explain_document(const fleet_overview& f, std::string_view unit) {
  json::object body{{"unit", unit}};
  body["found"] = explain_json(f, std::string(unit));
  body["items"] = explained_listing(f, {std::string(unit)}, colours::none).items();
  return document("Explanation", std::move(body));
}

std::vector<units::hold> holds_of(const fleet_overview& f) {
  std::vector<units::hold> all;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows)
        for (const units::hold& h : r.holds) {
          all.push_back(h);
          all.back().unit = c.name + "/" + h.unit;
        }
  return all;
}

}  // namespace cli
