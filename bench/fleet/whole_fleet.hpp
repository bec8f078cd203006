#pragma once

#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>

namespace bench {

struct fleet_plan {
  std::size_t clusters = 100, objects = 20;  // objects: Nodes of each cluster, 3 of them are moved
  std::size_t soft_limit = 0;                // of open files; 0: that of this process
  std::chrono::seconds window{20};           // at rest
};

/// The program `windlass` as it is shipped on a served fleet: start, rest, storms, what people ask,
/// a rollout, and SIGTERM in a storm. A figure that could not be measured is null, and `notes` says
/// why.
/// Throws std::runtime_error where the servers or the program do not come up.
boost::json::object measure_fleet(const fleet_plan& p);

}  // namespace bench
