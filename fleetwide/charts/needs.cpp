#include "fleetwide/charts/needs.hpp"

#include "fleetwide/charts/chart_words.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace fleetwide {
namespace {

using state = needed_chart::state;

std::string_view ending_of(state s) {
  switch (s) {
    case state::missing: return " is not there";
    case state::not_meant: return ", which it needs, is not for this cluster";
    case state::not_granted: return ", which it needs, is granted no place here";
    case state::foreign: return ", which it needs, cannot have its release here";
    case state::not_ready:
    case state::ready: break;
  }
  return ", which it needs, is not ready here";
}

bool is_waited_for(const needed_chart& n) {
  return n.is != state::ready;
}

}  // namespace

needs_verdict judge_needs(const std::string& cluster, const std::vector<std::string>& needs,
                          const std::function<needed_chart(const std::string& name)>& look) {
  needs_verdict out;
  std::vector<std::string> all = needs;  // in the order of looking, the nearest first
  std::set<std::string> known(needs.begin(), needs.end());
  for (std::size_t i = 0; i < std::min(all.size(), most_needed_looks); ++i) {
    const needed_chart n = look(all[i]);
    if (!is_waited_for(n)) continue;
    if (!out.hold)
      out.hold = units::held(hold_code::depends_on, cluster,
                             "FleetChart " + all[i] + std::string(ending_of(n.is)));
    if (n.is != state::not_ready) {
      out.is_stuck = true;
      return out;
    }
    for (const std::string& more : n.needs)
      if (known.insert(more).second) all.push_back(more);
  }
  return out;
}

std::string cycle_of(const std::string& name,
                     const std::map<std::string, std::vector<std::string>>& needs) {
  std::map<std::string, std::string> needed_by;  // the first that was met
  std::vector<std::string> all{name};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string at = all[i];
    const auto found = needs.find(at);
    if (found == needs.end()) continue;
    for (const std::string& one : found->second) {
      if (one == name) {
        std::string path = name;
        for (std::string by = at; by != name; by = needed_by[by]) path = by + " → " + path;
        return name + " → " + path;
      }
      if (needed_by.try_emplace(one, at).second) all.push_back(one);
    }
  }
  return {};
}

}  // namespace fleetwide
