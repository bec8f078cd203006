#pragma once

#include "k8s/client/event_kind.hpp"

/// The Events about objects that are said once at home; docs/reference/events.md is made from it.
namespace fleetwide::fleet_event {

inline constexpr auto table = std::to_array<k8s::event_kind>({
    {"FleetRevisionMade", k8s::event_severity::normal, "FleetPool",
     "its content changed; the note has number and image of the new revision"},
    {"FleetRevisionComplete", k8s::event_severity::normal, "FleetPool",
     "every cluster that can be reached has the revision"},
    {"FleetRolloutHalted", k8s::event_severity::warning, "FleetPool",
     "as the condition Halted turns true; the note says which clusters failed"},
    {"FleetMemberRefused", k8s::event_severity::warning, "FleetPool",
     "a cluster took the revision not; the note has its name and what it said"},
    {"FleetMembersLeft", k8s::event_severity::warning, "FleetPool",
     "the object was deleted while clusters could not be reached; what they have stays there"},
    {"FleetRevisionApplied", k8s::event_severity::normal, "BootcNodePool",
     "the revision of a FleetPool was written; the note names both"},
});
inline constexpr k8s::event_kind revision_made = k8s::event_in(table, "FleetRevisionMade"),
                                 complete = k8s::event_in(table, "FleetRevisionComplete"),
                                 halted = k8s::event_in(table, "FleetRolloutHalted"),
                                 refused = k8s::event_in(table, "FleetMemberRefused"),
                                 left = k8s::event_in(table, "FleetMembersLeft"),
                                 applied = k8s::event_in(table, "FleetRevisionApplied");

}  // namespace fleetwide::fleet_event
