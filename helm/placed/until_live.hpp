#pragma once

#include "k8s/fleet/engagement.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/loop.hpp"

namespace helm::placed {

/// A view is complete a moment before its engagement is Live: who waits for that moment, at most a
/// second, has no pass in vain and none five seconds later.
inline reactor::awaitable<void> until_live(const k8s::engagement& on_it,  // borrowed
                                           reactor::loop& l) {
  const reactor::steady_time until = l.now() + std::chrono::seconds(1);
  while (!on_it.is_live() && l.now() < until) co_await l.sleep_for(std::chrono::milliseconds(20));
}

}  // namespace helm::placed
