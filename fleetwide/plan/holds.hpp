#pragma once

#include "app/api/hold.hpp"

namespace fleetwide {

/// Why a cluster waits for what was said once at home, beside the reasons that every API has.
namespace hold_code {
using units::hold_in;
using units::hold_kind;
using units::hold_nature;
inline constexpr auto of_members = std::to_array<hold_kind>({
    {"earlier-wave", hold_nature::turn, "a cluster of an earlier wave does not have the revision",
     "the clusters of the earlier waves have it and are ready", "the planner"},
    {"wave-soak", hold_nature::turn, "the wave before is watched (rollout.soak)",
     "the time is over; `askedAgain` says when", "the planner"},
    {"cluster-slot", hold_nature::turn,
     "as many clusters move as may at once (rollout.maxClusters)", "one of them is ready",
     "the planner"},
    {"cluster-failed", hold_nature::trouble,
     "what the cluster got is degraded there; the sentence says how",
     "it is mended there, or another revision is asked for", "the planner"},
    {"rollout-halted", hold_nature::trouble,
     "more clusters failed than may (rollout.maxFailures), so no other begins",
     "clusters are mended, another revision is asked for, or `windlass pool retry`", "the planner"},
    {"revision-failed", hold_nature::trouble,
     "the revision failed and its clusters went back to the one before (rollout.onFailure: Return)",
     "another revision is asked for, or `windlass pool retry`", "the planner"},
    {"cluster-away", hold_nature::trouble, "the cluster cannot be reached",
     "the cluster answers again", "the cluster's informers"},
    {"cluster-refused", hold_nature::trouble,
     "the cluster's server does not take what is written there; the sentence has what it says",
     "it is asked again, once a minute, and takes it", "the cluster's server"},
    {"managed-by-other", hold_nature::trouble,
     "what is there belongs to another field manager, which is named; it is not fought over",
     "the other lets go of it, or `windlass pool approve --adopt`", "the planner"},
    {"not-granted", hold_nature::trouble, "no FleetGrant gives the object's namespace this cluster",
     "a FleetGrant in the operator's namespace does", "the planner"},
});
inline constexpr hold_kind earlier_wave = hold_in(of_members, "earlier-wave"),
                           wave_soak = hold_in(of_members, "wave-soak"),
                           cluster_slot = hold_in(of_members, "cluster-slot"),
                           cluster_failed = hold_in(of_members, "cluster-failed"),
                           rollout_halted = hold_in(of_members, "rollout-halted"),
                           revision_failed = hold_in(of_members, "revision-failed"),
                           cluster_away = hold_in(of_members, "cluster-away"),
                           cluster_refused = hold_in(of_members, "cluster-refused"),
                           managed_by_other = hold_in(of_members, "managed-by-other"),
                           not_granted = hold_in(of_members, "not-granted");
}  // namespace hold_code

}  // namespace fleetwide
