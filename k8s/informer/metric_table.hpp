#pragma once

#include "reactor/metrics.hpp"

/// What is counted of controllers.
namespace k8s::controller_metrics {

using enum reactor::metric_type;

inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"windlass_reconcile_total",
     counter,
     "",
     {"controller", "outcome"},
     "Reconciles by how they ended."},
    {"windlass_reconcile_seconds",
     histogram,
     "seconds",
     {"controller"},
     "How long a reconcile took.",
     reactor::latency_bounds},
    {"windlass_reconcile_longest_seconds",
     gauge,
     "seconds",
     {"controller"},
     "The longest reconcile so far."},
    {"windlass_reconcile_queue_depth", gauge, "", {"controller"}, "Keys that wait for a worker."},
    {"windlass_reconcile_running", gauge, "", {"controller"}, "Keys that are being reconciled."},
});
inline constexpr reactor::metric_kind reconciles =
                                          reactor::metric_in(all, "windlass_reconcile_total"),
                                      seconds =
                                          reactor::metric_in(all, "windlass_reconcile_seconds"),
                                      longest = reactor::metric_in(
                                          all, "windlass_reconcile_longest_seconds"),
                                      depth =
                                          reactor::metric_in(all, "windlass_reconcile_queue_depth"),
                                      running =
                                          reactor::metric_in(all, "windlass_reconcile_running");

}  // namespace k8s::controller_metrics
