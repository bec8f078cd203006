#include "helm/members/predecessor.hpp"

#include <boost/json.hpp>

#include <string_view>

namespace cli {

namespace json = boost::json;

namespace {

constexpr std::string_view rbac = "rbac.authorization.k8s.io", prefix = "bootc-operator";

}  // namespace

std::vector<predecessor_object> predecessor_objects(const std::string& ns) {
  struct kind {
    std::string_view group, plural, kind, name;
    bool namespaced, acts;
  };
  constexpr kind kinds[] = {
      {"apps", "deployments", "Deployment", "controller-manager", true, true},
      {"apps", "daemonsets", "DaemonSet", "daemon", true, true},
      {rbac, "clusterrolebindings", "ClusterRoleBinding", "manager-rolebinding", false, false},
      {rbac, "clusterrolebindings", "ClusterRoleBinding", "daemon-rolebinding", false, false},
      {rbac, "clusterroles", "ClusterRole", "manager-role", false, false},
      {rbac, "clusterroles", "ClusterRole", "daemon-role", false, false},
      {rbac, "rolebindings", "RoleBinding", "leader-election-rolebinding", true, false},
      {rbac, "roles", "Role", "leader-election-role", true, false}};
  const std::string own(prefix);
  std::vector<predecessor_object> all;
  for (const kind& k : kinds) {
    predecessor_object o;
    o.what = {std::string(k.group), "v1", std::string(k.plural), std::string(k.kind), k.namespaced};
    o.key = {k.namespaced ? own : "", own + "-" + std::string(k.name)};
    o.acts = k.acts;
    all.push_back(o);
    if (!k.namespaced || ns == own) continue;
    o.key.ns = ns;
    all.push_back(std::move(o));
  }
  return all;
}

bool is_predecessors(const k8s::resource& what, const json::object& body) {
  boost::system::error_code none;
  const json::value all(body);
  if (what.kind == "Deployment")
    return all.find_pointer("/spec/selector/matchLabels/control-plane", none) != nullptr;
  if (what.kind != "DaemonSet") return true;
  const json::value* program = all.find_pointer("/spec/template/spec/containers/0/command/0", none);
  return program && *program == "daemon";
}

}  // namespace cli
