#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>

namespace bench {

/// What a rollout over `clusters` × `nodes` costs the one who moves it, under the stock policies,
/// against embedded API servers in another process whose hosts stage and reboot within a second:
/// processor time and writes for each node, and, when all is done, processor time and writes for a
/// while with a heartbeat of every node each five minutes. Both 0: one point of 100 × 100, and one
/// of 1 × 10,000. Throws std::runtime_error when the fleet does not arrive.
boost::json::object measure_rollout(std::size_t clusters, std::size_t nodes);

/// The other process; `size` is "100x50".
int run_rollout_sender(const std::string& size);

}  // namespace bench
