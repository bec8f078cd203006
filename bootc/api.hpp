#pragma once

#include "bootc/bootc_cluster.hpp"
#include "units/api.hpp"

namespace bootc {

/// The OS image of the nodes of every cluster: BootcNodePool and BootcNode.
units::api api();

/// What it puts on a cluster, with options of its own instead of those that the service makes; for tests and benchmarks.
k8s::cluster_api engage_bootc(bootc_cluster::options o);
/// The part of it that is there, or null.
bootc_cluster* bootc_part(const k8s::cluster& c) noexcept;

}  // namespace bootc
