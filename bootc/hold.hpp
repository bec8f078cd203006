#pragma once

#include <string>
#include <string_view>

namespace bootc {

/// Why a unit waits. The codes are stable: scripts and dashboards match on them.
namespace hold_code {
inline constexpr std::string_view slot_full =
                                      "slot-full",  // every reboot slot of the pool is taken
    paused = "paused",                              // the pool is paused
    halted = "halted",                              // two or more unhealthy nodes hold slots
    draining = "draining",                          // its pods are being evicted
    pdb = "pdb",                                    // a disruption budget refuses an eviction
    drain_timeout = "drain-timeout",                // a drain took too long; tried again later
    drain_failed = "drain-failed",                  // a drain met an error; tried again soon
    staging = "staging",                            // its daemon is fetching the image
    rebooting = "rebooting",                        // told to boot the image, not back yet
    reboot_timeout = "reboot-timeout",              // the same for longer than rebootTimeoutSeconds
    not_ready = "not-ready",                        // runs the image, but the Node is not Ready
    degraded = "degraded",                          // its daemon reports an error
    no_daemon = "no-daemon",                        // no daemon has reported for it yet
    policy = "policy",  // the policy has not chosen it; with a code of its own "policy:AfterCanary"
    policy_fault = "policy-fault",    // the policy failed, so nobody new starts
    control_plane = "control-plane",  // another control-plane node is disturbed or not Ready
    conflict = "conflict",            // its BootcNode belongs to somebody else
    invalid_spec = "invalid-spec",    // the pool cannot be processed as written
    stale_cluster = "stale-cluster",  // the view of the cluster is old
    leaving = "leaving";              // it no longer belongs to the pool and is being released
// Registries, pull secrets and maintenance windows add theirs here.
}  // namespace hold_code

/// One waiting unit: what holds it, as a sentence, and what would release it.
struct hold {
  std::string node;
  std::string code;  // one of hold_code
  std::string sentence;
  std::string released_by;
  friend bool operator==(const hold&, const hold&) = default;
};

}  // namespace bootc
