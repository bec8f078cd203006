#pragma once

#include "bootc/pool/planning/draft.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bootc::planning {

/// Stops a rollout that failed on several nodes or that a policy halts, and finds the image that
/// they may go back to.
class halt_rule {
public:
  void look_at(const draft& d, const member& m);
  /// After the last member.
  void judge(draft& d, const std::vector<member>& members);
  /// The nodes for which it is halted, in words; empty where the rollout goes on.
  const std::string& why() const noexcept { return text_; }
  /// The same for the pool's condition.
  const std::string& message() const noexcept { return message_; }
  const std::string& released_by() const noexcept { return released_by_; }
  /// A policy halted it, and nothing else.
  bool is_policys() const noexcept { return is_policys_; }

private:
  std::vector<std::string> found_, beyond_;
  std::string text_, message_, released_by_;
  bool is_policys_ = false;
};

/// At most one control-plane node of the cluster at a time, and none while another one is not
/// Ready, whatever the slots allow: a quorum does not know of pools. A cluster with one
/// control-plane node has nothing to lose by waiting.
class control_planes {
public:
  /// A control-plane node of the cluster, in the order of names: one that holds a slot, as far as
  /// the pass has come, whatever pool it is in; or another one.
  void note_slotted(const k8s::node& node);
  void note(const k8s::node& node);
  /// Whether the member has to wait for another one, which `m.refused_by` then names.
  bool refuses(draft& d, member& m);
  /// It got a slot: from now on it is the one that the others wait for.
  void took_slot(const member& m);
  const disturbed_node& refuser(std::size_t which) const { return refusers_[which]; }

private:
  std::size_t count_ = 0;
  std::vector<disturbed_node> refusers_;   // for which a member waits
  std::vector<disturbed_node> disturbed_;  // that may not be joined; sorted by name
};

/// Who gets a slot, and in what order.
class slots {
public:
  void count(draft& d, const member& m);
  /// After the last member: how many are free.
  void judge(draft& d, std::size_t members);
  void note_waiting(const draft& d, member& m);
  /// A policy named it: it comes after those that were named before it.
  void name(member& m);
  const std::vector<member*>& waiting() const noexcept { return waiting_; }
  void give(draft& d, control_planes& rule, member& m);

private:
  std::size_t with_object_ = 0, free_ = 0;
  std::vector<member*> waiting_;  // for a slot, in the order in which they get one
};

}  // namespace bootc::planning
