#pragma once

#include "k8s/client/event_kind.hpp"

/// The Events about nodes and pools; docs/reference/events.md is made from the table.
namespace bootc::hold_event {

inline constexpr auto table = std::to_array<k8s::event_kind>({
    {"Stuck", k8s::event_severity::warning, "BootcNode",
     "something holds it up that may need a person; the note begins with the "
     "hold's code and names the pod, or the error"},
    {"Released", k8s::event_severity::normal, "BootcNode",
     "it is no longer stuck; the note says on what it was, and since when"},
    // Those of the contract, which dashboards of other operators of this API know.
    {"Staging", k8s::event_severity::normal, "Node", "its daemon fetches the image"},
    {"Staged", k8s::event_severity::normal, "Node",
     "the image is on the host and waits for a slot"},
    {"Rebooting", k8s::event_severity::normal, "Node", "it boots into the image"},
    {"Idle", k8s::event_severity::normal, "Node", "it is up to date with the image"},
    {"DrainFailed", k8s::event_severity::warning, "Node",
     "an eviction met an error; the drain is tried again"},
    {"DrainTimedOut", k8s::event_severity::warning, "Node",
     "the drain took longer than drainTimeoutSeconds; the note names what is left"},
    {"DrainTakingTooLong", k8s::event_severity::warning, "Node",
     "the drain has been running for 5 minutes; the note names what it waits for"},
    {"RolloutStarted", k8s::event_severity::normal, "BootcNodePool",
     "nodes move toward another digest"},
    {"RolloutCompleted", k8s::event_severity::normal, "BootcNodePool", "every node runs it"},
    {"ImageUpdateAvailable", k8s::event_severity::normal, "BootcNodePool",
     "the image's tag names another digest"},
    {"NodeDegraded", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"PolicyFault", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"SecretError", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"NodeConflict", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"RolloutReturned", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"RolloutHalted", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"InvalidSpec", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"TagResolutionError", k8s::event_severity::warning, "BootcNodePool",
     "as the condition Degraded of this reason"},
    {"SingleControlPlane", k8s::event_severity::warning, "Node or BootcNodePool",
     "the only control-plane node reboots: the API is away meanwhile"},
    {"StagedUnlocked", k8s::event_severity::warning, "BootcNodePool",
     "images were staged without a lock, so that any reboot boots them"},
    {"UncoordinatedReboots", k8s::event_severity::warning, "BootcNodePool",
     "nodes were rebooted by others too, outside of every slot"},
    {"NodeStuck", k8s::event_severity::warning, "Node",
     "its daemon has neither acted nor reported an error for longer than windlass.dev/stuck-after; "
     "nothing is done about it"},
    {"InvalidAnnotation", k8s::event_severity::warning, "BootcNodePool",
     "an annotation of the pool below windlass.dev is written wrongly and counts as absent"},
    {"ImageVersionDiffers", k8s::event_severity::warning, "BootcNodePool",
     "the Release, or a label of the image, names another minor of Kubernetes than a node that "
     "runs the image does; the node counts"},
    {"DaemonsHalted", k8s::event_severity::warning, "DaemonSet",
     "no further pod of the daemon is replaced: the note names the new one that is not ready"},
    {"BrakeOverridden", k8s::event_severity::warning, "BootcNodePool",
     "a person's order lets the pool go on although the brake is on, or over the speed limit; the "
     "note says whose, why and until when"},
    {"OverrideVoid", k8s::event_severity::warning, "BootcNodePool",
     "an order to override the brake does nothing; the note says why"},
    {"InvalidApproval", k8s::event_severity::warning, "BootcNodePool",
     "bootc.dev/approve-digest is no sha256 digest"},
});
inline constexpr k8s::event_kind stuck = k8s::event_in(table, "Stuck"),
                                 released = k8s::event_in(table, "Released"),
                                 daemons_halted = k8s::event_in(table, "DaemonsHalted");

}  // namespace bootc::hold_event
