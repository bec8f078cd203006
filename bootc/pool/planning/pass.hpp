#pragma once

#include "bootc/pool/planning/explanation.hpp"
#include "bootc/pool/planning/membership.hpp"
#include "bootc/pool/planning/skew.hpp"
#include "bootc/pool/planning/slots.hpp"
#include "reactor/plain/pausable.hpp"

/// The inside of the planner; the rest of the program calls plan_rollout().
namespace bootc::planning {

/// One pass over one pool. It takes a step for each node, BootcNode or member of each loop, and can
/// be interrupted between them.
class pass {
public:
  explicit pass(const pool_world& world)
      : draft_(world), members_(draft_), told_(draft_), steps_(begin()) {}
  pass(const pass&) = delete;
  pass& operator=(const pass&) = delete;

  bool advance(std::size_t steps) { return steps_.advance(steps); }
  rollout_plan take() { return std::move(draft_.plan); }
  bool give_back(std::size_t nodes);

private:
  reactor::pausable begin();
  reactor::pausable rollout();
  /// The pool is being deleted.
  reactor::pausable release();
  reactor::pausable refuse(refusal why);
  void tell_override();

  draft draft_;
  membership members_;
  slots slots_;
  skew_rule skew_;
  halt_rule halt_;
  control_planes quorum_;
  explanation told_;
  reactor::pausable steps_;
};

}  // namespace bootc::planning
