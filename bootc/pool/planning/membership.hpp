#pragma once

#include "bootc/pool/planning/draft.hpp"

#include <string>
#include <vector>

namespace bootc::planning {

/// Who belongs to the pool: finds its members, creates and corrects their BootcNodes, and lets go
/// who left. Each function is called in the order of names.
class membership {
public:
  explicit membership(draft& d)
      : draft_(d), objects_by_name_(d.world.bootc_nodes), nodes_by_name_(d.world.nodes) {}

  void find(const k8s::node& node);
  void sync(member& m);
  void release_if_leaving(const bootc_node& b);

  std::vector<member>& members() noexcept { return members_; }
  /// How many nodes fetch the image, or are about to.
  std::size_t fetching() const noexcept { return fetching_; }
  /// Other pools that own a BootcNode of a node that this one selects.
  const std::vector<std::string>& conflicting_pools() const noexcept { return conflicting_pools_; }
  /// BootcNodes of such nodes that no pool owns.
  const std::vector<std::string>& unowned() const noexcept { return unowned_; }

private:
  void join(const k8s::node& node);
  bool is_fetching(const bootc_node& b, const k8s::node& node);
  bool may_fetch(const member& m);

  draft& draft_;
  in_order<bootc_node> objects_by_name_;
  in_order<k8s::node> nodes_by_name_;
  std::vector<member> members_;  // sorted by name
  std::size_t fetching_ = 0;
  std::vector<std::string> conflicting_pools_, unowned_;
};

/// Lets the node go, which no longer belongs to the pool; null: the node is gone.
void release_node(draft& d, const bootc_node& object, const k8s::node* node);
/// The node of a pool that is being deleted goes at once, or when it is back from its reboot.
void release_with_pool(draft& d, const bootc_node& b, const k8s::node* node);

}  // namespace bootc::planning
