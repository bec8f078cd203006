#pragma once

#include "bootc/pool/planning/goal.hpp"
#include "bootc/pool/planning/member.hpp"
#include "bootc/pool/rollout_plan.hpp"

#include <string>
#include <string_view>

namespace bootc::planning {

/// The plan in the making: what it is made from, what the pool asks for, what is decided so far.
/// Lifetime: the world outlives it.
struct draft {
  explicit draft(const pool_world& w) : world(w), pool(w.pool) {
    plan.status = pool.status;
    plan.overrides = w.overrides;
    if (w.braked && w.braked->again_in) look_again(w.now + *w.braked->again_in);
  }

  /// One action more. It names the version of the Node or BootcNode that it was decided on.
  action& act(action_kind kind, std::string node);
  action& act(action_kind kind, const member& m);
  /// `word`: a policy's own, behind the code. Where nothing is decided, the hold says so instead.
  void hold_back(std::string node, const hold_code::hold_kind& kind, std::string sentence,
                 std::string released_by, std::string_view word = {});
  void look_again(wall_time when) {
    if (when > world.now) plan.look_again = earlier(plan.look_again, when);
  }
  /// Takes Karpenter's annotations that are `ours` off the Node, as far as it still has them.
  void unshield(const std::string& name, const k8s::node& node, node_shield ours);
  bool owns(const bootc_node& b) const { return b.meta.owner && b.meta.owner.uid == pool.meta.uid; }
  /// Everything is shown, nothing is done.
  bool only_looks() const { return world.stale || !world.other_operator.empty(); }
  /// What is under way ends, and nothing else is done.
  bool is_braked() const { return world.braked.has_value(); }
  /// The unit waits for the brake or the speed limit, unless it waits for something that comes
  /// before.
  void hold_for_brake(std::string node);

  const pool_world& world;
  const node_pool& pool;
  planning::goal goal;
  rollout_plan plan;
};

}  // namespace bootc::planning
