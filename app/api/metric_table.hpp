#pragma once

#include "reactor/metrics.hpp"

/// What is counted of the units of every API. `pool` is the API's row; beyond the limit of rows
/// with series of their own it is "_other" (app/api/row_figures.hpp).
namespace units::unit_metrics {

using enum reactor::metric_type;

/// 1 min … 7 days.
inline constexpr std::array<double, 12> rollout_bounds = {
    60, 300, 900, 1'800, 3'600, 7'200, 14'400, 28'800, 86'400, 172'800, 345'600, 604'800};

inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"windlass_units",
     gauge,
     "",
     {"api", "cluster", "pool", "state"},
     "Units by the state in which they are on their way."},
    {"windlass_held_units",
     gauge,
     "",
     {"api", "cluster", "code", "pool"},
     "Units that wait, by the code of what holds them (docs/reference/holds.md)."},
    {"windlass_rows_without_series",
     gauge,
     "",
     {"api"},
     "Pools beyond the 4,000 that have series of their own; they are counted as pool _other."},
    {"windlass_changes_total",
     counter,
     "",
     {"api", "cluster"},
     "Changes that began: what the brake would stop, and the speed limit counts."},
    {"windlass_changes_refused_total",
     counter,
     "",
     {"api", "cluster"},
     "Changes that did not begin yet, since the speed limit of the fleet or of the cluster was "
     "reached."},
    {"windlass_rollouts_started_total",
     counter,
     "",
     {"api", "cluster"},
     "Rollouts that began: a pool whose units all ran its target has another one."},
    {"windlass_rollouts_completed_total",
     counter,
     "",
     {"api", "cluster"},
     "Rollouts that ended with every unit on the target."},
    {"windlass_rollout_duration_seconds",
     histogram,
     "seconds",
     {"api"},
     "From the beginning of a rollout to its end.",
     rollout_bounds},
});
inline constexpr reactor::metric_kind
    by_state = reactor::metric_in(all, "windlass_units"),
    held = reactor::metric_in(all, "windlass_held_units"),
    without_series = reactor::metric_in(all, "windlass_rows_without_series"),
    changes = reactor::metric_in(all, "windlass_changes_total"),
    refused_changes = reactor::metric_in(all, "windlass_changes_refused_total"),
    started = reactor::metric_in(all, "windlass_rollouts_started_total"),
    completed = reactor::metric_in(all, "windlass_rollouts_completed_total"),
    duration = reactor::metric_in(all, "windlass_rollout_duration_seconds");

}  // namespace units::unit_metrics
