#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// What GET answers at home below these paths, for the process that measures.
namespace chart_control {
/// {clusters, watched, requests, home_requests, writes, writes_by_group, home_writes, downloads,
/// records, copied, asked: {kind of request: count}, shelf, peer_server, peer_requests}; writes
/// without Events and Leases. shelf, peer_server: URLs.
inline constexpr const char* told = "/bench/told";
/// The counts begin again.
inline constexpr const char* mark = "/bench/mark";
/// What the first `installed` clusters have is put onto the others, and those join the fleet;
/// `copied` is true afterwards.
inline constexpr const char* copy = "/bench/copy";
}  // namespace chart_control

/// Each chart of the bench: its name, its versions, and the group of a cluster, whose label chooses
/// the key of the values.
inline constexpr const char *first_version = "1.0.0", *second_version = "1.0.1",
                            *group_label = "group";
inline constexpr std::size_t groups = 10;
std::string chart_name(std::size_t chart);
std::string group_of(std::size_t cluster);

struct chart_load {
  std::size_t clusters = 0, charts = 0;
  std::size_t installed = 0;  // clusters of the fleet from the beginning
  std::string text() const;
};

/// The other process: a home with FleetCharts for every cluster, a chart repository, and clusters
/// with a certificate authority and an address of loopback each, on the other core, until it is
/// killed. Prints the path of home's kubeconfig. `load` is chart_load::text().
int run_chart_servers(const std::string& load);

}  // namespace bench
