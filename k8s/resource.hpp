#pragma once

#include <string>
#include <string_view>

namespace k8s {

/// One collection of the API: what kubectl calls a resource.
struct resource {
  std::string group;  // "" = core
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;

  /// "v1" or "apps/v1"
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// "/api/v1/namespaces/ns/pods/name/status", percent-encoded; empty parts are left out.
  std::string path(std::string_view ns = {}, std::string_view name = {},
                   std::string_view subresource = {}) const;
  friend auto operator<=>(const resource&, const resource&) = default;
};

/// Where an object lives on its cluster; `ns` is empty for cluster-scoped ones.
struct object_key {
  std::string ns, name;
  /// "ns/name" or "name"
  std::string text() const { return ns.empty() ? name : ns + "/" + name; }
  friend auto operator<=>(const object_key&, const object_key&) = default;
};

namespace resources {
const resource& nodes();
const resource& pods();
const resource& namespaces();
const resource& secrets();
const resource& config_maps();
const resource& events();       // events.k8s.io/v1
const resource& leases();       // coordination.k8s.io/v1
const resource& daemon_sets();  // apps/v1
const resource& pod_disruption_budgets();
const resource& crds();  // apiextensions.k8s.io/v1
}  // namespace resources

}  // namespace k8s
