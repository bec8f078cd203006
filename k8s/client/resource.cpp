#include "k8s/client/resource.hpp"

#include "reactor/http/message.hpp"

namespace k8s {

std::string_view problem_of_name(std::string_view name) noexcept {
  if (name.empty()) return "it is empty";
  if (name == "." || name == "..") return "it is a step in a path";
  for (const char c : name) {
    if (c == '/' || c == '%') return "it has a '/' or '%'";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "it has a control character";
  }
  return {};
}

std::string field_is(std::string_view field, std::string_view value) {
  std::string out(field);
  out += '=';
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

namespace {

bool add_part(std::string& to, std::string_view part) {
  if (!problem_of_name(part).empty()) return false;
  to += '/';
  to += reactor::http::encode_component(part);
  return true;
}

}  // namespace

std::optional<std::string> resource::collection_path(std::string_view ns) const {
  std::string out = group.empty() ? "/api" : "/apis";
  // Groups, versions and plurals may come from a server's discovery documents.
  if (!group.empty() && !add_part(out, group)) return std::nullopt;
  if (!add_part(out, version)) return std::nullopt;
  if (namespaced && !ns.empty()) {
    out += "/namespaces";
    if (!add_part(out, ns)) return std::nullopt;
  }
  if (!add_part(out, plural)) return std::nullopt;
  return out;
}

std::optional<std::string> resource::object_path(std::string_view ns, std::string_view name,
                                                 std::string_view subresource) const {
  std::optional<std::string> out = collection_path(ns);
  if (!out || !add_part(*out, name)) return std::nullopt;
  if (!subresource.empty() && !add_part(*out, subresource)) return std::nullopt;
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
WINDLASS_RESOURCE(crds, "apiextensions.k8s.io", "v1", "customresourcedefinitions",
                  "CustomResourceDefinition", false)

#undef WINDLASS_RESOURCE

}  // namespace resources

}  // namespace k8s
