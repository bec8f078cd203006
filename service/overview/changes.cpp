// What other policies would change: two looks at one fleet, unit by unit.
#include "service/overview/changes.hpp"

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

std::vector<verdict_change> changes_between(const std::string& cluster, const plan_row& was,
                                            const plan_row& is) {
  std::vector<verdict_change> out;
  for (const units::unit& u : is.units) {
    const auto known = std::ranges::find(was.units, u.name, &units::unit::name);
    if (known == was.units.end()) continue;
    verdict before = verdict_of(was, *known), now = verdict_of(is, u);
    if (before.what == now.what && before.code == now.code) continue;
    out.push_back({cluster, is.name, u.name, std::move(before), std::move(now)});
  }
  return out;
}

bool is_at_rest(const plan_row& earlier, const plan_row& later) {
  const auto same_unit = [](const units::unit& a, const units::unit& b) {
    return a.name == b.name && a.state == b.state && a.is == b.is;
  };
  const auto same_hold = [](const units::hold& a, const units::hold& b) {
    return a.unit == b.unit && a.code == b.code;
  };
  return earlier.target == later.target && earlier.occupied == later.occupied &&
         earlier.start == later.start &&
         std::ranges::equal(earlier.units, later.units, same_unit) &&
         std::ranges::equal(earlier.forecast, later.forecast, same_hold);
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

json::array uncompared_json(const std::vector<uncompared_row>& all) {
  json::array out;
  for (const uncompared_row& u : all) {
    json::object o{{"cluster", u.cluster}, {"why", u.why}};
    if (!u.row.empty()) o["row"] = u.row;
    out.push_back(std::move(o));
  }
  return out;
}

page changes_text(const comparison& all, const std::vector<std::string>& in_force,
                  std::size_t columns) {
  std::string against;
  for (const std::string& one : in_force) against += (against.empty() ? "" : ", ") + one;
  const std::size_t n = all.changes.size();
  page text = page("\nagainst ") + (against.empty() ? page("the stock policies") : page(against)) +
              ": " + std::to_string(n) + (n == 1 ? page(" unit changes") : page(" units change")) +
              "\n";
  for (const verdict_change& c : all.changes)
    text += folded(page("  ") + c.cluster + "/" + c.row + "/" + c.unit + ": " + as_text(c.was) +
                       " → " + as_text(c.is) + "\n",
                   columns, 4);
  for (const uncompared_row& u : all.uncompared)
    text += folded(page("  not compared: ") + u.cluster + (u.row.empty() ? "" : "/") + u.row +
                       ": " + u.why + "\n",
                   columns, 4);
  return text;
}

}  // namespace cli
