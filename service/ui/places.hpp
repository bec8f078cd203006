#pragma once

#include "service/overview/overview.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// What an address of the page names: a cluster, and, where they are given, an API on it, a row of
/// that and a unit of the row.
struct place {
  std::string cluster, api, row, unit;
};

/// Of "/cluster/NAME/API/ROW/UNIT", percent-encoded; a unit's name may have slashes.
place place_of(std::string_view path);
/// What of the place the cluster does not have, as a sentence; empty when all is there.
std::string missing_in(const cluster_overview& c, const place& at);
std::string no_cluster(const place& at);
/// Where the page shows it: "#/cluster/NAME/…".
std::string route_of(const place& at);

}  // namespace cli
