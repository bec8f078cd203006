#pragma once

namespace bootc {

/// What holds whatever a policy answers.
enum class safety_rule {
  budget,          // pods are evicted, so that their budgets are asked
  slot,            // maxUnavailable
  cordon_restore,  // a node is as schedulable afterwards as it was before
  halt,            // two unhealthy nodes end it
  failed_reboot,   // a node that was told to boot and is Degraded is unhealthy
  lost_reboot,     // so is one that is not back from its reboot in time
  own_writes,      // no pass acts on views older than what this process wrote
  cordon,          // a node takes no new pods from before it is drained until it is back
  drain,           // it is told to boot once it is drained
  gone             // drained is a node whose pods are gone, not one whose evictions were accepted
};

/// Yes. Only a test that shows what each is there for links another answer; nothing in the product
/// can.
bool keeps(safety_rule rule) noexcept;

}  // namespace bootc
