#pragma once

#include "app/api/condition_kind.hpp"

#include <array>
#include <string_view>

/// Every condition of Tenants and KryptonDeployments, and every reason they give. A Tenant has
/// three for each cluster, whose name stands behind the slash, and one for who only looks.
namespace helm::tenants {

inline constexpr auto tenant_conditions = std::to_array<units::condition_kind>({
    {"Tenant", "ClusterReady/<cluster>", "True", "Installed", "the release was installed"},
    {"Tenant", "ClusterReady/<cluster>", "True", "Upgraded", "the release was upgraded"},
    {"Tenant", "ClusterReady/<cluster>", "True", "NoChange",
     "the release is as wanted; nothing was done"},
    {"Tenant", "ClusterReady/<cluster>", "True", "Drifted",
     "the release was changed, or objects of it were removed, by another writer; the message says which", units::problem},
    {"Tenant", "ClusterReady/<cluster>", "False", "InstallFailed", "the install failed",
     units::problem},
    {"Tenant", "ClusterReady/<cluster>", "False", "UpgradeFailed", "the upgrade failed",
     units::problem},
    {"Tenant", "ClusterReady/<cluster>", "False", "NamespaceFailed",
     "the workload namespace cannot be made", units::problem},
    {"Tenant", "ClusterReady/<cluster>", "False", "NamespaceConflict",
     "another object has the workload namespace", units::problem},
    {"Tenant", "ClusterReady/<cluster>", "False", "NamespaceReserved",
     "the workload namespace is one of the system, of the fleet or of the service", units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "InstallFailed",
     "the install failed; the message says why. Tried again after 30 s doubling to 15 min",
     units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "UpgradeFailed",
     "the upgrade failed; the message says why. Tried again after 30 s doubling to 15 min",
     units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "UninstallFailed",
     "the uninstall failed, so the finalizer stays. Tried again after 30 s doubling to 15 min",
     units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "NamespaceFailed",
     "the workload namespace cannot be made; the message names verb and resource", units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "NamespaceConflict",
     "another object has the workload namespace; the message names it", units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "NamespaceReserved",
     "the workload namespace is one of the system, of the fleet or of the service; nothing is done "
     "there",
     units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "ChartNotLoaded",
     "repository or chart cannot be read; what is installed goes on serving", units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "VersionNotFound",
     "the repository has the chart and not this version; what is installed goes on serving",
     units::problem},
    {"Tenant", "ClusterError/<cluster>", "True", "VersionInvalid",
     "the chart's version is no version; nothing is fetched", units::problem},
    {"Tenant", "ClusterError/<cluster>", "False", "Resolved", "what was wrong is over"},
    {"Tenant", "ClusterProgress/<cluster>", "True", "Installing", "an install is under way"},
    {"Tenant", "ClusterProgress/<cluster>", "True", "Upgrading", "an upgrade is under way"},
    {"Tenant", "ClusterProgress/<cluster>", "True", "Deleting", "it is being cleaned up"},
    {"Tenant", "ClusterProgress/<cluster>", "True", "NamespaceTerminating",
     "the workload namespace is going; a new one is made then"},
    {"Tenant", "ClusterProgress/<cluster>", "False", "InstallComplete", "the install is over"},
    {"Tenant", "ClusterProgress/<cluster>", "False", "UpgradeComplete", "the upgrade is over"},
    {"Tenant", "ClusterProgress/<cluster>", "False", "InstallFailed", "the install failed"},
    {"Tenant", "ClusterProgress/<cluster>", "False", "UpgradeFailed", "the upgrade failed"},
    {"Tenant", "ClusterProgress/<cluster>", "False", "Held",
     "a policy lets it wait; the message says why"},
    {"Tenant", "ClusterPlan/<cluster>", "True", "UpToDate",
     "the release is what the service at work wants; the message is the chart"},
    {"Tenant", "ClusterPlan/<cluster>", "False", "Held",
     "it waits: the message is the chart that is wanted, the code of the hold and why"},
    {"Tenant", "ClusterPlan/<cluster>", "False", "Install", "that chart is being installed"},
    {"Tenant", "ClusterPlan/<cluster>", "False", "Upgrade", "that chart is being upgraded to"},
    {"Tenant", "ClusterPlan/<cluster>", "False", "Uninstall", "it is being uninstalled"},
});

inline constexpr auto deployment_conditions = std::to_array<units::condition_kind>({
    {"KryptonDeployment", "Ready", "True", "Deployed", "the release is there and available"},
    {"KryptonDeployment", "Ready", "False", "AccountMissing", "spec.account.name is empty",
     units::problem},
    {"KryptonDeployment", "Ready", "False", "EdgeUnavailable",
     "no region is named, its Secret is missing, invalid or not granted, or its cluster does not "
     "answer",
     units::problem},
    {"KryptonDeployment", "Ready", "False", "NamespaceFailed",
     "the workload namespace cannot be made", units::problem},
    {"KryptonDeployment", "Ready", "False", "NamespaceConflict",
     "another object has the workload namespace; the message names it", units::problem},
    {"KryptonDeployment", "Ready", "False", "NamespaceReserved",
     "the workload namespace is one of the system, of the fleet or of the service; nothing is done "
     "there",
     units::problem},
    {"KryptonDeployment", "Ready", "False", "HealthCheckFailed",
     "what the release has on the region cluster cannot be looked at", units::problem},
    {"KryptonDeployment", "Ready", "False", "RepairTriggered",
     "the release, or objects of it, are missing; the message lists them", units::problem},
    {"KryptonDeployment", "Ready", "False", "HelmFailed", "install, upgrade or uninstall failed",
     units::problem},
    {"KryptonDeployment", "Ready", "False", "NotReady",
     "workloads are not available yet; the message counts them", units::problem},
});

namespace condition_prefix {
inline constexpr std::string_view ready = "ClusterReady/", error = "ClusterError/",
                                  progress = "ClusterProgress/", plan = "ClusterPlan/";
}

/// What a failed chart leaves as it was: the old release goes on serving.
constexpr bool is_fatal(std::string_view error_reason) noexcept {
  return error_reason != "ChartNotLoaded" && error_reason != "VersionNotFound" &&
         error_reason != "VersionInvalid";
}

}  // namespace helm::tenants
