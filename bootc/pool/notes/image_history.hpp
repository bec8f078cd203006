#pragma once

#include "bootc/kinds/node_pool.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <vector>

namespace bootc {

/// Whether the pool's record of its images (windlass.dev/target-history) lacks the image that the
/// pool asks for, or that every node has it. `now`: its status as this pass has it.
bool is_history_behind(const node_pool& pool, const node_pool_status& now);

/// The merge patch that adds both, on exactly this version of the pool. `object`: the pool as the
/// server has it, with managedFields, which say who asked for the image; `at_once`: how many nodes
/// may be disturbed at once.
boost::json::object history_patch(const boost::json::object& object, const node_pool_status& now,
                                  std::size_t at_once);

/// What a step took in each rollout that the pool's record has from beginning to end; the first
/// image of a pool is none.
std::vector<reactor::nanoseconds> past_steps(const node_pool& pool);

}  // namespace bootc
