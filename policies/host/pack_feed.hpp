#pragma once

#include "policies/host/pack.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"

#include <vector>

namespace policies {

/// Where packs come from that lie in no folder of this machine.
/// Errors   read(): errc::closed is tried again by itself, anything else when it changed.
/// Lifetime its owner ends what it does after the host was stopped.
class pack_feed {
public:
  virtual ~pack_feed() = default;
  /// All of them as they are now.
  virtual reactor::awaitable<reactor::result<std::vector<pack_source>>> read() = 0;
  /// Comes back after they changed; changes between two calls count.
  virtual reactor::awaitable<void> changed() = 0;
};

}  // namespace policies
