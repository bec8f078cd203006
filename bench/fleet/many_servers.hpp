#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// What GET answers at home below these paths, for who measures.
namespace fleet_control {
/// {clusters, watched, watched_s, requests, settled, arrived, writes, violations, violation,
/// events: {…}}; watched_s: from the last cut until the last cluster was watched again.
inline constexpr const char* told = "/bench/told";
/// Cuts the connections of the first `percent` clusters of a hundred, of all with home.
inline constexpr const char* cut = "/bench/cut";
/// Every cluster's first pool asks for the new image.
inline constexpr const char* roll = "/bench/roll";
/// Edits pools of the clusters from `percent` on, one each 20 ms, until `percent` is 100.
inline constexpr const char* edit = "/bench/edit";
}  // namespace fleet_control

/// How much each of the clusters holds.
struct cluster_load {
  std::size_t clusters = 0, objects = 0;  // Nodes, and as many BootcNodes
};

/// The other process: a home and API servers with nodes of no host, each with a certificate
/// authority and an address of loopback of its own, on the other core, until it is killed. Prints
/// the folder where home's kubeconfig is. The nodes of a first pool of three report as daemons do,
/// and invariants are watched there.
int run_many_servers(const std::string& size);

}  // namespace bench
