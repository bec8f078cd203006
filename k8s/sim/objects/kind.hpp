#pragma once

#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/objects/shape.hpp"
#include "k8s/types/object_type.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

struct schema;

/// One column of `kubectl get`.
struct column {
  std::string name, type = "string", format, description;
  int priority = 0;
  std::string json_path;  // custom kinds: where the cell comes from
};

/// One served collection: what requests are routed to. Those of the built-in kinds are shared by
/// all servers.
struct kind_info {
  std::string group, version, plural, singular, kind, list_kind;
  std::vector<std::string> short_names, categories;
  bool namespaced = true;
  bool status_subresource = false;
  std::vector<std::string> other_subresources;  // "eviction", "binding"
  std::string storage_version;                  // how objects lie in the store; empty = `version`
  std::string storage_group;                    // events of both groups are one collection
  bool storage_elsewhere = false;               // storage_group applies
  bool unconditional_update = true;             // may be replaced without naming a resourceVersion
  bool create_on_update = false;                // PUT makes a missing one
  bool graceful = false;                        // deletion waits for a grace period (pods)
  bool generation = false;                      // counts changes of the spec
  bool custom = false;
  bool answers_only = false;  // a question that is answered, and stored nowhere (access reviews)
  std::vector<std::string> field_labels;  // field selectors besides metadata.name and .namespace
  std::vector<column> columns;
  std::function<json::array(const json::object&, reactor::wall_time now)> cells;
  std::shared_ptr<const k8s::sim::shape> shape;
  std::shared_ptr<const k8s::sim::schema> schema;  // custom kinds only
  const object_type* type = nullptr;               // built-in kinds only

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  std::string storage_api_version() const;
  /// "pods" or "leases.coordination.k8s.io": how messages name the resource.
  std::string qualified() const { return group.empty() ? plural : plural + "." + group; }
  /// The collection in the store.
  std::string collection() const {
    return (storage_elsewhere ? storage_group : group) + "/" + plural;
  }
};
using kind_ptr = std::shared_ptr<const kind_info>;

/// Every built-in collection, in the order discovery lists them.
const std::vector<kind_ptr>& built_in_kinds();
/// The same of a server of that version: before 1.25 it has PodSecurityPolicies too, which are
/// stored and not enforced, and their fields are not checked.
const std::vector<kind_ptr>& built_in_kinds_of(std::string_view version);

}  // namespace k8s::sim
