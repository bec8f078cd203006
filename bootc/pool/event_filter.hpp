#pragma once

#include "bootc/kinds/bootc_node.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "k8s/views/node.hpp"

namespace bootc {

/// What of a change is news for a pass, which would look at every node of its pool again.

/// Not what we note on it for others to read: no plan is made from that.
bool is_news(const bootc_node& before, const bootc_node& now);
/// Heartbeats, capacity and images change all the time and must wake no reader.
bool is_news(const k8s::node& before, const k8s::node& now);
/// Not the status that we wrote, where all that is new in it is there to be shown. What a later
/// plan goes on from (the target, approvals, who waits for a policy) is.
bool is_news(const node_pool& before, const node_pool& now, const node_pool_status& written);

/// Equal but for what this program notes on objects for people: holds, steps, the record of images.
bool same_but_notes(const k8s::string_map& a, const k8s::string_map& b);

}  // namespace bootc
