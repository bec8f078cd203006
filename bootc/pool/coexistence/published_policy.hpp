#pragma once

#include "bootc/pool/rollout_policy.hpp"

namespace bootc {

/// For a reader that was given no packs: what the service that acts on a pool has said on it
/// (status.policyHolds) stands, since his packs may be others than those at hand. These are asked
/// where it has said nothing, and about what would be.
/// Lifetime  the packs outlive it.
class published_policy final : public rollout_policy {
public:
  explicit published_policy(rollout_policy& at_hand) : at_hand_(at_hand) {}
  reactor::awaitable<policy_answer> ask(policy_question question) override;

private:
  rollout_policy& at_hand_;
};

/// The answer that the pool has published, to the same question; it lets no node start.
policy_answer answer_published(const policy_question& question);

}  // namespace bootc
