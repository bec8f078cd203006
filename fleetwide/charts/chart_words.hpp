#pragma once

#include "app/api/hold.hpp"
#include "fleetwide/events.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/conditions.hpp"
#include "fleetwide/plan/holds.hpp"
#include "k8s/client/event_kind.hpp"
#include "reactor/metrics.hpp"

#include <array>

/// What FleetCharts say beside what every fleet object says: docs/reference is made from these.
namespace fleetwide {

namespace hold_code {
using units::hold_in;
using units::hold_kind;
using units::hold_nature;
inline constexpr auto of_charts = std::to_array<hold_kind>({
    {"depends-on", hold_nature::turn,
     "a chart that it needs (spec.dependsOn) is not ready on the cluster",
     "that one is ready there", "the planner"},
    {"values-refused", hold_nature::trouble,
     "values for the cluster cannot be put together; the sentence names the ConfigMap, the Secret, "
     "the key or the policy",
     "what is missing is there, or what is wrong is mended", "the planner"},
    {"drifted", hold_nature::trouble,
     "another writer changed the release or removed objects of it, and spec.drift: Report leaves "
     "that",
     "spec.drift: Repair, the release put back, or `windlass chart retry`", "the planner"},
    {"operating", hold_nature::progress, "an install, upgrade or uninstall of it is under way",
     "the operation ends, after spec.timeout at the latest", "the keeper of the cluster"},
    {"namespace-terminating", hold_nature::progress, "its namespace is going",
     "the namespace is gone; it is looked for every 5 s", "the keeper of the cluster"},
    {"namespace-failed", hold_nature::trouble, "its namespace cannot be made",
     "the right to create namespaces is granted; tried again every 30 s",
     "the keeper of the cluster"},
    {"namespace-reserved", hold_nature::trouble,
     "its namespace is one of the system, of the fleet or of the service itself",
     "the chart gets another namespace, or --allow-system-namespaces is given",
     "the keeper of the cluster"},
    {"version-not-found", hold_nature::trouble, "the repository does not have the version",
     "it is published, or another one is asked for", "the chart source"},
    {"chart-not-loaded", hold_nature::trouble,
     "the chart cannot be fetched or read, or its digest is another one than before",
     "the repository answers with it; tried again after 30 s doubling to 5 min",
     "the chart source"},
    {"chart-loading", hold_nature::progress, "its chart is being fetched", "the chart is there",
     "the chart source"},
    {"backoff", hold_nature::trouble, "the last operation failed",
     "the next attempt, after 30 s doubling to 15 min (with spec.atomic: `windlass chart retry`), "
     "or "
     "another revision",
     "the keeper of the cluster"},
    {"release-pending", hold_nature::trouble,
     "its release is pending and no operation here works on it",
     "the operation on it ends, or it is older than an operation may take and is recovered",
     "the keeper of the cluster"},
});
inline constexpr hold_kind depends_on = hold_in(of_charts, "depends-on"),
                           values_refused = hold_in(of_charts, "values-refused"),
                           drifted = hold_in(of_charts, "drifted"),
                           operating = hold_in(of_charts, "operating"),
                           namespace_terminating = hold_in(of_charts, "namespace-terminating"),
                           namespace_failed = hold_in(of_charts, "namespace-failed"),
                           namespace_reserved = hold_in(of_charts, "namespace-reserved"),
                           version_not_found = hold_in(of_charts, "version-not-found"),
                           chart_not_loaded = hold_in(of_charts, "chart-not-loaded"),
                           chart_loading = hold_in(of_charts, "chart-loading"),
                           backoff = hold_in(of_charts, "backoff"),
                           release_pending = hold_in(of_charts, "release-pending");
}  // namespace hold_code

/// The same conditions as FleetPools have.
inline constexpr auto chart_conditions = [] {
  auto all = fleet_conditions;
  for (units::condition_kind& c : all) c.kind = names::fleet_chart;
  return all;
}();

namespace chart_event {
inline constexpr auto table = std::to_array<k8s::event_kind>({
    {"FleetReleaseBegun", k8s::event_severity::normal, "FleetChart",
     "a cluster is to have the revision of a FleetChart, and that is noted there"},
    {"FleetReleaseInstalled", k8s::event_severity::normal, "FleetChart",
     "the release of a FleetChart was installed on the cluster"},
    {"FleetReleaseUpgraded", k8s::event_severity::normal, "FleetChart",
     "the release of a FleetChart was upgraded on the cluster"},
    {"FleetReleaseUninstalled", k8s::event_severity::normal, "FleetChart",
     "the release was uninstalled, since its FleetChart is not for the cluster any more"},
    {"FleetReleaseFailed", k8s::event_severity::warning, "FleetChart",
     "an operation on the release failed; the note has what Helm said"},
    {"FleetReleaseLetGo", k8s::event_severity::normal, "FleetChart",
     "nothing is noted of the release any more; it is no longer kept"},
    {"FleetReleaseRecovered", k8s::event_severity::normal, "FleetChart",
     "a release that was left pending is marked as failed, so that it goes on"},
    {"FleetNamespaceCreated", k8s::event_severity::normal, "FleetChart",
     "the release's namespace was made"},
    {"FleetRecordDoubted", k8s::event_severity::warning, "FleetChart",
     "a record of the release was not written by the service and not believed"},
});
inline constexpr k8s::event_kind begun = k8s::event_in(table, "FleetReleaseBegun"),
                                 installed = k8s::event_in(table, "FleetReleaseInstalled"),
                                 upgraded = k8s::event_in(table, "FleetReleaseUpgraded"),
                                 uninstalled = k8s::event_in(table, "FleetReleaseUninstalled"),
                                 failed = k8s::event_in(table, "FleetReleaseFailed"),
                                 let_go = k8s::event_in(table, "FleetReleaseLetGo"),
                                 recovered = k8s::event_in(table, "FleetReleaseRecovered"),
                                 namespace_created = k8s::event_in(table, "FleetNamespaceCreated"),
                                 record_doubted = k8s::event_in(table, "FleetRecordDoubted");
}  // namespace chart_event

namespace chart_metrics {
inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"windlass_fleet_release_operations_total",
     reactor::metric_type::counter,
     "",
     {"cluster", "operation", "result"},
     "Helm's operations on releases of FleetCharts."},
});
inline constexpr reactor::metric_kind operations =
    reactor::metric_in(all, "windlass_fleet_release_operations_total");
}  // namespace chart_metrics

}  // namespace fleetwide
