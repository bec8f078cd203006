#pragma once

#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>

namespace bench {

/// What a fleet costs in which nothing happens: clusters with five watched kinds each, over TLS,
/// followed for `window` once all are Live; then one of them, about to be acted upon, falls silent
/// with its connections open.
/// Shape: {environment…, clusters, streams, seconds, cpu_percent (of one core),
/// requests_per_cluster_minute, rss_mb, half_open_noticed_s}. The first watch of each kind ends
/// after a part of its time, so that any window sees as many begin again as an old fleet. Throws
/// std::runtime_error when the sender does not come up or a cluster does not become Live.
boost::json::object measure_idle(std::size_t clusters, std::chrono::seconds window);

}  // namespace bench
