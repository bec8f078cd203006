#pragma once

#include "k8s/lease/kept_lease.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace compose {

/// The Lease of this API.
inline constexpr const char* api_lease = "compose.windlass.dev";

/// Which other operator keeps the Lease that a pack names, in whichever namespace of a cluster: the
/// election of our own Lease sees one namespace of home alone. Pure.
class lease_holders {
public:
  /// Everything that was just listed; `ours`: the namespaces where a process holds the Lease of
  /// this API, whose election of the pack's Lease is Windlass's own.
  /// Returns "NAMESPACE/LEASE, held by HOLDER" of the first by namespace; empty: none.
  std::string note(const std::vector<boost::json::object>& listed,
                   const std::set<std::string>& ours, reactor::steady_time now,
                   reactor::wall_time wall);

private:
  std::map<std::string, k8s::kept_lease> by_namespace_;
};

/// The same, asked of one cluster.
/// Pace     asked before a pack is, and not again within `asked_every`: an idle cluster is left
///          alone.
/// Errors   without an answer what was known counts; without the right to list, no other is known.
/// Lifetime loop and client outlive it.
class other_operators {
public:
  other_operators(reactor::loop& l, k8s::client& api);
  reactor::awaitable<std::string> look(std::string lease);

  static constexpr reactor::nanoseconds asked_every = std::chrono::seconds(10);

private:
  struct known_lease {
    bool asked = false;
    reactor::steady_time asked_at{};
    lease_holders holders;
    std::string other;
  };
  reactor::awaitable<std::string> other_in(lease_holders& holders, boost::json::object page);

  reactor::loop& loop_;
  k8s::client& api_;
  std::map<std::string, known_lease> leases_;
};

}  // namespace compose
