#pragma once

#include "bootc/pool/planning/draft.hpp"
#include "k8s/skew/skew_policy.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bootc::planning {

/// Keeps every node within Kubernetes' version skew policy (k8s/skew): which Kubernetes the target
/// carries, and beside which versions it may run. What is not known breaks no rule.
/// An image of a control-plane node is taken to carry that node's API server too, so such a node is
/// judged as an API server among the others; its kubelet is the word about it. Where kubeadm runs
/// the API server as a static pod it does not follow the image, and the node is judged as a worker.
class skew_rule {
public:
  /// Every node of the cluster, in the order of names; `object` is null where it is in no pool.
  void look_at(const draft& d, const k8s::node& node, const bootc_node* object);
  /// After the last of them.
  void judge(draft& d);
  /// Sets `m.skew` where the member must not move to the target.
  void judge(draft& d, member& m);

  struct reason {
    hold_code::hold_kind kind;
    std::string sentence, released_by;
  };
  const reason& why(std::size_t which) const { return reasons_[which]; }

private:
  struct said {
    k8s::skew::version is;
    std::string by;
  };
  struct range {
    std::optional<said> oldest, newest;
    void add(const said& one);
  };
  /// An image brings the node's API server.
  static bool brings_server(const draft& d, const k8s::node& node);
  std::string broken_by_worker(const k8s::node& node) const;
  std::string broken_by_control_plane(const k8s::node& node) const;
  std::string sentence(const k8s::skew::rule& broken, const said& beside) const;
  void give_reason(member& m, reason why);
  /// A control-plane node that brings the first API server of a newer minor.
  void judge_upgrade(draft& d, member& m);

  std::vector<said> control_planes_, servers_;
  range kubelets_, proxies_;  // of workers
  std::optional<said> image_, booted_;
  bool is_asking_ = false;
  reason noted_{hold_code::version_skew, {}, {}};
  std::vector<reason> reasons_;
};

}  // namespace bootc::planning
