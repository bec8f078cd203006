#pragma once

#include "bootc/pool/rollout_plan.hpp"
#include "reactor/awaitable.hpp"

#include <string>

namespace bootc {

/// What a policy is asked: who may start next?
struct policy_question {
  std::string cluster, pool;
  std::string pack;  // the pool's annotation; empty = the first that applies
  k8s::string_map pool_labels, pool_annotations;
  std::vector<unit> units;
  std::size_t capacity = 0, occupied = 0;
  bool paused = false, halted = false;
  bool returning = false;  // its nodes go back to the image before
  bool watched = false;    // every unit runs the image: is the rollout over?
  kubernetes_versions kubernetes;
  reactor::wall_time now{};
  /// What the pool, as it is written now, says of who waits for a policy; empty also where it is
  /// asked what would be if every node had the image.
  std::vector<policy_wait> published;
  bool published_halt = false;  // and the rollout was halted then
};

/// The unit that moved last.
const unit& last_moved(const std::vector<unit>& all);

/// The one that answers it: the policy host, a fixed order in a test. Its answer is a request; the
/// planner clamps it.
class rollout_policy {
public:
  virtual ~rollout_policy() = default;
  virtual reactor::awaitable<policy_answer> ask(policy_question question) = 0;
};

}  // namespace bootc
