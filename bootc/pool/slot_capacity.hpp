#pragma once

#include "bootc/kinds/node_pool.hpp"
#include "reactor/plain/result.hpp"

#include <cstddef>

namespace bootc {

/// How many nodes of a pool may be disturbed at once. Paused: 0. Unset: 1. A number: that many
/// (negative: none). "N%": that share of the nodes, rounded up.
/// Errors: errc::malformed, `detail` is the whole sentence `invalid maxUnavailable "<value>": …`.
reactor::result<std::size_t> slot_capacity(const node_pool_spec& spec, std::size_t node_count);

}  // namespace bootc
