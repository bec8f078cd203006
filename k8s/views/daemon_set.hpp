#pragma once

#include "k8s/informer/view.hpp"

#include <cstdint>

namespace k8s {

struct daemon_set {
  object_meta meta;  // no annotations
  std::int64_t observed_generation = 0;
  std::int32_t desired = 0, ready = 0, updated = 0, available = 0;

  static daemon_set parse(wire_value object);
  friend bool operator==(const daemon_set&, const daemon_set&) = default;
};

}  // namespace k8s
