#pragma once

#include "simulation/commands/simulate/trial.hpp"

namespace cli::simulate {

/// A trial of FleetCharts instead of pools: clusters without nodes, home with `fleet.charts`
/// FleetCharts, people who edit them and what they lead to, and the judge of what becomes of it.
trial_outcome run_charts(trial t);

}  // namespace cli::simulate
