#include "cli/survey.hpp"

#include "cli/output.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace cli {
namespace {

namespace json = boost::json;
using units::plan_row;

const units::hold* hold_of(const plan_row& row, const std::string& unit) {
  const auto found =
      std::ranges::find_if(row.holds, [&](const units::hold& h) { return h.unit == unit; });
  return found == row.holds.end() ? nullptr : &*found;
}

json::object hold_json(const units::hold& h) {
  return {
      {"unit", h.unit}, {"code", h.code}, {"reason", h.sentence}, {"released_by", h.released_by}};
}

json::array holds_json(const std::vector<units::hold>& holds) {
  json::array all;
  for (const units::hold& h : holds) all.push_back(hold_json(h));
  return all;
}

json::object cluster_head(const cluster_survey& c) {
  json::object o{{"name", c.name}, {"state", c.state}, {"server", c.server}};
  if (!c.last_error.empty()) o["last_error"] = c.last_error;
  json::object apis;
  for (const api_survey& a : c.apis) {
    json::object one{{"state", a.state}};
    if (!a.last_error.empty()) one["last_error"] = a.last_error;
    apis[a.name] = std::move(one);
  }
  o["apis"] = std::move(apis);
  return o;
}

json::object row_head(const plan_row& row, const units::words& says) {
  return {{"name", row.name},         {"target_digest", row.target}, {says.units, row.units.size()},
          {"updated", row.updated},   {"updating", row.updating},    {"degraded", row.degraded},
          {"capacity", row.capacity}, {"occupied", row.occupied},    {"halted", row.halted}};
}

json::object totals(const fleet_survey& f) {
  json::object o;
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

json::object unit_json(const units::unit& u) {
  json::object o{{"name", u.name}, {"state", u.state}};
  for (const units::detail& d : u.details) o[d.key] = value_of(d);
  if (!u.message.empty()) o["message"] = u.message;
  if (!u.trouble.empty()) o["trouble"] = u.trouble;
  return o;
}

/// Totals, clusters and their rows; `fill(plan_row, row)` adds what the command is about.
template <class Fill>
json::object fleet_json(const fleet_survey& f, Fill fill) {
  json::object o = totals(f);
  json::array clusters;
  for (const cluster_survey& c : f.clusters) {
    json::object cluster = cluster_head(c);
    for (const api_survey& a : c.apis) {
      json::array rows;
      for (const plan_row& r : a.rows) {
        json::object row = row_head(r, a.says);
        fill(r, row);
        rows.push_back(std::move(row));
      }
      cluster[a.says.rows] = std::move(rows);
    }
    clusters.push_back(std::move(cluster));
  }
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
page toned_state(const std::string& cluster_state, bool lively) {
  return toned(cluster_state, tone_of(cluster_state), lively);
}
page toned_state(const units::unit& u, bool lively) {
  const tone t = u.is == units::standing::done      ? tone::good
                 : u.is == units::standing::trouble ? tone::bad
                                                    : tone::busy;
  return toned(u.state, t, lively);
}

page heading(const fleet_survey& f) {
  std::map<std::string, std::size_t> states;
  for (const cluster_survey& c : f.clusters) ++states[c.state];
  page text =
      std::to_string(f.clusters.size()) + (f.clusters.size() == 1 ? " cluster" : " clusters");
  bool first = true;
  for (const auto& [state, n] : states) {
    text += (first ? ": " : ", ") + std::to_string(n) + " " + state;
    first = false;
  }
  for (const auto& [name, t] : f.apis)
    text += page("    ") + std::to_string(t.units) + " " + t.says.units + ": " +
            std::to_string(t.updated) + " updated, " + std::to_string(t.updating) + " updating, " +
            std::to_string(t.degraded) + " degraded";
  return text + "\n";
}

page joined(const std::vector<std::string>& names, std::size_t most) {
  page text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::string capitals(std::string word) {
  for (char& c : word)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return word;
}

/// One line per reason with the units that share it, so that a big row stays readable.
page grouped_holds(const std::vector<units::hold>& holds, bool wide, bool lively,
                   const page& indent) {
  std::vector<std::pair<const units::hold*, std::vector<std::string>>> groups;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
  for (const units::hold& h : holds) {
    const auto [group, fresh] = known.try_emplace({h.code, h.sentence}, groups.size());
    if (fresh) groups.push_back({&h, {}});
    groups[group->second].second.push_back(h.unit);
  }
  table t({"HELD", "CODE", "WHY", "RELEASED BY"});
  for (const auto& [h, names] : groups)
    t.row({joined(names, wide ? names.size() : 4), toned(h->code, tone::busy, lively),
           with_short_digests(h->sentence), toned(h->released_by, tone::faint, lively)});
  return groups.empty() ? page() : t.text(indent);
}

/// The rows of one API on all clusters.
page table_of_rows(const fleet_survey& f, const std::string& api, const units::words& says,
                   bool lively) {
  table t({"CLUSTER", "STATE", capitals(says.row), "TARGET", capitals(says.units), "UPDATED",
           "UPDATING", "DEGRADED", "SLOTS", "NOTE"});
  for (const cluster_survey& c : f.clusters)
    for (const api_survey& a : c.apis) {
      if (a.name != api) continue;
      if (a.rows.empty())
        t.row({c.name, toned_state(a.state, lively), "-", "-", "-", "-", "-", "-", "-",
               a.last_error});
      for (const plan_row& r : a.rows)
        t.row({c.name, toned_state(a.state, lively), r.name, with_short_digests(r.target),
               std::to_string(r.units.size()), std::to_string(r.updated),
               std::to_string(r.updating),
               r.degraded ? toned(std::to_string(r.degraded), tone::bad, lively) : "0",
               std::to_string(r.occupied) + "/" + std::to_string(r.capacity),
               r.halted ? toned("halted", tone::bad, lively) : a.last_error});
    }
  return t.text();
}

page table_of_units(const plan_row& r, const units::words& says, bool lively) {
  std::vector<page> head = {capitals(says.unit), "STATE"};
  if (!r.units.empty())
    for (const units::detail& d : r.units.front().details)
      if (!d.column.empty()) head.push_back(d.column);
  head.push_back("NOTE");
  table t(std::move(head));
  for (const units::unit& u : r.units) {
    std::vector<page> cells = {u.name, toned_state(u, lively)};
    for (const units::detail& d : u.details)
      if (!d.column.empty()) cells.push_back(with_short_digests(text_of(d)));
    cells.push_back(with_short_digests(u.trouble.empty() ? u.message : u.trouble));
    t.row(std::move(cells));
  }
  return t.text("  ");
}

struct place {
  const cluster_survey* cluster;
  const api_survey* api;
  const plan_row* row;
  const units::unit* unit;
};
std::vector<place> find_unit(const fleet_survey& f, const std::string& name) {
  const auto slash = name.rfind('/');
  const std::string cluster = slash == std::string::npos ? std::string() : name.substr(0, slash);
  const std::string unit = slash == std::string::npos ? name : name.substr(slash + 1);
  std::vector<place> found;
  for (const cluster_survey& c : f.clusters)
    if (cluster.empty() || c.name == cluster)
      for (const api_survey& a : c.apis)
        for (const plan_row& r : a.rows)
          for (const units::unit& u : r.units)
            if (u.name == unit) found.push_back({&c, &a, &r, &u});
  return found;
}

/// "  booted:   ": what follows stands in one column.
page labelled(const std::string& label) {
  constexpr std::size_t column = 10;
  std::string text = label + ":";
  text.resize(std::max(column, text.size() + 1), ' ');
  return page("  ") + text;
}

/// Waits for what may still come: the cluster, then each API on it until it is Live or was told that it cannot be.
reactor::awaitable<void> until_known(service& s, reactor::loop& l, std::string name,  // borrowed
                                     reactor::steady_time deadline) {
  constexpr reactor::nanoseconds look_again = std::chrono::milliseconds(50);
  const auto find = [&]() -> k8s::cluster* {
    for (k8s::cluster* c : s.clusters())
      if (c->name() == name) return c;
    return nullptr;
  };
  for (;;) {
    const k8s::cluster* c = find();
    if (!c || l.now() >= deadline) co_return;
    const bool known =
        c->is_connected() &&
        std::ranges::all_of(c->engagements(), [](const auto& e) { return e->is_settled(); });
    if (known) co_return;
    co_await l.sleep_for(look_again);
  }
}

}  // namespace

reactor::awaitable<fleet_survey> look_at(service& s, reactor::loop& l, std::string only_cluster,
                                         reactor::steady_time deadline) {
  (void)co_await s.fleet().discovered(deadline);
  std::vector<std::string> names;
  for (const k8s::cluster* c : s.clusters())
    if (only_cluster.empty() || c->name() == only_cluster) names.push_back(c->name());
  fleet_survey f;
  for (const units::api& a : s.apis()) f.apis.push_back({a.name, {.says = a.says}});
  for (const std::string& name : names) {
    co_await until_known(s, l, name, deadline);
    // Look again after each wait: a cluster or an API may be gone.
    const auto find = [&](std::string_view api) -> units::part* {
      for (const k8s::cluster* c : s.clusters())
        if (const k8s::engagement* e = c->name() == name ? c->find(api) : nullptr)
          return units::part_of(*e);
      return nullptr;
    };
    cluster_survey one;
    for (std::size_t i = 0; i < s.apis().size(); ++i) {
      const units::api& what = s.apis()[i];
      if (units::part* part = find(what.name)) (void)co_await part->synced(deadline);
      std::vector<plan_row> rows;
      if (units::part* part = find(what.name)) rows = co_await part->survey();
      api_totals& sum = f.apis[i].second;
      for (const plan_row& r : rows) {
        sum.units += r.units.size();
        sum.updated += r.updated;
        sum.updating += r.updating;
        sum.degraded += r.degraded;
        f.held += r.holds.size();
      }
      one.apis.push_back({what.name, what.says, {}, {}, std::move(rows)});
    }
    for (k8s::cluster* c : s.clusters()) {
      if (c->name() != name) continue;
      one.name = name;
      one.server = c->api().server();
      one.state = std::string(k8s::name_of(c->state()));
      one.last_error = c->last_error();
      for (api_survey& a : one.apis)
        if (const k8s::engagement* e = c->find(a.name)) {
          a.state = std::string(k8s::name_of(e->state()));
          a.last_error = e->last_error();
        }
    }
    std::erase_if(one.apis, [](const api_survey& a) { return a.state.empty(); });
    if (!one.name.empty()) f.clusters.push_back(std::move(one));
    co_await l.yield();
  }
  co_return f;
}

json::object status_json(const fleet_survey& f) {
  return fleet_json(f, [](const plan_row& r, json::object& row) {
    json::array units;
    for (const units::unit& u : r.units) units.push_back(unit_json(u));
    row["units"] = std::move(units);
    row["holds"] = holds_json(r.holds);
  });
}

json::object plan_json(const fleet_survey& f) {
  return fleet_json(f, [](const plan_row& r, json::object& row) {
    json::array start, actions;
    for (const std::string& name : r.start) start.push_back(json::string(name));
    for (const units::planned_action& a : r.actions)
      actions.push_back(json::object{{"action", a.action}, {"unit", a.unit}});
    row["start"] = std::move(start);
    row["holds"] = holds_json(r.forecast);
    row["actions"] = std::move(actions);
  });
}

page status_text(const fleet_survey& f, bool wide, bool lively) {
  page text = heading(f);
  bool first = true;
  for (const auto& [name, t] : f.apis) {
    if (!std::exchange(first, false)) text += "\n";
    text += table_of_rows(f, name, t.says, lively);
  }
  for (const cluster_survey& c : f.clusters)
    for (const api_survey& a : c.apis)
      for (const plan_row& r : a.rows) {
        if (wide)
          text += page("\n") + c.name + "/" + r.name + "\n" + table_of_units(r, a.says, lively);
        if (!r.holds.empty())
          text += page("\n") + c.name + "/" + r.name + "\n" +
                  grouped_holds(r.holds, wide, lively, "  ");
      }
  return text;
}

page plan_text(const fleet_survey& f, bool wide, bool lively) {
  page text = heading(f);
  for (const cluster_survey& c : f.clusters)
    for (const api_survey& a : c.apis) {
      if (a.rows.empty())
        text += page("\n") + c.name + ": " + (f.apis.size() > 1 ? page(a.name) + " " : page()) +
                toned_state(a.state, lively) +
                (a.last_error.empty() ? page() : page(", ") + a.last_error) + "\n";
      for (const plan_row& r : a.rows) {
        text += page("\n") + c.name + "/" + r.name + " → " + with_short_digests(r.target) + "\n";
        if (r.units.size() == r.updated) {
          text += page("  nothing to do: every ") + a.says.unit + " runs the target\n";
        } else {
          text += page("  goes first: ") +
                  (r.start.empty() ? page("nobody") : joined(r.start, wide ? r.start.size() : 8)) +
                  "\n";
        }
        text += grouped_holds(r.forecast, wide, lively, "  ");
        if (wide)
          for (const units::planned_action& p : r.actions)
            text += page("  would ") + p.action + " " + p.unit + "\n";
      }
    }
  return text;
}

page explain_text(const fleet_survey& f, const std::string& unit, bool lively) {
  page text;
  for (const place& at : find_unit(f, unit)) {
    const units::unit& u = *at.unit;
    if (!text.empty()) text += "\n";
    text += page(at.cluster->name) + "/" + u.name + " in " + at.api->says.row + " " + at.row->name +
            ": " + toned_state(u, lively) + "\n";
    if (!u.trouble.empty()) text += labelled("trouble") + u.trouble + "\n";
    if (!u.message.empty()) text += labelled("reported") + with_short_digests(u.message) + "\n";
    for (const units::detail& d : u.details)
      if (!d.label.empty()) text += labelled(d.label) + text_of(d) + "\n";
    if (const units::hold* h = hold_of(*at.row, u.name)) {
      text += labelled("waits") + with_short_digests(h->sentence) + " [" + h->code + "]\n" +
              labelled("released") + h->released_by + "\n";
    } else {
      text += labelled("waits") + (u.is == units::standing::done ? page("no, it runs the target\n")
                                                                 : page("no, it is on its way\n"));
    }
  }
  return text;
}

json::array explain_json(const fleet_survey& f, const std::string& unit) {
  json::array all;
  for (const place& at : find_unit(f, unit)) {
    json::object o = unit_json(*at.unit);
    o["cluster"] = at.cluster->name;
    o[at.api->says.row] = at.row->name;
    if (const units::hold* h = hold_of(*at.row, at.unit->name)) o["hold"] = hold_json(*h);
    all.push_back(std::move(o));
  }
  return all;
}

std::vector<units::hold> holds_of(const fleet_survey& f) {
  std::vector<units::hold> all;
  for (const cluster_survey& c : f.clusters)
    for (const api_survey& a : c.apis)
      for (const plan_row& r : a.rows)
        for (const units::hold& h : r.holds) {
          all.push_back(h);
          all.back().unit = c.name + "/" + h.unit;
        }
  return all;
}

}  // namespace cli
