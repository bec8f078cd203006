#pragma once

#include "bootc/pool/rollout_policy.hpp"
#include "policies/rollout.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bootc {

/// The policy packs as the rollout's policy.
/// Errors: a pack that fails, loops or answers nonsense is answered as failed, so that no other
/// node starts. Without any pack that applies it answers "none", which is name order.
class pack_rollout_policy final : public rollout_policy {
public:
  /// What is known about the clusters, asked with each question. May be empty.
  struct fleet_knowledge {
    /// What the cluster's owner says about it.
    std::function<k8s::string_map(const std::string& cluster)> labels_of;
    /// The pool of that name in each cluster that has one, by name of cluster.
    std::function<std::vector<policies::rollout_cluster>(const std::string& pool)> clusters;
    /// The objects that a pool of that cluster names.
    std::function<reactor::awaitable<std::vector<policies::guarded_object>>(std::string cluster,
                                                                            std::string named)>
        guards;
    /// What is known now of the signals that the packs which answer for the subject declare.
    std::function<policies::signal_facts(const policies::subject& about,
                                         const std::string& cluster)>
        signals;
  };
  pack_rollout_policy(reactor::loop& l, policies::host& packs, fleet_knowledge known = {})
      : loop_(l), packs_(packs), known_(std::move(known)) {}

  reactor::awaitable<policy_answer> ask(policy_question question) override;

private:
  struct admitted {
    std::map<std::string, policy_hold, std::less<>> holds;  // of those that may not
    std::map<std::string, reactor::nanoseconds, std::less<>> drain_timeouts;
    std::string fault;  // the first one
    std::optional<policy_hold> halt;
  };
  reactor::awaitable<admitted> admit(policies::rollout_answer& said, policies::subject about,
                                     std::shared_ptr<policies::rollout_input> input,
                                     reactor::wall_time now);  // borrowed
  reactor::awaitable<policy_answer> watch(std::string last, policies::subject about,
                                          std::shared_ptr<policies::rollout_input> input,
                                          reactor::wall_time now);
  reactor::loop& loop_;
  policies::host& packs_;
  fleet_knowledge known_;
};

}  // namespace bootc
