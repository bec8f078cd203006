#pragma once

#include "bootc/pool/rollout_plan.hpp"
#include "k8s/client/fault.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bootc {

/// The server may have carried it out, and no answer came.
bool is_unanswered(const k8s::fault& f) noexcept;
/// Whether an action gives a reboot slot back.
bool frees_slot(action_kind k) noexcept;
/// Whether an action writes the node's BootcNode, so that a note may go along.
bool takes_notes(action_kind k) noexcept;

/// Puts the steps of nodes that hold a slot and go on to drain or to boot before those of all
/// others, each node's own in their order: where only some may begin, nodes that are disturbed
/// already come first.
void disturbed_first(std::vector<action>& all);

/// The steps of one plan in their order, as far as the server's answers let them go on.
/// Nodes     a step that fails stops further steps of its node, never those of others.
/// The pool  nothing goes on when a step of the pool itself, its finalizer, fails.
/// Slots     as many nodes as could not give their slot back take none in this pass.
/// Versions  a later step of an object names the version that the former one made.
class pass_steps {
public:
  /// The plan's actions outlive it. `giving_back`: the nodes that hold a slot now and do not after
  /// the plan.
  pass_steps(std::vector<action>& actions, std::set<std::string> giving_back)
      : actions_(actions), giving_back_(std::move(giving_back)) {}

  bool takes_slots() const noexcept;
  /// None is taken: the server shows other slots than the view, or, with `why`, shows none.
  void take_no_slot(std::optional<k8s::fault> why = {});

  /// The step to make now; null when all are made. Each is followed by made() or failed().
  const action* next();
  /// `version`: what its object has now; empty when nothing was written.
  void made(const std::string& version);
  /// False when the pass ends with it.
  bool failed(const k8s::fault& why);

  const std::set<std::string>& stopped() const noexcept { return stopped_; }
  /// The first failure of all.
  const std::optional<k8s::fault>& failure() const noexcept { return failure_; }
  /// Of the pool, after a step that wrote it; empty when none did.
  std::string pool_version() const;

private:
  std::map<std::string, std::string>& versions_of(const action& a);

  std::vector<action>& actions_;
  std::set<std::string> giving_back_, stopped_;
  std::size_t at_ = 0, lost_slots_ = 0;  // planned to be free, but still taken
  // Of what was written in this pass; "" is the pool.
  std::map<std::string, std::string> bootc_nodes_, nodes_;
  std::optional<k8s::fault> failure_;
};

}  // namespace bootc
