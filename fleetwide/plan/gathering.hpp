#pragma once

#include "fleetwide/kinds/fleet_object.hpp"
#include "fleetwide/plan/rollout_plan.hpp"

#include <span>
#include <string>
#include <string_view>

namespace fleetwide {

/// The status that a plan makes of the one before: counts, conditions, wave, outcome of the
/// revision. `holds` has every reason to wait that its kind knows. Pure.
fleet_status status_after(const fleet_object& p, const rollout_world& w, const fleet_plan& plan,
                          std::span<const units::hold_kind> holds);
/// The status of one about which nothing is done, for that reason of the condition Ready.
fleet_status status_without_plan(const fleet_object& p, std::string_view reason, std::string why,
                                 reactor::wall_time now);

/// Of what is halted a newer revision says nothing.
void say_not_halted(fleet_status& s, const fleet_object& p, reactor::wall_time now);

}  // namespace fleetwide
