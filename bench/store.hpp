#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>

namespace bench {

/// What one stored pod costs (indices, names and table included), and how far a relist of
/// everything goes above it.
/// Shape: {environment…, bytes_per_object, relist_peak_ratio, us_per_object, points: [{objects,
/// …}]}: a tenth of `most` objects, then so many; the head figures are those of the larger.
boost::json::object measure_store(std::size_t most);

}  // namespace bench
