// What other policies would change: two looks at one fleet, unit by unit.
#include "cli/overview/overview.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace cli {
namespace {

namespace json = boost::json;
using units::plan_row;
using verdict = verdict_change::verdict;

verdict verdict_of(const plan_row& row, const units::unit& u) {
  if (std::ranges::find(row.start, u.name) != row.start.end()) return {"starts", {}, {}};
  const auto hold = std::ranges::find(row.forecast, u.name, &units::hold::unit);
  if (hold != row.forecast.end()) return {"waits", hold->code, hold->sentence};
  return {u.is == units::standing::done ? "is done" : "is on its way", {}, {}};
}

const plan_row* row_of(const fleet_overview& f, const std::string& cluster, const std::string& api,
                       const std::string& row) {
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows)
        if (c.name == cluster && a.name == api && r.name == row) return &r;
  return nullptr;
}

json::object as_json(const verdict& v) {
  json::object o{{"verdict", v.what}};
  if (!v.code.empty()) o["code"] = v.code;
  if (!v.reason.empty()) o["reason"] = v.reason;
  return o;
}

page as_text(const verdict& v) {
  return v.code.empty() ? page(v.what)
                        : page(v.what) + ": " + with_short_digests(v.reason) + " [" + v.code + "]";
}

}  // namespace

std::vector<verdict_change> changes_between(const fleet_overview& before,
                                            const fleet_overview& after) {
  std::vector<verdict_change> out;
  for (const cluster_overview& c : after.clusters)
    for (const api_overview& a : c.apis)
      for (const plan_row& r : a.rows) {
        const plan_row* old = row_of(before, c.name, a.name, r.name);
        if (!old) continue;
        for (const units::unit& u : r.units) {
          const auto known = std::ranges::find(old->units, u.name, &units::unit::name);
          if (known == old->units.end()) continue;
          verdict was = verdict_of(*old, *known), is = verdict_of(r, u);
          if (was.what == is.what && was.code == is.code) continue;
          out.push_back({c.name, r.name, u.name, std::move(was), std::move(is)});
        }
      }
  return out;
}

json::array changes_json(const std::vector<verdict_change>& all) {
  json::array out;
  for (const verdict_change& c : all)
    out.push_back(json::object{{"cluster", c.cluster},
                               {"row", c.row},
                               {"unit", c.unit},
                               {"was", as_json(c.was)},
                               {"now", as_json(c.is)}});
  return out;
}

page changes_text(const std::vector<verdict_change>& all, const std::vector<std::string>& in_force,
                  std::size_t columns) {
  std::string against;
  for (const std::string& one : in_force) against += (against.empty() ? "" : ", ") + one;
  page text = page("\nagainst ") + (against.empty() ? page("the stock policies") : page(against)) +
              ": " + std::to_string(all.size()) +
              (all.size() == 1 ? page(" unit changes") : page(" units change")) + "\n";
  for (const verdict_change& c : all)
    text += folded(page("  ") + c.cluster + "/" + c.row + "/" + c.unit + ": " + as_text(c.was) +
                       " → " + as_text(c.is) + "\n",
                   columns, 4);
  return text;
}

}  // namespace cli
