#pragma once

#include "fleetwide/kinds/fleet_object.hpp"

namespace fleetwide {

const k8s::resource& fleet_charts();

/// FleetChart: a release of a Helm chart for clusters by label. Its template is what
/// chart_spec::content_json() says.
struct fleet_chart : fleet_object {
  static fleet_chart parse(k8s::wire_value object);
  friend bool operator==(const fleet_chart&, const fleet_chart&) = default;
};

}  // namespace fleetwide
