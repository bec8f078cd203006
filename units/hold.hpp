#pragma once

#include <string>
#include <string_view>

namespace units {

/// Why a unit waits, as far as every API has such reasons; each adds its own. The codes are stable: scripts and dashboards
/// match on them.
namespace hold_code {
inline constexpr std::string_view paused = "paused",  // whoever asks for the move paused it
    halted = "halted",                                // too many units are unhealthy
    degraded = "degraded",                            // the unit reports an error
    policy = "policy",  // the policy has not chosen it; with a code of its own "policy:AfterCanary"
    policy_fault = "policy-fault",    // the policy failed, so nobody new starts
    conflict = "conflict",            // somebody else owns it
    invalid_spec = "invalid-spec",    // what is asked for cannot be processed as written
    stale_cluster = "stale-cluster";  // the view of the cluster is old
}  // namespace hold_code

/// One waiting unit: what holds it, as a sentence, and what would release it.
struct hold {
  std::string unit;
  std::string code;
  std::string sentence;
  std::string released_by;
  friend bool operator==(const hold&, const hold&) = default;
};

}  // namespace units
