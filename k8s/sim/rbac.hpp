#pragma once

#include "k8s/sim/objects/json.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

struct request;

/// The user of a request, after authentication.
struct identity {
  std::string user;
  std::vector<std::string> groups;
};
/// The groups that every server gives to a user of this name: those of ServiceAccounts, and
/// system:authenticated or, of system:anonymous, system:unauthenticated.
std::vector<std::string> usual_groups(std::string_view user);

/// The parts of a request that rules name.
struct attributes {
  std::string verb;  // "list", "deletecollection"; of a path the method in lower case
  std::string group, resource, subresource, ns, name;
  std::string path;  // set: no resource is asked for

  /// "pods/eviction": how rules and messages name the resource.
  std::string full_resource() const;
};
/// The parts of a path between its slashes, decoded. Requests are judged by the same parts as they
/// are routed by.
std::vector<std::string> path_parts(std::string_view path);
/// Reads a request as kube-apiserver does before it looks whether such a kind is served. The name
/// comes from a field selector on metadata.name where the path has none.
/// Source   k8s.io/apiserver, pkg/endpoints/request/requestinfo.go.
attributes attributes_of(const request& r);

struct policy_rule {
  std::vector<std::string> verbs, groups, resources, names, paths;
};

/// Judges by Roles, ClusterRoles and their bindings. Nothing is allowed that no rule allows. A
/// ClusterRole with an aggregationRule has the rules of those that it selects.
/// Lifetime asks for the objects at each question and keeps none.
/// Source   k8s.io/kubernetes, plugin/pkg/auth/authorizer/rbac and pkg/registry/rbac.
class rbac {
public:
  using object_ptr = std::shared_ptr<const json::object>;
  /// All objects of one plural ("rolebindings"), of all namespaces.
  using lister = std::function<std::vector<object_ptr>(std::string_view plural)>;
  explicit rbac(lister all) : all_(std::move(all)) {}

  struct verdict {
    bool allowed = false;
    std::string reason;  // of a refusal: roles that bindings name and that are not there
  };
  verdict judge(const identity& who, const attributes& what) const;

  /// Checks that `who` may write `role_or_binding` into `ns`: the author of a role or binding must
  /// have the rights that it gives, or the verb `escalate` (roles) or `bind` (bindings). Returns
  /// nothing if so, else the end of the sentence that the server answers.
  std::optional<std::string> refuses_grant(const identity& who, std::string_view plural,
                                           std::string_view ns,
                                           const json::object& role_or_binding) const;

private:
  struct collected {
    std::vector<policy_rule> rules;
    std::vector<std::string> missing;
  };
  collected rules_of(const identity& who, std::string_view ns) const;
  void add_rules(collected& to, const identity& who, const json::object& binding) const;
  std::optional<std::vector<policy_rule>> rules_named(const json::object& ref,
                                                      std::string_view ns) const;
  std::vector<policy_rule> rules_in(const json::object& role, int depth) const;

  lister all_;
};

/// The ClusterRoles and bindings that a server makes when it starts, as far as they concern the
/// kinds that are served here: cluster-admin, admin, edit, view, and what all users may ask.
const std::vector<json::object>& bootstrap_roles();

}  // namespace k8s::sim
