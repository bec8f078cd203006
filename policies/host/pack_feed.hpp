#pragma once

#include "policies/host/pack.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"

#include <vector>

namespace policies {

/// Where packs come from that lie in no folder of this machine.
/// Errors   read(): errc::closed is tried again by itself, anything else when it changed.
/// Lifetime whoever made it ends what it does after the host was stopped.
class pack_feed {
public:
  virtual ~pack_feed() = default;
  /// All of them as they are now.
  virtual reactor::awaitable<reactor::result<std::vector<pack_source>>> read() = 0;
  /// Comes back after they changed; what changed while nobody waited counts.
  virtual reactor::awaitable<void> changed() = 0;
};

}  // namespace policies
