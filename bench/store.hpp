#pragma once

#include <boost/json/fwd.hpp>

namespace bench {

/// What one stored pod costs (indices, names and table included), and how far a relist of
/// everything goes above it.
/// Shape: {environment…, bytes_per_object, relist_peak_ratio, us_per_object, points: [{objects,
/// …}]}; the head figures are those of the largest point.
boost::json::object measure_store();

}  // namespace bench
