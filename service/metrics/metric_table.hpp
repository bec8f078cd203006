#pragma once

#include "reactor/metrics.hpp"

/// What the service counts of itself.
namespace cli::service_metrics {

using enum reactor::metric_type;

inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"windlass_build_info",
     gauge,
     "",
     {"commit", "version"},
     "1; what is running is in the labels."},
    {"windlass_policy_pack_info",
     gauge,
     "",
     {"digest", "pack", "version"},
     "1 for each policy pack in force."},
    {"windlass_policy_events_total",
     counter,
     "",
     {"what"},
     "Packs loaded, reloaded, refused and removed."},
    {"windlass_policy_faults_total",
     counter,
     "",
     {},
     "Calls of policies that failed, took too long or gave an answer that means nothing."},
    {"windlass_policy_failing",
     gauge,
     "",
     {"hook", "pack"},
     "1 while the last call of a pack's hook was a fault; units wait as policy-fault."},
    {"windlass_leader", gauge, "", {"api"}, "1 while this process holds the API's Lease."},
    {"windlass_brake", gauge, "", {}, "1 while the brake at home stops something."},
    {"windlass_loop_longest_stall_seconds",
     gauge,
     "seconds",
     {},
     "Processor time of the longest callback since the last look."},
    {"windlass_loop_callbacks_total", counter, "", {}, "Callbacks that the loop ran."},
    {"windlass_loop_busy_seconds_total",
     counter,
     "seconds",
     {},
     "Time that the loop spent in callbacks."},
    {"process_resident_memory_bytes", gauge, "bytes", {}, "Resident memory size in bytes."},
    {"process_cpu_seconds_total",
     counter,
     "seconds",
     {},
     "Total user and system CPU time spent in seconds."},
    {"process_open_fds", gauge, "", {}, "Number of open file descriptors."},
    {"process_start_time_seconds",
     gauge,
     "seconds",
     {},
     "Start time of the process since unix epoch in seconds."},
});
inline constexpr reactor::metric_kind
    build_info = reactor::metric_in(all, "windlass_build_info"),
    policy_pack_info = reactor::metric_in(all, "windlass_policy_pack_info"),
    policy_events = reactor::metric_in(all, "windlass_policy_events_total"),
    policy_faults = reactor::metric_in(all, "windlass_policy_faults_total"),
    policy_failing = reactor::metric_in(all, "windlass_policy_failing"),
    leader = reactor::metric_in(all, "windlass_leader"),
    brake = reactor::metric_in(all, "windlass_brake"),
    stall = reactor::metric_in(all, "windlass_loop_longest_stall_seconds"),
    callbacks = reactor::metric_in(all, "windlass_loop_callbacks_total"),
    busy = reactor::metric_in(all, "windlass_loop_busy_seconds_total"),
    resident = reactor::metric_in(all, "process_resident_memory_bytes"),
    cpu = reactor::metric_in(all, "process_cpu_seconds_total"),
    open_files = reactor::metric_in(all, "process_open_fds"),
    start_time = reactor::metric_in(all, "process_start_time_seconds");

}  // namespace cli::service_metrics
