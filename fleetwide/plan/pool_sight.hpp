#pragma once

#include "bootc/kinds/node_pool.hpp"
#include "fleetwide/plan/member_sight.hpp"

#include <string>

namespace fleetwide {

/// What is degraded since before a revision was written says nothing about that revision, for so
/// long.
inline constexpr reactor::nanoseconds old_trouble_counts_after = std::chrono::minutes(2);

/// How a pool on a member stands to the FleetPool that `mark` names: fills `is` of a member that is
/// seen: owner, revision and progress. `ref_of_its_revision` is the image that the revision asks
/// for which it has, empty where that is not known. Null: there is no pool. Pure.
member_sight sight_of(member is, const bootc::node_pool* pool, const std::string& mark,
                      const std::string& ref_of_its_revision, reactor::wall_time now);

}  // namespace fleetwide
