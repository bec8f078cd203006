#pragma once

#include "app/api/hold.hpp"

namespace bootc {

using units::hold;

/// Why a node waits, beside the reasons that every API has. Registries, pull secrets and
/// maintenance windows add rows here.
namespace hold_code {
using namespace units::hold_code;
using units::hold_in;
using units::hold_kind;
using units::hold_nature;
inline constexpr auto of_nodes = std::to_array<hold_kind>({
    {"slot-full", hold_nature::turn, "every reboot slot of the pool is taken",
     "a node in a slot is updated and Ready, or spec.rollout.maxUnavailable is raised",
     "the planner"},
    {"control-plane", hold_nature::turn,
     "another control-plane node of the cluster is disturbed or not Ready",
     "that node is back and Ready", "the planner"},
    {"version-skew", hold_nature::trouble,
     "the Kubernetes that its image carries breaks the version skew policy in this cluster; the "
     "sentence has both versions and the rule",
     "the cluster's versions allow it, or spec.image.ref names another image", "the planner"},
    {"version-lookup", hold_nature::progress,
     "the registry is asked which Kubernetes the image carries",
     "the registry answers, or fails to", "the planner"},
    {"removed-apis", hold_nature::trouble,
     "its image has a newer minor of Kubernetes, which breaks what the cluster uses, or that is "
     "not "
     "known yet (--gate-removed-apis); the sentence has the first objects and the command that "
     "lists all",
     "they are changed or deleted, or a waiver covers them", "the planner"},
    {"draining", hold_nature::progress,
     "its pods are being evicted; the sentence names those that are left and the one that was told "
     "to end longest ago",
     "its pods are gone", "the drain"},
    {"pdb", hold_nature::trouble,
     "a PodDisruptionBudget, which the sentence names, refuses to evict a pod of it",
     "the budget allows one more disruption", "the drain"},
    {"drain-timeout", hold_nature::trouble,
     "its drain took longer than spec.rollout.drainTimeoutSeconds; another node has its turn",
     "the next attempt, after a delay that doubles", "the drain"},
    {"drain-failed", hold_nature::trouble,
     "its drain met an error, until an attempt works; the sentence has the server's words",
     "the next attempt, after 5 s that double up to 320 s", "the drain"},
    {"staging", hold_nature::progress, "its daemon is fetching the image",
     "it reports the image as staged", "the node's daemon"},
    {"staging-turn", hold_nature::turn,
     "as many nodes of the pool fetch the image as may at once (windlass.dev/stages-at-once)",
     "one of them has fetched it", "the planner"},
    {"rebooting", hold_nature::progress, "it was told to boot the image and is not back yet",
     "it reports the new image and is Ready", "the planner"},
    {"reboot-timeout", hold_nature::trouble,
     "it is not back after spec.rollout.rebootTimeoutSeconds (30 minutes unless said)",
     "it reports the new image and is Ready", "the planner"},
    {"not-ready", hold_nature::trouble, "it runs the image, but the Node is not Ready",
     "the Node is Ready", "the planner"},
    {"no-daemon", hold_nature::trouble, "no daemon has reported for it yet",
     "its daemon publishes a status", "the planner"},
    {"other-operator", hold_nature::trouble,
     "another operator of this API keeps the Lease bootc-operator.bootc.dev of the cluster",
     "that operator ends, or its Lease does", "the planner"},
    {"stuck", hold_nature::trouble,
     "its daemon has neither acted nor reported an error for longer than windlass.dev/stuck-after "
     "(10m)",
     "its daemon acts, or says what is wrong", "the planner"},
    {"tag-unresolved", hold_nature::trouble, "no registry has said yet what the image's tag names",
     "the registry answers", "the planner"},
    {"leaving", hold_nature::progress, "it no longer belongs to the pool and is being released",
     "its BootcNode is deleted", "the planner"},
});
inline constexpr hold_kind slot_full = hold_in(of_nodes, "slot-full"),
                           control_plane = hold_in(of_nodes, "control-plane"),
                           version_skew = hold_in(of_nodes, "version-skew"),
                           version_lookup = hold_in(of_nodes, "version-lookup"),
                           removed_apis = hold_in(of_nodes, "removed-apis"),
                           draining = hold_in(of_nodes, "draining"), pdb = hold_in(of_nodes, "pdb"),
                           drain_timeout = hold_in(of_nodes, "drain-timeout"),
                           drain_failed = hold_in(of_nodes, "drain-failed"),
                           staging = hold_in(of_nodes, "staging"),
                           staging_turn = hold_in(of_nodes, "staging-turn"),
                           rebooting = hold_in(of_nodes, "rebooting"),
                           reboot_timeout = hold_in(of_nodes, "reboot-timeout"),
                           not_ready = hold_in(of_nodes, "not-ready"),
                           no_daemon = hold_in(of_nodes, "no-daemon"),
                           other_operator = hold_in(of_nodes, "other-operator"),
                           stuck = hold_in(of_nodes, "stuck"),
                           tag_unresolved = hold_in(of_nodes, "tag-unresolved"),
                           leaving = hold_in(of_nodes, "leaving");

/// The row of a code, "policy:Word" included; null for an unknown one.
const hold_kind* find(std::string_view code) noexcept;
}  // namespace hold_code

}  // namespace bootc
