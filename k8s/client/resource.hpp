#pragma once

#include <optional>
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
  /// "/api/v1/pods" or "/api/v1/namespaces/ns/pods", percent-encoded. None for what is no name
  /// (problem_of_name).
  std::optional<std::string> collection_path(std::string_view ns = {}) const;
  /// "/api/v1/namespaces/ns/pods/name/status". None also for an empty name: what is meant for one
  /// object can never reach its collection.
  std::optional<std::string> object_path(std::string_view ns, std::string_view name,
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

/// Why this cannot be a name, a namespace or another part of a path; empty when it can. As the API
/// server sees it: not empty, not "." or "..", without '/', '%' and control characters.
std::string_view problem_of_name(std::string_view name) noexcept;
/// "field=value" for a field selector, whatever characters the value has.
std::string field_is(std::string_view field, std::string_view value);

namespace resources {
const resource& nodes();
const resource& pods();
const resource& namespaces();
const resource& secrets();
const resource& config_maps();
const resource& events();       // events.k8s.io/v1
const resource& leases();       // coordination.k8s.io/v1
const resource& daemon_sets();  // apps/v1
const resource& crds();         // apiextensions.k8s.io/v1
}  // namespace resources

}  // namespace k8s
