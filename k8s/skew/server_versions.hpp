#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <map>
#include <string>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class discovery;
}

namespace k8s::skew {

/// What the API servers of one cluster say of their version. Behind a balancer each question may
/// meet another server, so an answer counts for a while beside the later ones.
/// Pace     GET /version at most once in `pause`, whatever comes of it.
/// Errors   a server that does not answer says nothing; what was said before stays until it is old.
/// Lifetime loop and discovery outlive it.
class server_versions {
public:
  static constexpr reactor::nanoseconds pause = std::chrono::minutes(1),
                                        life = std::chrono::minutes(5);
  /// Answers that are kept; of more, as a hostile server may give, the oldest goes.
  static constexpr std::size_t most = 16;

  server_versions(reactor::loop& l, discovery& of) : loop_(l), of_(of) {}
  server_versions(const server_versions&) = delete;
  server_versions& operator=(const server_versions&) = delete;

  /// Asks, unless it did so lately.
  reactor::awaitable<void> look();
  /// Each version that was said within `life`, once, as it was written.
  std::vector<std::string> seen() const;

private:
  reactor::loop& loop_;
  discovery& of_;
  std::map<std::string, reactor::steady_time> said_;
  reactor::steady_time not_before_{};
};

}  // namespace k8s::skew
