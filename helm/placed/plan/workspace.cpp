#include "helm/placed/plan/workspace.hpp"

#include <algorithm>

namespace helm::placed {

names::owner_reference owner_of(const workspace_facts& ns, const std::vector<claimant>& all,
                                bool (*may_exist)(const names::owner_reference& who)) {
  if (const auto named = names::read_owner(ns.owner)) {
    const auto is_named = [&](const claimant& c) { return c.who == *named; };
    if (std::ranges::any_of(all, is_named) || (may_exist && may_exist(*named))) return *named;
  }
  const auto older = [](const claimant& a, const claimant& b) {
    if (a.created != b.created) return a.created < b.created;
    if (a.who.key != b.who.key) return a.who.key < b.who.key;
    return a.who.kind < b.who.kind;
  };
  const auto oldest = std::ranges::min_element(all, older);
  return oldest == all.end() ? names::owner_reference{} : oldest->who;
}

std::string daemon_namespace(std::string_view ns) {
  return std::string(ns) + "-daemon";
}

std::string reserved_namespaces::reason(std::string_view name) const {
  const std::string text = "namespace " + std::string(name);
  if (std::ranges::find(own, name) != own.end())
    return text + " is the service's: its notes, records or daemons are there";
  if (std::ranges::find(named, name) != named.end())
    return text + " is reserved (--reserved-namespaces)";
  if (system_allowed) return {};
  if (std::ranges::find(fleet, name) != fleet.end() && name != "default")
    return text + " is the fleet's: its kubeconfigs are there (--allow-system-namespaces)";
  if (name == "default" || name.starts_with("kube-") || name.starts_with("openshift-"))
    return text + " is of the system (--allow-system-namespaces)";
  return {};
}

bool may_delete(const workspace_facts& ns, std::string_view name,
                const names::owner_reference& owner_of_it, std::string_view discovery_ns) {
  if (name == "default" || name.starts_with("kube-") || name == discovery_ns) return false;
  return ns.is != workspace_facts::state::absent && names::read_owner(ns.owner) == owner_of_it;
}

}  // namespace helm::placed
