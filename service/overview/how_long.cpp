#include "service/overview/how_long.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <vector>

namespace cli {

std::optional<how_long> how_long_of(const fleet_overview& f, const units::plan_row& row) {
  if (row.steps == 0) return std::nullopt;
  std::vector<reactor::nanoseconds> known;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis)
      for (const units::plan_row& r : a.rows)
        known.insert(known.end(), r.past_steps.begin(), r.past_steps.end());
  how_long out;
  out.rollouts = known.size();
  if (known.empty()) return out;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::ranges::nth_element(known, middle);
  out.step = *middle;
  out.takes = out.step * static_cast<std::int64_t>(row.steps);
  return out;
}

void add_how_long(boost::json::object& to, const fleet_overview& f, const units::plan_row& row) {
  const auto known = how_long_of(f, row);
  if (!known) return;
  to["steps"] = row.steps;
  to["estimateSeconds"] = nullptr;
  if (known->takes)
    to["estimateSeconds"] = std::chrono::round<std::chrono::seconds>(*known->takes).count();
}

std::string text_of(const how_long& h, std::size_t steps) {
  if (!h.takes)
    return "how long it takes is not known: no rollout is on record from its beginning to its end";
  const auto shown = [](reactor::nanoseconds t) {
    return reactor::format_duration(std::chrono::round<std::chrono::seconds>(t));
  };
  return "takes about " + shown(*h.takes) + ": " + std::to_string(steps) +
         (steps == 1 ? " step of " : " steps of ") + shown(h.step) + ", the median of " +
         std::to_string(h.rollouts) + (h.rollouts == 1 ? " rollout" : " rollouts") + " on record";
}

}  // namespace cli
