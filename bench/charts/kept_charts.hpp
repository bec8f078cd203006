#pragma once

#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>

namespace bench {

struct charts_plan {
  std::size_t clusters = 1'000, charts = 50;
  std::chrono::seconds window{60};  // at rest
};

/// The program `windlass` as it is shipped with FleetCharts for every cluster of a served fleet:
/// the first install on ten clusters (the others get copies of what that left), a restart that
/// confirms all of it, rest, a plan of one chart's new version for all clusters, that version
/// carried out, and an edit of the values of a tenth of the clusters. A figure that could not be
/// measured is null, and `notes` says why.
/// Throws std::runtime_error where the servers or the program do not come up.
boost::json::object measure_charts(const charts_plan& p);

}  // namespace bench
