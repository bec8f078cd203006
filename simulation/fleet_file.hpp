#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/trouble.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

struct fleet_cluster {
  std::string name;
  std::size_t nodes = 20;
  std::string max_unavailable = "25%";
  std::map<std::string, std::string> labels;       // of its kubeconfig Secret at home
  std::map<std::string, std::string> pool_labels;  // of its pool, which packs apply by
  std::string policy;                              // the pack that the pool names; may be empty
  std::size_t tenants = 0;                         // that one chart is installed for
  std::size_t trustees = 0;                        // instances of Trustee
};

/// A fleet to simulate, and what happens to it.
struct fleet_plan {
  std::vector<fleet_cluster> clusters;
  /// So many FleetCharts at home instead of nodes and lodgers; 0: nodes.
  std::size_t charts = 0;
  troubles faults = all_troubles();
  /// The faults last that long from the beginning of the rollout; then the fleet has `patience` to
  /// finish.
  reactor::nanoseconds disturbed_for = std::chrono::minutes(3), patience = std::chrono::hours(3);
  reactor::nanoseconds stage_time = std::chrono::seconds(20),
                       reboot_time = std::chrono::seconds(30);
};

/// Some cluster has Tenants, or instances of Trustee.
bool with_tenants(const fleet_plan& fleet);
bool with_trustees(const fleet_plan& fleet);

/// What lives on each cluster of a fleet beside its nodes.
struct lodgers {
  std::size_t tenants = 0, trustees = 0;
};
/// So many clusters of so many nodes and lodgers each, with everything that may go wrong. With
/// Tenants every second cluster begins a wave.
fleet_plan usual_fleet(std::size_t clusters, std::size_t nodes, lodgers each = {});

/// Reads a fleet file:
///     clusters:
///     - name: prod-eu
///       count: 3                        # prod-eu-1 … prod-eu-3
///       nodes: 20
///       maxUnavailable: 25%
///       labels: {windlass.dev/wave: main}
///       pool: {labels: {windlass.dev/max-per-zone: "1"}, policy: mine}
///       tenants: 3
///       trustees: 2
///     faults: [cut, crashes]            # all without it
///     disturbed: 5m
///     patience: 3h
///     hosts: {stage: 20s, reboot: 30s}
/// Limits   64 KiB; 100 clusters, 3 to 200 nodes each, 2,000 in all, 20 Tenants and 20 Trustee
///          instances each; times up to a week.
/// Errors   errc::malformed names the place by its path: "clusters[1].nodes: expected a whole
///          number from 3 to 200, got 1".
reactor::result<fleet_plan> read_fleet(std::string_view yaml, std::string_view source);

}  // namespace simulation
