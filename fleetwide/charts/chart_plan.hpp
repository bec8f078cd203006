#pragma once

#include "app/api/hold.hpp"
#include "fleetwide/charts/chart_order.hpp"
#include "helm/placed/plan/drift.hpp"
#include "helm/placed/plan/plan.hpp"

#include <optional>
#include <string>

namespace fleetwide {

/// What decides about one release of a FleetChart on one cluster.
struct chart_world : helm::placed::placement_facts {
  std::optional<chart_order> object;
  std::string record, record_version;  // the newest one there is
  helm::placed::drift_findings drift;  // objects of a settled release that are gone
};

struct chart_plan : helm::placed::placement_plan {
  std::optional<units::hold> hold;
  /// The release is as it was asked for and noted as that: nothing is kept of the order.
  bool is_settled = false;
  friend bool operator==(const chart_plan&, const chart_plan&) = default;
};

/// Decides the next step. Pure.
chart_plan plan_chart(const chart_world& w);

}  // namespace fleetwide
