#pragma once

#include "app/api/condition_kind.hpp"

#include <array>
#include <string_view>

/// Every condition that pools and nodes have, and every reason they give:
/// docs/reference/conditions.md is made from it.
namespace bootc {

inline constexpr auto pool_conditions = std::to_array<units::condition_kind>({
    {"BootcNodePool", "UpToDate", "True", "AllUpdated", "every node of the pool runs the image"},
    {"BootcNodePool", "UpToDate", "False", "RolloutInProgress",
     "nodes are on their way; the message counts them by state"},
    {"BootcNodePool", "UpToDate", "False", "Paused",
     "spec.rollout.paused: staging goes on, no further node starts"},
    {"BootcNodePool", "Degraded", "False", "Healthy", "nothing is wrong"},
    {"BootcNodePool", "Degraded", "True", "NodeDegraded",
     "nodes report an error, or were not drained or back in time; the message names them",
     units::problem},
    {"BootcNodePool", "Degraded", "True", "PolicyFault",
     "the policy raised an error, took too long or answered nonsense, so no other unit starts",
     units::problem},
    {"BootcNodePool", "Degraded", "True", "SecretError", "the pull secret cannot be used",
     units::problem},
    {"BootcNodePool", "Degraded", "True", "NodeConflict",
     "nodes belong to another pool too, or their BootcNode has no owner", units::problem},
    {"BootcNodePool", "Degraded", "True", "RolloutReturned",
     "spec.rollout.onFailure: Return, and the image halted the rollout: the nodes run the one "
     "before, "
     "or are on their way back to it",
     units::problem},
    {"BootcNodePool", "Degraded", "True", "RolloutHalted",
     "2 or more unhealthy nodes hold reboot slots, or the image that a node moved to breaks the "
     "version skew policy, so no other unit starts",
     units::problem},
    {"BootcNodePool", "Degraded", "True", "InvalidSpec",
     "image, selector, pullSecretRef, maxUnavailable or onFailure cannot be processed as written",
     units::problem},
    {"BootcNodePool", "Degraded", "True", "TagResolutionError",
     "the registry does not say what the image's tag names", units::problem},
    {"BootcNodePool", "Ready", "True", "AllUpdated",
     "UpToDate, and not Degraded: what kubectl wait, kstatus and Argo CD ask"},
    {"BootcNodePool", "Ready", "False", "RolloutInProgress",
     "not UpToDate, or Degraded: with the reason of that condition; the message counts who is "
     "held"},
});
inline constexpr auto node_conditions = std::to_array<units::condition_kind>({
    {"BootcNode", "Idle", "True", "Idle", "the host runs the image that it should run"},
    {"BootcNode", "Idle", "False", "Staging", "the image is being fetched"},
    {"BootcNode", "Idle", "False", "Staged", "the image is on the host and waits for its turn"},
    {"BootcNode", "Idle", "False", "Rebooting", "the host was told to boot the image"},
    {"BootcNode", "Degraded", "False", "Healthy", "nothing is wrong"},
    {"BootcNode", "Degraded", "True", "Error",
     "staging, booting or reading the host failed; the message says what"},
});

namespace pool_condition {
inline constexpr std::string_view up_to_date = units::type_in(pool_conditions, "UpToDate"),
                                  degraded = units::type_in(pool_conditions, "Degraded"),
                                  ready = units::type_in(pool_conditions, "Ready");
}
namespace pool_reason {
// UpToDate
inline constexpr std::string_view all_updated = units::reason_in(pool_conditions, "AllUpdated"),
                                  in_progress =
                                      units::reason_in(pool_conditions, "RolloutInProgress"),
                                  paused = units::reason_in(pool_conditions, "Paused");
// Degraded, weakest first: a later one replaces an earlier one in the same pass
inline constexpr std::string_view healthy = units::reason_in(pool_conditions, "Healthy"),
                                  node_degraded = units::reason_in(pool_conditions, "NodeDegraded"),
                                  policy_fault = units::reason_in(pool_conditions, "PolicyFault"),
                                  secret_error = units::reason_in(pool_conditions, "SecretError"),
                                  node_conflict = units::reason_in(pool_conditions, "NodeConflict"),
                                  rollout_returned =
                                      units::reason_in(pool_conditions, "RolloutReturned"),
                                  rollout_halted =
                                      units::reason_in(pool_conditions, "RolloutHalted"),
                                  invalid_spec = units::reason_in(pool_conditions, "InvalidSpec"),
                                  tag_resolution_error =
                                      units::reason_in(pool_conditions, "TagResolutionError");
}  // namespace pool_reason

namespace node_condition {
inline constexpr std::string_view idle = units::type_in(node_conditions, "Idle"),
                                  degraded = units::type_in(node_conditions, "Degraded");
}
namespace node_reason {
inline constexpr std::string_view idle = units::reason_in(node_conditions, "Idle"),
                                  staging = units::reason_in(node_conditions, "Staging"),
                                  staged = units::reason_in(node_conditions, "Staged"),
                                  rebooting = units::reason_in(node_conditions, "Rebooting");
inline constexpr std::string_view error = units::reason_in(node_conditions, "Error"),
                                  healthy = units::reason_in(node_conditions, "Healthy");
}  // namespace node_reason

}  // namespace bootc
