#pragma once

#include <boost/json/fwd.hpp>

namespace bench {

/// Time of one rollout.plan call of the stock pack, views and checking of the answer included.
/// Shape: {environment…, points: [{units, ms_per_call, us_per_unit, longest_stall_ms}]}. Throws
/// std::runtime_error when the stock pack does not load.
boost::json::object measure_policy();

}  // namespace bench
