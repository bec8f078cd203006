#include "fleetwide/charts/needs.hpp"

#include "fleetwide/charts/chart_words.hpp"

#include <algorithm>
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

bool waits_for_a_person(const needed_chart& n) {
  if (!is_waited_for(n)) return false;
  return n.is != state::not_ready || std::ranges::any_of(n.needs, waits_for_a_person);
}

}  // namespace

needs_verdict judge_needs(const std::string& cluster, std::span<const needed_chart> needs) {
  needs_verdict out;
  const auto waited = std::ranges::find_if(needs, is_waited_for);
  if (waited == needs.end()) return out;
  out.hold = units::held(hold_code::depends_on, cluster,
                         "FleetChart " + waited->name + std::string(ending_of(waited->is)));
  out.is_stuck = std::ranges::any_of(needs, waits_for_a_person);
  return out;
}

}  // namespace fleetwide
