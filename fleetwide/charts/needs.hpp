#pragma once

#include "app/api/hold.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fleetwide {

/// One FleetChart that another needs, as it is on one cluster.
struct needed_chart {
  std::string name;
  /// foreign: the release there is another's, or of no FleetChart, and no person lets it be taken
  /// over.
  enum class state { missing, not_meant, not_granted, foreign, not_ready, ready } is;
  std::vector<needed_chart> needs;  // what it needs itself, as far as that is no cycle
};

struct needs_verdict {
  std::optional<units::hold> hold;  // what is waited for on that cluster; none: all is ready
  bool is_stuck = false;            // it comes only when a person acts, so no wave waits for it
};

/// Judges what a FleetChart needs on a cluster before it may begin there. Pure.
needs_verdict judge_needs(const std::string& cluster, std::span<const needed_chart> needs);

}  // namespace fleetwide
