#pragma once

#include "bootc/kinds/daemon_texts.hpp"
#include "bootc/pool/rollout_plan.hpp"

#include <cstddef>
#include <memory>

namespace bootc {

/// The one place where a rollout is decided; the running service, `status`, `plan` and `explain`
/// all call it.
/// Shape   pure: the same world gives the same plan. A world on which the plan was carried out, and
///         in which nothing else happened, gives an empty list of actions.
/// Order   membership and spec, results of drains, classification, finished slots, halt, new slots,
///         drains, status.
/// Safety  never more slots than maxUnavailable; two unhealthy nodes in slots stop new ones; at
///         most one control-plane node at a time, and none while another is not Ready; approval
///         only for the image that was drained for.
rollout_plan plan_rollout(const pool_world& world);

namespace planning {
class pass;
}

/// The same in pieces, between which others have their turn: a cluster of thousands of nodes takes
/// tens of milliseconds.
/// Lifetime: the world outlives it and does not change meanwhile.
class rollout_planning {
public:
  explicit rollout_planning(const pool_world& world);
  ~rollout_planning();
  rollout_planning(const rollout_planning&) = delete;
  rollout_planning& operator=(const rollout_planning&) = delete;

  /// So many steps more, each of some microseconds; true once the plan is made.
  bool advance(std::size_t steps);
  /// Once, after that.
  rollout_plan take();
  /// What is left after that, so many nodes more; true once all is given back.
  bool give_back(std::size_t nodes);

private:
  std::unique_ptr<planning::pass> pass_;
};

/// Two unhealthy nodes in slots stop a rollout.
inline constexpr std::size_t halt_threshold = 2;
/// After a drain timed out: this long, doubling with each further one up to the second.
inline constexpr reactor::nanoseconds drain_retry_first = std::chrono::minutes(5),
                                      drain_retry_last = std::chrono::minutes(60);

/// What the original bootc-operator says of a pool whose image is a tag, in its Degraded condition.
inline constexpr std::string_view tags_not_supported_text = "tag resolution not yet supported";

}  // namespace bootc
