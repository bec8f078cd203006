#pragma once

#include "helm/placed/plan/names.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::placed {

/// The workload namespace, as it is on the cluster.
struct workspace_facts {
  enum class state : std::uint8_t { absent, present, terminating };
  state is = state::absent;
  std::string owner;         // its annotation, or empty
  std::string version = {};  // of the object; where it was read
  friend bool operator==(const workspace_facts&, const workspace_facts&) = default;
};

/// An object that wants the namespace of that name: a Tenant of the cluster, or a KryptonDeployment
/// that goes there.
struct claimant {
  names::owner_reference who;
  reactor::wall_time created{};
  friend bool operator==(const claimant&, const claimant&) = default;
};

/// Who of several has the namespace: who its annotation names, if it is one of them; else, if
/// it is not known whether that object is still there, that one; else the oldest, of equally old
/// ones the one in the smaller namespace. So always exactly one. `may_exist` answers for owners
/// that are no claimants (a KryptonDeployment of a home that we do not see).
names::owner_reference owner_of(const workspace_facts& ns, const std::vector<claimant>& all,
                                bool (*may_exist)(const names::owner_reference& who));

/// Where deploy/chart and `cluster add` put the daemons of a service in `ns` by default.
std::string daemon_namespace(std::string_view ns);

/// Namespaces that no object may have for its release: those of the system, where a chart with the
/// service's rights would reach what the whole cluster depends on, and those of the fleet, which
/// hold its kubeconfigs.
struct reserved_namespaces {
  std::vector<std::string> fleet;  // of the fleet's Secrets and of those that lead to regions
  std::vector<std::string> own;    // of the service, its notes and its daemons: never to be had
  std::vector<std::string> named;  // --reserved-namespaces: never to be had either
  bool system_allowed = false;     // --allow-system-namespaces
  /// Why that one is; empty: it is free.
  std::string reason(std::string_view name) const;
  friend bool operator==(const reserved_namespaces&, const reserved_namespaces&) = default;
};

/// Whether cleaning up may delete it: we made it for this very object, and no other object uses it.
bool may_delete(const workspace_facts& ns, std::string_view name,
                const names::owner_reference& owner_of_it, std::string_view discovery_ns);

}  // namespace helm::placed
