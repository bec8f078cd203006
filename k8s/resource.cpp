#include "k8s/resource.hpp"

#include "reactor/http/message.hpp"

namespace k8s {

std::string resource::path(std::string_view ns, std::string_view name,
                           std::string_view subresource) const {
  std::string out = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
  const auto add = [&out](std::string_view part) {
    out += '/';
    out += reactor::http::encode_component(part);
  };
  if (namespaced && !ns.empty()) {
    out += "/namespaces";
    add(ns);
  }
  add(plural);
  if (!name.empty()) add(name);
  if (!name.empty() && !subresource.empty()) add(subresource);
  return out;
}

namespace resources {

#define WINDLASS_RESOURCE(function, ...)         \
  const resource& function() {                   \
    static const resource instance{__VA_ARGS__}; \
    return instance;                             \
  }

WINDLASS_RESOURCE(nodes, "", "v1", "nodes", "Node", false)
WINDLASS_RESOURCE(pods, "", "v1", "pods", "Pod", true)
WINDLASS_RESOURCE(namespaces, "", "v1", "namespaces", "Namespace", false)
WINDLASS_RESOURCE(secrets, "", "v1", "secrets", "Secret", true)
WINDLASS_RESOURCE(config_maps, "", "v1", "configmaps", "ConfigMap", true)
WINDLASS_RESOURCE(events, "events.k8s.io", "v1", "events", "Event", true)
WINDLASS_RESOURCE(leases, "coordination.k8s.io", "v1", "leases", "Lease", true)
WINDLASS_RESOURCE(daemon_sets, "apps", "v1", "daemonsets", "DaemonSet", true)
WINDLASS_RESOURCE(pod_disruption_budgets, "policy", "v1", "poddisruptionbudgets",
                  "PodDisruptionBudget", true)
WINDLASS_RESOURCE(crds, "apiextensions.k8s.io", "v1", "customresourcedefinitions",
                  "CustomResourceDefinition", false)

#undef WINDLASS_RESOURCE

}  // namespace resources

}  // namespace k8s
