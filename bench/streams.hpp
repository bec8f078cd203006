#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>

namespace bench {

/// Resident memory of this process while it follows whole fleets over TLS and HTTP/1.1: every
/// cluster has 4 kinds of 50 objects each (nodes, pods, secrets, leases), every kind a stream of
/// its own.
/// Shape: {environment…, rss_mb, bytes_per_cluster, bytes_per_stream, bytes_per_authority, points:
/// [{clusters, …}]}; bytes_per_stream is that of streams without objects (of 1,000 clusters),
/// heap_bytes_per_stream the share of it that is in use, bytes_per_authority what one more CA
/// costs, handshake_us the processor time of both ends of a TLS handshake; the other head figures
/// are those of the largest fleet. `clusters`: only that fleet; 0 = 100, 1,000 and 2,000. Throws
/// std::runtime_error when the sender does not come up.
boost::json::object measure_streams(std::size_t clusters);

}  // namespace bench
