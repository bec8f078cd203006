#pragma once

#include "k8s/informer/view.hpp"

namespace k8s {

enum class condition_status : unsigned char { unknown, no, yes };  // absent = unknown
std::string_view name_of(condition_status s) noexcept;             // "Unknown", "False", "True"
condition_status parse_condition_status(std::string_view text) noexcept;

struct taint {
  interned key, value, effect;
  friend bool operator==(const taint&, const taint&) = default;
};

struct node {
  object_meta meta;  // all annotations but last-applied
  bool unschedulable = false;
  // a NodeClaim of karpenter.sh/v1 owns it, which is not its controller
  bool of_node_claim = false;
  condition_status ready = condition_status::unknown;
  compact_string boot_id;
  interned os_image, kubelet_version;
  interned kube_proxy_version;  // a server of 1.31 and later may leave it empty
  shared_array<taint> taints;
  shared_array<interned> troubles;  // types of conditions that are True, without Ready

  static node parse(wire_value object);
  std::size_t heap_bytes() const noexcept {
    return meta.heap_bytes() + boot_id.heap_bytes() + taints.heap_bytes() + troubles.heap_bytes();
  }
  friend bool operator==(const node&, const node&) = default;
};

}  // namespace k8s
