#pragma once

#include "reactor/metrics.hpp"

/// What is counted of drains and reboots.
namespace bootc::node_metrics {

using enum reactor::metric_type;

/// 1 s … 4 h, of everything that takes its time.
inline constexpr std::array<double, 12> drain_bounds = {1,   5,   15,    30,    60,    120,
                                                        300, 600, 1'800, 3'600, 7'200, 14'400};

inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"windlass_drains_total",
     counter,
     "",
     {"cluster", "outcome"},
     "Drains by how they ended: done, failed, timed-out."},
    {"windlass_drain_duration_seconds",
     histogram,
     "seconds",
     {},
     "How long a drain took that was done.",
     drain_bounds},
    {"windlass_stage_duration_seconds",
     histogram,
     "seconds",
     {},
     "How long a node took from when it began to fetch an image until it was staged.",
     drain_bounds},
    {"windlass_reboot_duration_seconds",
     histogram,
     "seconds",
     {},
     "How long a node took from when it was told to boot until it was back and its slot was free.",
     drain_bounds},
    {"windlass_evictions_refused_total",
     counter,
     "",
     {"cluster"},
     "Evictions that a disruption budget refused; each is tried again after 5 s."},
    {"windlass_reboots_requested_total",
     counter,
     "",
     {"cluster"},
     "Nodes that were told to boot their image."},
    {"windlass_reboots_completed_total",
     counter,
     "",
     {"cluster"},
     "Nodes that are back on their image and gave their slot back."},
    {"windlass_daemons_older",
     gauge,
     "",
     {"cluster"},
     "Pods of the daemon that are of an older revision than their DaemonSet's."},
});
inline constexpr reactor::metric_kind
    drains = reactor::metric_in(all, "windlass_drains_total"),
    drain_seconds = reactor::metric_in(all, "windlass_drain_duration_seconds"),
    stage_seconds = reactor::metric_in(all, "windlass_stage_duration_seconds"),
    reboot_seconds = reactor::metric_in(all, "windlass_reboot_duration_seconds"),
    refused = reactor::metric_in(all, "windlass_evictions_refused_total"),
    requested = reactor::metric_in(all, "windlass_reboots_requested_total"),
    completed = reactor::metric_in(all, "windlass_reboots_completed_total"),
    daemons_older = reactor::metric_in(all, "windlass_daemons_older");

}  // namespace bootc::node_metrics
