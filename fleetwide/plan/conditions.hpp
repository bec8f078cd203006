#pragma once

#include "app/api/condition_kind.hpp"

#include <array>
#include <string_view>

/// Every condition that objects which are said once at home have: docs/reference/conditions.md is
/// made from it.
namespace fleetwide {

inline constexpr auto fleet_conditions = std::to_array<units::condition_kind>({
    {"FleetPool", "Ready", "True", "AllReady", "every cluster that is meant has the revision"},
    {"FleetPool", "Ready", "False", "NotAllReady",
     "clusters are on their way, wait, failed or cannot be reached; the message counts them"},
    {"FleetPool", "Ready", "False", "NoClusters", "no cluster of the fleet is meant",
     units::problem},
    {"FleetPool", "Ready", "False", "InvalidSpec",
     "the object cannot be processed as written; the message names the field", units::problem},
    {"FleetPool", "Ready", "False", "NotAvailable",
     "it is not known what is asked for; the message says what is missing", units::problem},
    {"FleetPool", "Progressing", "True", "RollingOut",
     "clusters get a revision; the message names the wave"},
    {"FleetPool", "Progressing", "False", "Complete", "no cluster is on its way"},
    {"FleetPool", "Progressing", "False", "Paused", "spec.paused is true"},
    {"FleetPool", "Halted", "True", "TooManyFailed",
     "more clusters failed than rollout.maxFailures, so no other begins; the message names them",
     units::problem},
    {"FleetPool", "Halted", "True", "Returned",
     "the revision failed, and its clusters went back to the one before, or are on their way",
     units::problem},
    {"FleetPool", "Halted", "False", "Healthy", "no more clusters failed than may"},
    {"FleetPool", "Degraded", "True", "ClustersHeld",
     "clusters failed, are away, or are managed by another; the message has the codes and the "
     "first of them",
     units::problem},
    {"FleetPool", "Degraded", "False", "Healthy", "nothing is wrong"},
});

namespace fleet_condition {
inline constexpr std::string_view ready = units::type_in(fleet_conditions, "Ready"),
                                  progressing = units::type_in(fleet_conditions, "Progressing"),
                                  halted = units::type_in(fleet_conditions, "Halted"),
                                  degraded = units::type_in(fleet_conditions, "Degraded");
}
namespace fleet_reason {
inline constexpr std::string_view all_ready = units::reason_in(fleet_conditions, "AllReady"),
                                  not_all_ready = units::reason_in(fleet_conditions, "NotAllReady"),
                                  no_clusters = units::reason_in(fleet_conditions, "NoClusters"),
                                  invalid_spec = units::reason_in(fleet_conditions, "InvalidSpec"),
                                  not_available =
                                      units::reason_in(fleet_conditions, "NotAvailable"),
                                  rolling_out = units::reason_in(fleet_conditions, "RollingOut"),
                                  complete = units::reason_in(fleet_conditions, "Complete"),
                                  paused = units::reason_in(fleet_conditions, "Paused"),
                                  too_many_failed =
                                      units::reason_in(fleet_conditions, "TooManyFailed"),
                                  returned = units::reason_in(fleet_conditions, "Returned"),
                                  healthy = units::reason_in(fleet_conditions, "Healthy"),
                                  clusters_held =
                                      units::reason_in(fleet_conditions, "ClustersHeld");
}  // namespace fleet_reason

}  // namespace fleetwide
