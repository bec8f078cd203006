#pragma once

#include "bootc/kinds/names.hpp"
#include "k8s/views/node.hpp"

/// What a rollout asks of a core Node.
namespace bootc {

inline bool is_ready(const k8s::node& n) noexcept {
  return n.ready == k8s::condition_status::yes;
}

inline bool is_control_plane(const k8s::node& n) noexcept {
  return n.meta.labels.has(names::control_plane_role) || n.meta.labels.has(names::master_role);
}

/// Carries the label, with the value that the daemon's DaemonSet selects on.
inline bool is_managed(const k8s::node& n) noexcept {
  const auto* value = n.meta.labels.find(names::managed);
  return value && value->empty();
}

}  // namespace bootc
