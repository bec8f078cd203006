#pragma once

#include "app/api/hold.hpp"
#include "k8s/informer/meta.hpp"
#include "policies/host/host.hpp"
#include "policies/rollout.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// The pack that is asked; a folder of --policies may have another of that name.
inline constexpr std::string_view waves_pack = "rollout/waves";

/// States of a Tenant for the pack: who is `staged` waits for its turn.
namespace turn_state {
inline constexpr std::string_view settled = "UpToDate", staged = "Staged", moving = "Moving";
}

/// Which Tenants of a cluster may move to what is wanted everywhere now?
struct turn_question {
  std::string cluster, chart;
  std::vector<policies::rollout_unit> units;        // its Tenants, by name ascending
  std::vector<policies::rollout_cluster> clusters;  // that can be reached, this one too
  k8s::string_map cluster_labels;
  std::string max_failures = "0";  // a number, or a share as "10%"
  reactor::nanoseconds soak{};
  reactor::wall_time now{};
};

struct turn_answer {
  std::set<std::string, std::less<>> may;
  std::map<std::string, units::hold, std::less<>> holds;  // of all others that are staged
  reactor::nanoseconds look_again{};                      // 0: when something changes
};

/// What the policy is asked. Pure.
std::shared_ptr<policies::rollout_input> input_of(turn_question q);
/// What its answer, or its failure, means for those that are staged: who is not named waits,
/// until the policy is asked again, where it says when. Pure.
turn_answer answer_of(const policies::rollout_input& input,
                      const reactor::result<policies::rollout_answer>& said,
                      reactor::wall_time now);
/// Everybody who is staged waits for the same.
turn_answer all_wait(const turn_question& q, const units::hold_kind& why, std::string sentence);

/// What is known now of the signals that the packs which answer for the subject declare.
using known_signals = std::function<policies::signal_facts(const policies::subject& about,
                                                           const std::string& cluster)>;

/// Those that the pack of waves names, and that no pack that declares signals refuses. `signals`
/// may be empty: there are none.
/// Lifetime `packs` outlives it.
reactor::awaitable<turn_answer> ask_turn(policies::host& packs, turn_question q,
                                         known_signals signals);

}  // namespace helm::tenants
