#pragma once

#include "bench/hostile/siege/strangers.hpp"

#include <vector>

namespace bench::hostile {

/// At home, the kinds of fleet objects; the FleetChart fleet/own, which is to be on the good
/// member; and the namespace `team`, which a FleetGrant gives the namespace `theirs` there.
void furnish_fleet_objects(surroundings& all);
/// FleetCharts, and what stands beside them, of who may write everything in `team` at home.
void add_fleet_authors(std::vector<stranger>& out);
/// fleet/own is on the good member and is said to be.
bool is_own_chart_ready(const k8s::sim::api_server& home);

}  // namespace bench::hostile
