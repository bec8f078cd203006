#pragma once

#include "reactor/metrics.hpp"

/// What is counted of Tenants and KryptonDeployments, under the names that dashboards of the
/// original operator's users have. No label is ever the name of a Tenant, and the series of a
/// cluster go with it. (krypton_kubeconfig_reloads_total stands in the fleet's table.)
namespace helm::tenants::tenant_metrics {

using enum reactor::metric_type;

/// 0.5 s … 15 min: an operation ends after 3 or 5 minutes.
inline constexpr std::array<double, 11> operation_bounds = {0.5, 1,   2.5, 5,   10, 30,
                                                            60,  120, 180, 300, 900};

inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"krypton_tenants", gauge, "", {"cluster", "phase"}, "Tenants by phase."},
    {"krypton_tenants_ready", gauge, "", {"cluster"}, "Tenants whose phase is Ready."},
    {"krypton_tenants_error", gauge, "", {"cluster"}, "Tenants whose phase is Error."},
    {"krypton_cluster_state",
     gauge,
     "",
     {"cluster", "state"},
     "1 for the state that a cluster is in, 0 for former ones."},
    {"krypton_helm_operations_total",
     counter,
     "",
     {"cluster", "operation", "result"},
     "Installs, upgrades, uninstalls and skips, by success and failure."},
    {"krypton_helm_operation_seconds",
     histogram,
     "seconds",
     {},
     "How long installs, upgrades and uninstalls take.",
     operation_bounds},
    {"krypton_reconcile_total",
     counter,
     "",
     {"api", "cluster", "result"},
     "Passes over objects, by success and failure."},
    {"krypton_reconcile_seconds",
     histogram,
     "seconds",
     {},
     "How long a pass takes.",
     reactor::latency_bounds},
    {"krypton_queue_depth", gauge, "", {"cluster"}, "Objects that wait for a pass."},
    {"krypton_fingerprint_updates_total",
     counter,
     "",
     {"cluster", "result"},
     "Fingerprints noted on objects, by success and failure."},
    {"krypton_chart_loads_total", counter, "", {"result"}, "Charts fetched and read."},
    {"krypton_drift_repairs_total",
     counter,
     "",
     {"cluster"},
     "Upgrades that put missing objects back."},
    {"windlass_children_ended_total",
     counter,
     "",
     {"reason"},
     "Child processes for charts that were ended, or ended themselves, by why."},
    {"windlass_chart_renders_total",
     counter,
     "",
     {"result"},
     "Renders of charts that operations asked for: made, or saved by one that was kept."},
    {"krypton_kryptondeployments",
     gauge,
     "",
     {"phase", "region"},
     "KryptonDeployments by phase and the Secret of their region."},
    {"krypton_build_info", gauge, "", {"version"}, "1; what is running is in the label."},
});
inline constexpr reactor::metric_kind
    by_phase = reactor::metric_in(all, "krypton_tenants"),
    ready = reactor::metric_in(all, "krypton_tenants_ready"),
    error = reactor::metric_in(all, "krypton_tenants_error"),
    cluster_state = reactor::metric_in(all, "krypton_cluster_state"),
    operations = reactor::metric_in(all, "krypton_helm_operations_total"),
    operation_seconds = reactor::metric_in(all, "krypton_helm_operation_seconds"),
    reconciles = reactor::metric_in(all, "krypton_reconcile_total"),
    reconcile_seconds = reactor::metric_in(all, "krypton_reconcile_seconds"),
    queue_depth = reactor::metric_in(all, "krypton_queue_depth"),
    fingerprint_updates = reactor::metric_in(all, "krypton_fingerprint_updates_total"),
    chart_loads = reactor::metric_in(all, "krypton_chart_loads_total"),
    drift_repairs = reactor::metric_in(all, "krypton_drift_repairs_total"),
    children_ended = reactor::metric_in(all, "windlass_children_ended_total"),
    chart_renders = reactor::metric_in(all, "windlass_chart_renders_total"),
    deployments = reactor::metric_in(all, "krypton_kryptondeployments"),
    build_info = reactor::metric_in(all, "krypton_build_info");

}  // namespace helm::tenants::tenant_metrics
