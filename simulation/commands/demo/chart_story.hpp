#pragma once

#include "simulation/charts/chart_fleet.hpp"
#include "simulation/commands/demo/show.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cli::demo {

/// The FleetChart of the demo, which lies in the namespace of the kubeconfig Secrets.
inline constexpr std::string_view shown_chart = "storefront", shown_chart_ns = "shop";

/// So many clusters: two canaries, some that come early, and the others.
std::vector<simulation::chart_fleet::place> chart_places(std::size_t clusters);

/// The demo's story of charts: a FleetChart is installed on every cluster, wave by wave; its next
/// version fails its Helm test on the canaries, which halts it; an undo brings back the former one.
/// Every write until then is judged.
reactor::awaitable<show_result> play_charts(reactor::loop& l, simulation::chart_fleet& w,
                                            service& windlass, show_options options,
                                            reactor::event& stop);

}  // namespace cli::demo
