#pragma once

#include "bootc/pool/planning/draft.hpp"
#include "bootc/pool/planning/membership.hpp"
#include "bootc/pool/planning/skew.hpp"
#include "bootc/pool/planning/slots.hpp"

#include <string>
#include <vector>

namespace bootc::planning {

/// What people and policies are told: each unit, why it waits, and what the pool's status says.
class explanation {
public:
  explicit explanation(draft& d) : draft_(d) {}

  /// What decided in this pass.
  struct rules {
    const membership& all;
    const halt_rule& halt;
    const control_planes& quorum;
    const skew_rule& skew;
  };
  /// A member of a rollout, with its hold.
  void add(const member& m, const rules& by);
  /// A node of a pool that is not rolled out: it is deleted, or not valid. What it runs and why it
  /// waits is to be seen all the same; the last hold is its.
  void add_waiting(const bootc_node& object, const k8s::node* node);
  /// The same of one that has no BootcNode yet.
  void add_newcomer(const k8s::node& node);
  /// After a loop that made holds, each in the order of names.
  void end_of_holds() { hold_ends_.push_back(draft_.plan.holds.size()); }
  void count(const member& m);
  void count_holds();
  void finish_status(const membership& all, const halt_rule& halt);

private:
  void show(const member& m);

  draft& draft_;
  census counts_;
  std::vector<std::string> degraded_;
  // staged without lock; rebooted by others too
  std::vector<std::string> unlocked_, uncoordinated_;
  std::vector<std::size_t> hold_ends_;
};

}  // namespace bootc::planning
