#pragma once

#include <string_view>

/// Every name the operator leaves on objects. Those below bootc.dev are shared with other operators
/// of this API and stay verbatim; those below windlass.dev are ours and may be ignored by others.
namespace bootc::names {

inline constexpr std::string_view group = "node.bootc.dev";
inline constexpr std::string_view version = "v1alpha1";
inline constexpr std::string_view api_version = "node.bootc.dev/v1alpha1";
inline constexpr std::string_view field_manager = "windlass-bootc";

/// The Lease by which operators of this API take turns.
inline constexpr std::string_view lease = "bootc-operator.bootc.dev";

/// Label on the Node: it is in a pool; the daemon's DaemonSet selects on it.
inline constexpr std::string_view managed = "bootc.dev/managed";
/// Annotation on the BootcNode: it holds a reboot slot. The only record of it.
inline constexpr std::string_view in_reboot_slot = "bootc.dev/in-reboot-slot";
/// Annotation on the BootcNode: "true" or "false", whether the Node was cordoned before we did.
/// Absent = never uncordon.
inline constexpr std::string_view was_cordoned = "bootc.dev/was-cordoned";
/// Finalizer on the pool: member nodes are cleaned before it goes.
inline constexpr std::string_view pool_cleanup = "bootc.dev/pool-cleanup";

/// Annotation on the BootcNode: "<Idle's status>:<reason>:<desired image>" of the last event.
/// Nothing else hangs on it.
inline constexpr std::string_view last_observed_state = "bootc.dev/last-observed-state";

/// Annotations on a Node of Karpenter's while it holds a slot: it is neither replaced nor taken
/// away meanwhile.
inline constexpr std::string_view do_not_repair = "karpenter.sh/do-not-repair";
inline constexpr std::string_view do_not_disrupt = "karpenter.sh/do-not-disrupt";
/// Annotations on the BootcNode: which of them are ours, so that they go with the slot.
inline constexpr std::string_view owns_do_not_repair = "bootc.dev/owns-karpenter-do-not-repair";
inline constexpr std::string_view owns_do_not_disrupt = "bootc.dev/owns-karpenter-do-not-disrupt";

/// Annotation on the BootcNode: a drain timed out; not before this time again (RFC 3339).
inline constexpr std::string_view drain_retry_at = "windlass.dev/drain-retry-at";
/// Annotation on the BootcNode: how many drains for this image timed out so far; the delay doubles
/// with it.
inline constexpr std::string_view drain_timeouts = "windlass.dev/drain-timeouts";
/// Annotation on the pool: objects that its policies look at before a workload is disturbed
/// (pool/guard).
inline constexpr std::string_view guard_objects = "windlass.dev/guard-objects";
/// Annotation on the BootcNode: the seconds that the policy gives the drain of this slot.
inline constexpr std::string_view drain_within = "windlass.dev/drain-within";
/// Annotation on the BootcNode: when `Booted` was written (RFC 3339); the reboot timeout counts
/// from here.
inline constexpr std::string_view approved_at = "windlass.dev/approved-at";
/// Annotation on the BootcNode: the Node's boot id when `Booted` was written; another one later =
/// it has rebooted.
inline constexpr std::string_view approved_boot_id = "windlass.dev/approved-boot-id";
/// Annotation on the BootcNode: the pool's disruption.rebootPolicy, for the daemon, which may not
/// read pools.
inline constexpr std::string_view reboot_policy = "windlass.dev/reboot-policy";
/// Annotation on the BootcNode: since when spec names the image that it names now (RFC 3339).
inline constexpr std::string_view desired_since = "windlass.dev/desired-since";
/// Annotation on the pool, and handed on to its BootcNodes: how a host stages that others may
/// reboot as well (staging_mode).
inline constexpr std::string_view stage = "windlass.dev/stage";
/// Annotation on the pool: how many of its nodes may fetch an image at once.
inline constexpr std::string_view stages_at_once = "windlass.dev/stages-at-once";
/// Annotation on the pool: after how long without progress a node counts as stuck, as Go writes
/// durations.
inline constexpr std::string_view stuck_after = "windlass.dev/stuck-after";
/// Annotation on the pool: the digest that a pool with manual updates is to move to.
inline constexpr std::string_view approve_digest = "bootc.dev/approve-digest";
/// Annotation on the pool: with the value "cluster" its image follows from the Release of its
/// cluster (API releases), and no tag moves it.
inline constexpr std::string_view release = "windlass.dev/release", of_its_cluster = "cluster";
/// Annotation on such a pool, written with its image: the Kubernetes of the Release, a blank, and
/// the reference that carries it.
inline constexpr std::string_view kubernetes = "windlass.dev/release-kubernetes";
/// Annotation on the BootcNode: "held", "booting" while it holds a slot. A picture for
/// `kubectl get`: nothing reads it.
inline constexpr std::string_view slot = "windlass.dev/slot";
/// Annotation on the pool: the policy pack that answers for it.
inline constexpr std::string_view policy = "windlass.dev/policy";

/// Labels that make a Node part of the control plane (the second is the older spelling).
inline constexpr std::string_view control_plane_role = "node-role.kubernetes.io/control-plane";
inline constexpr std::string_view master_role = "node-role.kubernetes.io/master";

}  // namespace bootc::names
