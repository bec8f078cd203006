#pragma once

#include "fleetwide/kinds/fleet_object.hpp"

#include <cstddef>

namespace fleetwide {

const k8s::resource& fleet_pools();

/// FleetPool: a BootcNodePool for clusters by label. Its template is
/// {"metadata": {"labels", "annotations"}, "spec"}, without spec.image.
struct fleet_pool : fleet_object {
  /// A template of more is refused: it is written to every cluster.
  static constexpr std::size_t most_template_bytes = 64 * 1024;

  static fleet_pool parse(k8s::wire_value object);
  friend bool operator==(const fleet_pool&, const fleet_pool&) = default;
};

}  // namespace fleetwide
