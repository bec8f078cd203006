#pragma once

#include "helm/tenants/kinds/names.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// The workload namespace, as it is on the cluster.
struct workspace_facts {
  enum class state : std::uint8_t { absent, present, terminating };
  state is = state::absent;
  std::string owner;  // its annotation, or empty
  friend bool operator==(const workspace_facts&, const workspace_facts&) = default;
};

/// Somebody who wants the namespace of that name: a Tenant of the cluster, or a KryptonDeployment
/// that goes there.
struct claimant {
  names::owner_reference who;
  reactor::wall_time created{};
  friend bool operator==(const claimant&, const claimant&) = default;
};

/// Who of several has the namespace: who its annotation names, if it is one of them; else, if
/// nobody knows whether that object is still there, that one; else the oldest, of equally old ones
/// the one in the smaller namespace. So always exactly one. `may_exist` answers for owners that are
/// no claimants (a KryptonDeployment of a home that we do not see).
names::owner_reference owner_of(const workspace_facts& ns, const std::vector<claimant>& all,
                                bool (*may_exist)(const names::owner_reference& who));

/// Whether cleaning up may delete it: we made it for this very object, and nobody else lives in it.
bool may_delete(const workspace_facts& ns, std::string_view name,
                const names::owner_reference& for_whom, std::string_view discovery_ns);

}  // namespace helm::tenants
