#include "fleetwide/kinds/fleet_grant.hpp"

#include "fleetwide/kinds/names.hpp"

#include <algorithm>

namespace fleetwide {

const k8s::resource& fleet_grants() {
  static const k8s::resource r{std::string(names::group), std::string(names::version),
                               "fleetgrants", "FleetGrant", true};
  return r;
}

fleet_grant fleet_grant::parse(k8s::wire_value object) {
  fleet_grant out;
  out.meta = k8s::parse_meta(object);
  const auto [namespaces, kinds, clusters, targets] =
      object["spec"].fields("namespaces", "kinds", "clusters", "targetNamespaces");
  namespaces.elements([&](k8s::wire_value v) { out.namespaces.emplace_back(v.text()); });
  kinds.elements([&](k8s::wire_value v) { out.kinds.emplace_back(v.text()); });
  out.clusters = cluster_choice::parse(clusters);
  targets.elements([&](k8s::wire_value v) { out.target_namespaces.emplace_back(v.text()); });
  return out;
}

bool fleet_grant::is_for(std::string_view ns, std::string_view kind) const {
  return clusters.problem.empty() && std::ranges::find(namespaces, ns) != namespaces.end() &&
         std::ranges::find(kinds, kind) != kinds.end();
}

std::size_t fleet_grant::heap_bytes() const noexcept {
  return meta.heap_bytes() + (namespaces.size() + kinds.size()) * sizeof(std::string);
}

}  // namespace fleetwide
