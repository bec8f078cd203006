#pragma once

#include "k8s/informer/selector.hpp"
#include "k8s/informer/view.hpp"

#include <cstdint>
#include <memory>

namespace k8s {

struct pod_disruption_budget {
  object_meta meta;         // no annotations
  label_selector selector;  // of policy/v1: an empty one selects every pod of the namespace
  std::int64_t observed_generation = 0;
  std::int32_t disruptions_allowed = 0, current_healthy = 0, desired_healthy = 0, expected_pods = 0;

  static pod_disruption_budget parse(wire_value object);
  /// True when the figures are about the present spec.
  bool is_current() const noexcept { return observed_generation >= meta.generation; }
  friend bool operator==(const pod_disruption_budget&, const pod_disruption_budget&) = default;
};

}  // namespace k8s
