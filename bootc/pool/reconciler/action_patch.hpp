#pragma once

#include "bootc/pool/rollout_plan.hpp"

#include <boost/json/fwd.hpp>

namespace bootc {

/// The BootcNode that joins a pool.
boost::json::object new_bootc_node(const node_pool& pool, const action& a);

/// The JSON merge patch of an action that writes a BootcNode, on exactly the version it was decided
/// on.
boost::json::object bootc_node_patch(const action& a);

/// The JSON merge patch of an action that writes a Node.
boost::json::object node_patch(const action& a);

/// The pool's finalizers with ours, or without it, on exactly this version of the pool.
boost::json::object add_finalizer_patch(const node_pool& pool);
boost::json::object remove_finalizer_patch(const node_pool& pool);

/// The pool without its order to override the brake, on exactly this version of it.
boost::json::object end_override_patch(const node_pool& pool);

}  // namespace bootc
