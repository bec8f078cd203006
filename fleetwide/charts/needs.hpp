#pragma once

#include "app/api/hold.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fleetwide {

/// A FleetChart that another needs, as it is on one cluster.
struct needed_chart {
  /// foreign: the release there is another's, or of no FleetChart, and no person lets it be taken
  /// over.
  enum class state { missing, not_meant, not_granted, foreign, not_ready, ready } is;
  std::vector<std::string> needs;  // the names of what it needs itself
};

struct needs_verdict {
  std::optional<units::hold> hold;  // what is waited for on that cluster; none: all is ready
  bool is_stuck = false;            // it comes only when a person acts, so no wave waits for it
};

/// Judges what a FleetChart needs on a cluster before it may begin there. `look` is asked once for
/// each name that is waited for, in all for at most most_needed_looks: the author of FleetCharts
/// says how they need each other. Where more are needed, those further away count as coming by
/// themselves.
needs_verdict judge_needs(const std::string& cluster, const std::vector<std::string>& needs,
                          const std::function<needed_chart(const std::string& name)>& look);
inline constexpr std::size_t most_needed_looks = 128;

/// "a → b → a" where what `name` needs leads back to it; empty where it does not. `needs` has what
/// each FleetChart of the namespace needs. Takes as many steps as there are needs.
std::string cycle_of(const std::string& name,
                     const std::map<std::string, std::vector<std::string>>& needs);

}  // namespace fleetwide
