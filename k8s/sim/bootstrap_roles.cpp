// What kube-apiserver makes when it starts, cut to the kinds that are served here.
#include "k8s/sim/rbac.hpp"

namespace k8s::sim {

namespace {

constexpr std::string_view group = "rbac.authorization.k8s.io";

json::object rule(std::string_view groups, std::string_view resources, std::string_view verbs) {
  const auto list = [](std::string_view words) {
    json::array out;
    while (!words.empty()) {
      const std::size_t blank = words.find(' ');
      const std::string_view one = words.substr(0, blank);
      out.emplace_back(one == "core" ? json::string() : json::string(one));
      words = blank == std::string_view::npos ? std::string_view() : words.substr(blank + 1);
    }
    return out;
  };
  json::object o;
  if (groups.empty()) {
    o["nonResourceURLs"] = list(resources);
  } else {
    o["apiGroups"] = list(groups);
    o["resources"] = list(resources);
  }
  o["verbs"] = list(verbs);
  return o;
}

json::object named(std::string_view kind, std::string_view name) {
  json::object metadata{{"name", name},
                        {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}}};
  return {{"apiVersion", std::string(group) + "/v1"}, {"kind", kind}, {"metadata", metadata}};
}

json::object role(std::string_view name, json::array rules, std::string_view part_of = {}) {
  json::object o = named("ClusterRole", name);
  if (!part_of.empty())
    o["metadata"].as_object()["labels"].as_object()[std::string(group) + "/aggregate-to-" +
                                                    std::string(part_of)] = "true";
  o["rules"] = std::move(rules);
  return o;
}

/// Has the rules of all that carry the label, those of users among them.
json::object sum(std::string_view name, std::string_view part_of = {}) {
  json::object o = role(name, {}, part_of);
  json::object labels;
  labels[std::string(group) + "/aggregate-to-" + std::string(name)] = "true";
  json::object selector;
  selector["matchLabels"] = std::move(labels);
  json::object aggregation;
  aggregation["clusterRoleSelectors"] = json::array{std::move(selector)};
  o["aggregationRule"] = std::move(aggregation);
  return o;
}

json::object binding(std::string_view name, json::array groups) {
  json::object o = named("ClusterRoleBinding", name);
  json::array subjects;
  for (const json::value& g : groups)
    subjects.push_back(json::object{{"apiGroup", group}, {"kind", "Group"}, {"name", g}});
  o["subjects"] = std::move(subjects);
  o["roleRef"] = json::object{{"apiGroup", group}, {"kind", "ClusterRole"}, {"name", name}};
  return o;
}

std::vector<json::object> make_roles() {
  constexpr std::string_view look = "get list watch",
                             write = "create delete deletecollection patch update";
  const json::array all_users{"system:authenticated"},
      everybody{"system:authenticated", "system:unauthenticated"};
  return {
      role("cluster-admin", {rule("*", "*", "*"), rule("", "*", "*")}),
      binding("cluster-admin", {"system:masters"}),
      role("system:discovery",
           {rule("", "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz "
                     "/version /version/",
                 "get")}),
      binding("system:discovery", all_users),
      role("system:basic-user",
           {rule("authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews",
                 "create")}),
      binding("system:basic-user", all_users),
      role("system:public-info-viewer",
           {rule("", "/healthz /livez /readyz /version /version/", "get")}),
      binding("system:public-info-viewer", everybody),
      sum("admin"),
      sum("edit", "admin"),
      sum("view", "edit"),
      role("system:aggregate-to-admin",
           {rule("authorization.k8s.io", "localsubjectaccessreviews", "create"),
            rule(group, "roles rolebindings", "create delete deletecollection get list patch "
                                              "update watch")},
           "admin"),
      role("system:aggregate-to-edit",
           {rule("core", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
                 look),
            rule("core", "serviceaccounts", "impersonate"),
            rule("core", "pods pods/attach pods/exec pods/portforward pods/proxy", write),
            rule("core", "pods/eviction serviceaccounts/token", "create"),
            rule("core",
                 "configmaps events persistentvolumeclaims replicationcontrollers secrets "
                 "serviceaccounts services services/proxy",
                 write),
            rule("apps",
                 "daemonsets deployments deployments/rollback deployments/scale replicasets "
                 "replicasets/scale statefulsets statefulsets/scale",
                 write),
            rule("batch", "cronjobs jobs", write),
            rule("networking.k8s.io", "ingresses networkpolicies", write),
            rule("policy", "poddisruptionbudgets", write),
            rule("coordination.k8s.io", "leases",
                 "create delete deletecollection get list patch update watch")},
           "edit"),
      role("system:aggregate-to-view",
           {rule("core",
                 "configmaps endpoints persistentvolumeclaims pods replicationcontrollers "
                 "serviceaccounts services events limitranges namespaces/status pods/log "
                 "pods/status resourcequotas namespaces",
                 look),
            rule("apps", "daemonsets deployments replicasets statefulsets", look),
            rule("batch", "cronjobs jobs", look),
            rule("networking.k8s.io", "ingresses networkpolicies", look),
            rule("policy", "poddisruptionbudgets", look)},
           "view"),
  };
}

}  // namespace

const std::vector<json::object>& bootstrap_roles() {
  static const std::vector<json::object> all = make_roles();
  return all;
}

}  // namespace k8s::sim
