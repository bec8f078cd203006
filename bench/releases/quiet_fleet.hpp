#pragma once

#include "releases/rules/document.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <vector>

namespace bench {

/// A step that a cluster takes.
struct release_step {
  std::shared_ptr<const policies::releases::document> base, release;
};

/// What a fleet that has arrived costs: clusters go from one Release to the next in virtual time,
/// and then nothing is asked for.
/// Shape    {idle_clusters, moving_writes, idle_writes}: of pools, Releases and all else, while
///          they moved and in an hour after it.
/// Errors   std::runtime_error: they do not arrive.
boost::json::object measure_quiet_fleet(const std::vector<release_step>& steps);

}  // namespace bench
