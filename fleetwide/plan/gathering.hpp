#pragma once

#include "bootc/kinds/node_pool.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "fleetwide/plan/rollout_plan.hpp"

#include <optional>
#include <string>

namespace fleetwide {

/// How a pool on a member stands to the FleetPool that `mark` names. Pure.
/// `ref_of` is the image that the revision of a digest asks for, empty where that is not known.
struct pool_sight {
  member is;
  std::optional<reactor::wall_time> look_again;  // what it says may count by then
};

/// What is degraded since before a revision was written says nothing about that revision, for so
/// long.
inline constexpr reactor::nanoseconds old_trouble_counts_after = std::chrono::minutes(2);

/// Fills `is` of a member that is seen: owner, revision and progress. Null: there is no pool.
pool_sight sight_of(member is, const bootc::node_pool* pool, const std::string& mark,
                    const std::string& ref_of_its_revision, reactor::wall_time now);

/// The status that a plan makes of the one before: counts, conditions, wave, outcome of the
/// revision. Pure.
fleet_pool_status status_after(const fleet_pool& p, const rollout_world& w, const fleet_plan& plan,
                               reactor::wall_time now);
/// The status of one that cannot be processed as written.
fleet_pool_status status_of_invalid(const fleet_pool& p, reactor::wall_time now);

}  // namespace fleetwide
