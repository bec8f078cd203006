#pragma once

#include "app/api/api.hpp"
#include "app/api/assumed_targets.hpp"
#include "bootc/bootc_cluster.hpp"

namespace bootc {

/// What the command line says about it.
struct settings {
  reactor::nanoseconds tag_interval = std::chrono::minutes(5);  // between two questions about a tag
  registry::tag_reader_options registries;
  std::string operator_ns = "bootc-operator";  // of pull secrets, on each cluster
  std::string identity;                        // of this process, in Leases
  /// Labels and annotations of images that say which Kubernetes they carry; none: no registry is
  /// asked for them.
  std::vector<std::string> kubernetes_labels = {};
  registry::tag_source* tags = nullptr;  // asked instead of registries; outlives everything
  /// `plan --image`: pools are planned with another image. Null: as they are.
  std::shared_ptr<const units::assumed_targets> assumed = {};
};

/// The OS image of the nodes of every cluster: BootcNodePool and BootcNode.
units::api api(settings s = {});
/// Gives the API other settings, before it starts.
void set_up(units::api& to, settings s);

/// What it puts on a cluster, with options of its own instead of those that the service makes; for
/// tests and benchmarks.
k8s::cluster_api engage_bootc(bootc_cluster::options o);
/// The part of it that is there, or null.
bootc_cluster* bootc_part(const k8s::cluster& c) noexcept;

}  // namespace bootc
