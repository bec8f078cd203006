#pragma once

#include "k8s/informer/store.hpp"
#include "k8s/informer/view.hpp"

namespace k8s {

enum class pod_phase : unsigned char { unknown, pending, running, succeeded, failed };
std::string_view name_of(pod_phase p) noexcept;

/// What draining, budgets and placement look at.
struct pod {
  object_meta meta;  // no annotations
  interned node;     // empty = not scheduled
  pod_phase phase = pod_phase::unknown;
  bool ready = false;      // condition Ready is True
  bool mirror = false;     // of a static pod: annotation kubernetes.io/config.mirror
  bool empty_dir = false;  // has an emptyDir volume

  static pod parse(wire_value object);
  bool ended() const noexcept {
    return phase == pod_phase::succeeded || phase == pod_phase::failed;
  }
  friend bool operator==(const pod&, const pod&) = default;
};

}  // namespace k8s
