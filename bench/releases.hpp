#pragma once

#include <boost/json/fwd.hpp>

#include <string>

namespace bench {

/// What the policies on Releases cost, on the Releases of a folder.
/// Shape    {environment…, releases, map_us, gate_largest_ms, gate_largest, check_all_s,
///          plan_1000_s, worst_stall_us, rss_mb, idle_clusters, moving_writes, idle_writes};
///          processor time of this process. map_us, gate_largest_ms: the one in the middle of many.
///          plan_1000_s: a thousand clusters on four Releases, each judged by itself. idle_writes:
///          see measure_quiet_fleet.
/// Throws   std::runtime_error when the folder or the stock packs cannot be read.
boost::json::object measure_releases(const std::string& folder);

}  // namespace bench
