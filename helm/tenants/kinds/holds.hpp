#pragma once

#include "app/api/hold.hpp"

/// Why a Tenant waits on a cluster, and a KryptonDeployment for its region, beside the reasons that
/// every API has.
namespace helm::tenants::hold_code {

using namespace units::hold_code;
using units::hold_in;
using units::hold_kind;
using units::hold_nature;

inline constexpr auto of_tenants = std::to_array<hold_kind>({
    {"operating", hold_nature::progress, "an install, upgrade or uninstall of it is under way",
     "the operation ends, after 180 s at the latest", "the reconciler"},
    {"namespace-terminating", hold_nature::progress, "its workload namespace is going",
     "the namespace is gone; it is looked for every 5 s", "the planner"},
    {"namespace-failed", hold_nature::trouble, "its workload namespace cannot be made",
     "the right to create namespaces is granted; tried again every 30 s", "the planner"},
    {"namespace-reserved", hold_nature::trouble,
     "its workload namespace is one of the system, of the fleet or of the service itself",
     "the object gets another name, or --allow-system-namespaces is given", "the planner"},
    {"version-invalid", hold_nature::trouble, "the version asked for is no version",
     "--chart-version is corrected", "the planner"},
    {"version-not-found", hold_nature::trouble, "the repository does not have the version",
     "it is published, or another one is asked for", "the chart source"},
    {"chart-not-loaded", hold_nature::trouble, "the chart cannot be fetched or read",
     "the repository answers; tried again after 30 s doubling to 5 min", "the chart source"},
    {"chart-loading", hold_nature::progress, "its chart is being fetched", "the chart is there",
     "the chart source"},
    {"backoff", hold_nature::trouble, "the last operation failed",
     "the next attempt, after 30 s doubling to 15 min, or a change of the object, its cluster's "
     "Secret or the settings",
     "the planner"},
    {"release-pending", hold_nature::trouble,
     "its release is pending and no operation here works on it",
     "the operation on it ends, or it is older than an operation may take and is recovered",
     "the planner"},
    {"fingerprint-unsaved", hold_nature::trouble,
     "the release is as wanted and could not be noted on the object",
     "the right to patch tenants is granted; tried again every 45 s", "the planner"},
    {"workspace-open", hold_nature::trouble,
     "spec.workspace, which the original operator put its release into, is another namespace than "
     "its name",
     "the annotation windlass.dev/workspace says which of the two its release is in",
     "the planner"},
    {"drifted", hold_nature::trouble,
     "another writer changed its release or removed objects of it, and --tenant-drift=report "
     "leaves that",
     "--tenant-drift=heal, the release put back, or the fingerprint's annotation deleted, which is "
     "one upgrade",
     "the planner"},
    {"fleet-loading", hold_nature::progress,
     "clusters of the fleet have not answered since this process began, so it is not known how far "
     "earlier waves are",
     "each has answered or failed, or a minute has passed", "the reconciler"},
    {"chart-unknown", hold_nature::progress,
     "no service at work has said which chart it gets, and no flag does",
     "the service runs, or its chart flags are given", "a command that looks"},
});
inline constexpr hold_kind operating = hold_in(of_tenants, "operating"),
                           namespace_terminating = hold_in(of_tenants, "namespace-terminating"),
                           namespace_failed = hold_in(of_tenants, "namespace-failed"),
                           namespace_reserved = hold_in(of_tenants, "namespace-reserved"),
                           version_invalid = hold_in(of_tenants, "version-invalid"),
                           version_not_found = hold_in(of_tenants, "version-not-found"),
                           chart_not_loaded = hold_in(of_tenants, "chart-not-loaded"),
                           chart_loading = hold_in(of_tenants, "chart-loading"),
                           backoff = hold_in(of_tenants, "backoff"),
                           release_pending = hold_in(of_tenants, "release-pending"),
                           fingerprint_unsaved = hold_in(of_tenants, "fingerprint-unsaved"),
                           workspace_open = hold_in(of_tenants, "workspace-open"),
                           drifted = hold_in(of_tenants, "drifted"),
                           fleet_loading = hold_in(of_tenants, "fleet-loading"),
                           chart_unknown = hold_in(of_tenants, "chart-unknown");

inline constexpr auto of_deployments = std::to_array<hold_kind>({
    {"region-unavailable", hold_nature::trouble,
     "its region's Secret is missing, invalid or not granted, or the cluster does not answer",
     "the Secret or the cluster is mended, or the Secret granted; tried again every 30 s",
     "the region's connection"},
    {"namespace-reserved", hold_nature::trouble,
     "its workload namespace is one of the system, of the fleet or of the service itself",
     "the object gets another name, or --allow-system-namespaces is given", "the planner"},
    {"region-unreadable", hold_nature::trouble,
     "the region refuses to say what is there of the release",
     "the right to read it is granted; tried again every 30 s", "the reconciler"},
    {"workloads-unavailable", hold_nature::progress,
     "workloads of the release are not available yet", "all of them are; looked at every 15 s",
     "the planner"},
    {"deployment-waits", hold_nature::progress,
     "an operation is under way, or failed and is tried again",
     "it ends, after 300 s at the latest, or the next attempt after 60 s doubling to 15 min",
     "the planner"},
    {"chart-unknown", hold_nature::progress,
     "no service at work has said which chart it gets, and no flag does",
     "the service runs, or its chart flags are given", "a command that looks"},
});
inline constexpr hold_kind region_unavailable = hold_in(of_deployments, "region-unavailable"),
                           region_unreadable = hold_in(of_deployments, "region-unreadable"),
                           workloads_unavailable = hold_in(of_deployments, "workloads-unavailable"),
                           deployment_waits = hold_in(of_deployments, "deployment-waits");

}  // namespace helm::tenants::hold_code
