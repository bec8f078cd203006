// Who reaches what with the rights that the chart gives: for each combination of values a graph of
// accounts and credentials, in which no way may lead from a node's account to another cluster or
// from a tenant to the administration of this one.
#include "formats/yaml/yaml.hpp"
#include "helm/commands/commands.hpp"
#include "helm/placed/plan/workspace.hpp"
#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/rbac.hpp"
#include "tests/deploy/files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace json = boost::json;
using k8s::sim::attributes;
using k8s::sim::identity;
using k8s::sim::rbac;

constexpr const char* release_ns = "bootc-operator";
constexpr const char* rbac_api = "rbac.authorization.k8s.io/v1";
// An account there may do everything on most clusters, so who can act as any account there can.
constexpr const char* system_ns = "kube-system";
constexpr const char* tenant_ns = "team";
const std::string another_cluster = "another cluster", cluster_admin = "cluster-admin",
                  all_nodes = "all nodes";

std::string name_of(const rbac::object_ptr& o) {
  return std::string(k8s::sim::text(*o, {"metadata", "name"}));
}
std::string namespace_of(const rbac::object_ptr& o) {
  return std::string(k8s::sim::text(*o, {"metadata", "namespace"}));
}

/// What a combination of values installs, and the bootstrap roles of a cluster.
class installation {
public:
  explicit installation(const std::string& values) {
    std::vector<std::string> words = {
        "template", release_ns, (deploy_files::root / "deploy/chart").string(),          "-n",
        release_ns, "--set",    "image.registry=registry.example.com,crds.install=false"};
    if (!values.empty()) words.insert(words.end(), {"--set", values});
    const helm::command_result rendered = helm::run_command(words);
    EXPECT_EQ(rendered.exit_code, 0) << values << rendered.err;
    const auto documents = formats::parse_kubernetes_documents(rendered.out, "chart");
    EXPECT_TRUE(documents) << values;
    if (documents)
      for (const json::value& d : *documents)
        if (d.is_object()) add(d.get_object());
    for (const json::object& o : k8s::sim::bootstrap_roles()) add(o);
    give_tenant_his_namespace();
  }

  bool has(std::string_view kind, std::string_view name) const {
    return std::ranges::any_of(of_kind(kind),
                               [&](const rbac::object_ptr& o) { return name_of(o) == name; });
  }
  const std::vector<rbac::object_ptr>& of_kind(std::string_view kind) const {
    static const std::vector<rbac::object_ptr> none;
    const auto found = all_.find(kind);
    return found == all_.end() ? none : found->second;
  }
  bool may(const identity& who, const std::string& verb, const std::string& group,
           const std::string& resource, const std::string& ns = {},
           const std::string& name = {}) const {
    const std::size_t slash = resource.find('/');
    attributes a{verb, group, resource.substr(0, slash), {}, ns, name, {}};
    if (slash != resource.npos) a.subresource = resource.substr(slash + 1);
    return judge_.judge(who, a).allowed;
  }

  /// One more right for one user, in a namespace or ("") in the cluster.
  void give(const identity& who, const std::string& verb, const std::string& group,
            const std::string& resource, const std::string& ns) {
    json::object metadata{{"name", "hole"}};
    if (!ns.empty()) metadata["namespace"] = ns;
    const std::string prefix = ns.empty() ? "Cluster" : "";
    add({{"apiVersion", rbac_api},
         {"kind", prefix + "Role"},
         {"metadata", metadata},
         {"rules", {{{"apiGroups", {group}}, {"resources", {resource}}, {"verbs", {verb}}}}}});
    add({{"apiVersion", rbac_api},
         {"kind", prefix + "RoleBinding"},
         {"metadata", metadata},
         {"roleRef", {{"kind", prefix + "Role"}, {"name", "hole"}}},
         {"subjects", {{{"kind", "User"}, {"name", who.user}}}}});
  }
  void forget(const std::string& kind) { all_.erase(kind); }

  /// Where the admission policy lets the service run nothing, by its variable `closed` alone.
  std::set<std::string> closed_to_the_service() const {
    std::set<std::string> out;
    for (const rbac::object_ptr& o : of_kind("ValidatingAdmissionPolicy")) {
      if (name_of(o) != "bootc-operator-service-limits") continue;
      for (const json::value& v : o->at("spec").at("variables").as_array()) {
        if (v.at("name") != "closed") continue;
        const std::string list(v.at("expression").as_string());
        if (list.find("variables.home") != list.npos) out.insert(release_ns);
        static const std::regex quoted("\"([^\"]*)\"");
        for (std::sregex_iterator at(list.begin(), list.end(), quoted), end; at != end; ++at)
          out.insert((*at)[1]);
      }
    }
    return out;
  }

private:
  void add(const json::object& o) {
    all_[std::string(k8s::sim::text(o, {"kind"}))].push_back(
        std::make_shared<const json::object>(o));
  }
  /// What an administrator gives a tenant: `admin` in his namespace, and there all that the chart
  /// ships for people, beside Tenants of his own.
  void give_tenant_his_namespace() {
    std::vector<std::string> roles = {"admin"};
    for (const rbac::object_ptr& o : of_kind("ClusterRole")) {
      const std::string name = name_of(o);
      if (name.ends_with("-viewer") || name.ends_with("-editor")) roles.push_back(name);
    }
    add({{"apiVersion", rbac_api},
         {"kind", "ClusterRole"},
         {"metadata", {{"name", "tenants"}}},
         {"rules",
          {{{"apiGroups", {"mesh.openkcm.io"}}, {"resources", {"*"}}, {"verbs", {"*"}}}}}});
    roles.emplace_back("tenants");
    for (const std::string& role : roles)
      add({{"apiVersion", rbac_api},
           {"kind", "RoleBinding"},
           {"metadata", {{"name", role}, {"namespace", tenant_ns}}},
           {"roleRef", {{"kind", "ClusterRole"}, {"name", role}}},
           {"subjects", {{{"kind", "User"}, {"name", "tenant"}}}}});
  }

  std::map<std::string, std::vector<rbac::object_ptr>, std::less<>> all_;
  rbac judge_{[this](std::string_view plural) {
    static const std::map<std::string_view, std::string_view> kinds = {
        {"roles", "Role"},
        {"rolebindings", "RoleBinding"},
        {"clusterroles", "ClusterRole"},
        {"clusterrolebindings", "ClusterRoleBinding"}};
    return of_kind(kinds.at(plural));
  }};
};

identity account(const std::string& ns, const std::string& name) {
  const std::string user = "system:serviceaccount:" + ns + ":" + name;
  return {user, k8s::sim::usual_groups(user)};
}

/// The graph of one installation. A node is a user's name, "any account of NS", or a goal.
class graph {
public:
  graph(const installation& what, const std::string& fleet_ns) : what_(what), fleet_ns_(fleet_ns) {
    for (const rbac::object_ptr& o : what.of_kind("ServiceAccount"))
      accounts_.insert({namespace_of(o), name_of(o)});
    namespaces_ = {release_ns, fleet_ns, system_ns, tenant_ns, "another"};
    for (const auto& [ns, name] : accounts_) namespaces_.insert(ns);
    if (what.has("ValidatingAdmissionPolicyBinding", "bootc-operator-service-limits"))
      closed_ = what.closed_to_the_service();
    for (const rbac::object_ptr& o : what.of_kind("DaemonSet")) daemons_ = namespace_of(o);
    for (const rbac::object_ptr& o : what.of_kind("RoleBinding"))
      if (name_of(o) == "bootc-operator-watch-cluster") home_ns_ = namespace_of(o);
    for (const std::string& ns : {daemons_, home_ns_})
      if (!ns.empty()) namespaces_.insert(ns);
  }

  /// The way from `who` to `goal`, or nothing.
  std::vector<std::string> way(const identity& who, const std::string& goal) const {
    std::map<std::string, std::string> from = {{who.user, ""}};
    std::vector<identity> open = {who};
    while (!open.empty()) {
      const identity at = open.back();
      open.pop_back();
      each_step(at, [&](const identity& to, const std::string& how) {
        if (from.contains(to.user)) return;
        from[to.user] = at.user + " " + how;
        open.push_back(to);
      });
    }
    std::vector<std::string> steps;
    for (std::string at = goal; from.contains(at) && !from[at].empty();) {
      steps.insert(steps.begin(), from[at] + " -> " + at);
      at = from[at].substr(0, from[at].find(' '));
    }
    return steps;
  }

private:
  using step = std::function<void(const identity& to, const std::string& how)>;

  bool is_service(const identity& who) const {
    return who.user.starts_with("system:serviceaccount:") &&
           who.user.ends_with("-controller-manager");
  }
  void becomes_any_of(const std::string& ns, const std::string& how, const step& f) const {
    for (const auto& [in, name] : accounts_)
      if (in == ns) f(account(in, name), how);
    if (ns == system_ns) f({cluster_admin, {}}, how);
    if (how.find("pod") == how.npos) return;
    if (ns == fleet_ns_ || ns == home_ns_) f({another_cluster, {}}, how);
    if (ns == daemons_) f({all_nodes, {}}, how);
  }

  void each_step(const identity& who, const step& f) const {
    const bool limits = closed_ && is_service(who);
    if (what_.may(who, "get", "", "secrets", fleet_ns_, "prod-eu-1") ||
        what_.may(who, "list", "", "secrets", fleet_ns_) ||
        what_.may(who, "watch", "", "secrets", fleet_ns_))
      f({another_cluster, {}}, "reads the kubeconfigs in " + fleet_ns_);
    for (const std::string& ns : namespaces_) {
      const bool closed = limits && closed_->contains(ns);
      for (const auto& [group, resource] : workloads())
        for (const char* verb : {"create", "update", "patch"})
          if (!closed && what_.may(who, verb, group, resource, ns))
            becomes_any_of(ns, std::string(verb) + "s " + resource + " (pods) in " + ns, f);
      for (const char* inside : {"pods/exec", "pods/attach", "pods/ephemeralcontainers"})
        if (what_.may(who, "create", "", inside, ns) || what_.may(who, "patch", "", inside, ns))
          becomes_any_of(ns, std::string("enters pods in ") + ns, f);
      if (!limits && what_.may(who, "create", "", "secrets", ns) &&
          (what_.may(who, "get", "", "secrets", ns, "made") ||
           what_.may(who, "list", "", "secrets", ns)))
        becomes_any_of(ns, "makes a token Secret in " + ns, f);
      if (what_.may(who, "create", "", "serviceaccounts/token", ns) ||
          what_.may(who, "impersonate", "", "serviceaccounts", ns))
        becomes_any_of(ns, "makes tokens of accounts in " + ns, f);
    }
    for (const auto& [ns, name] : accounts_)
      if (what_.may(who, "create", "", "serviceaccounts/token", ns, name) ||
          what_.may(who, "impersonate", "", "serviceaccounts", ns, name))
        f(account(ns, name), "makes tokens of " + name);
    for (const auto& [verb, group, resource] : masters())
      if (what_.may(who, verb, group, resource)) f({cluster_admin, {}}, verb + "s " + resource);
  }

  static const std::vector<std::pair<std::string, std::string>>& workloads() {
    static const std::vector<std::pair<std::string, std::string>> all = {
        {"", "pods"},           {"", "replicationcontrollers"}, {"apps", "deployments"},
        {"apps", "daemonsets"}, {"apps", "statefulsets"},       {"apps", "replicasets"},
        {"batch", "jobs"},      {"batch", "cronjobs"}};
    return all;
  }
  struct power {
    std::string verb, group, resource;
  };
  /// What makes its holder the administrator of the cluster.
  static const std::vector<power>& masters() {
    static const std::vector<power> all = {
        {"escalate", "rbac.authorization.k8s.io", "clusterroles"},
        {"bind", "rbac.authorization.k8s.io", "clusterroles"},
        {"impersonate", "", "users"},
        {"impersonate", "", "groups"},
        {"create", "", "nodes/proxy"},
        {"get", "", "nodes/proxy"},
        {"approve", "certificates.k8s.io", "signers"},
        {"create", "admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
        {"patch", "admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
        {"patch", "admissionregistration.k8s.io", "validatingadmissionpolicies"},
        {"delete", "admissionregistration.k8s.io", "validatingadmissionpolicybindings"}};
    return all;
  }

  const installation& what_;
  std::string fleet_ns_;
  std::set<std::pair<std::string, std::string>> accounts_;
  std::set<std::string> namespaces_;
  std::optional<std::set<std::string>> closed_;  // none: without the admission policy
  std::string daemons_, home_ns_;
};

std::string joined(const std::vector<std::string>& steps) {
  std::string out;
  for (const std::string& s : steps) out += (out.empty() ? "" : "\n  ") + s;
  return out;
}

struct combination {
  std::string values, fleet_ns = release_ns;
};

/// Every combination of the values that give rights.
std::vector<combination> combinations() {
  std::vector<combination> all = {{}};
  const auto times = [&](const std::vector<combination>& choices) {
    std::vector<combination> more;
    for (const combination& a : all)
      for (const combination& b : choices)
        more.push_back({a.values + (a.values.empty() || b.values.empty() ? "" : ",") + b.values,
                        b.fleet_ns == release_ns ? a.fleet_ns : b.fleet_ns});
    all = std::move(more);
  };
  times({{""}, {"controller.enabled=false"}, {"daemon.enabled=false"}});
  times({{""}, {"daemon.asKubelet=true"}});
  times({{""}, {"fleet.namespace=clusters", "clusters"}, {"fleet.from=self"}});
  times({{""}, {"daemon.namespace=bootc-operator,serviceLimits.namespaces={prod}"}});
  times(
      {{""},
       {"pullSecrets={pull},controller.policies=rules,tenants.enabled=true,watchCluster.secretName="
        "home,releases.enabled=true"}});
  times({{""}, {"trustee.enabled=true"}});
  times({{""},
         {"tenants.enabled=true,kryptondeployments.enabled=true,compose.enabled=true,"
          "fleetPools.enabled=true,fleetCharts.enabled=true,fleetCharts.namespaces={team-b}"}});
  return all;
}

TEST(RightsGraph, LeadsFromNoNodeToAnotherClusterAndFromNoTenantToThisOne) {
  std::size_t tried = 0, to_the_fleet = 0;
  for (const combination& c : combinations()) {
    const installation what(c.values);
    const graph ways(what, c.fleet_ns);
    ++tried;
    for (const rbac::object_ptr& o : what.of_kind("ServiceAccount")) {
      const std::string name = name_of(o);
      const identity who = account(namespace_of(o), name);
      if (name.ends_with("-daemon")) {
        for (const std::string& goal : {another_cluster, cluster_admin})
          EXPECT_EQ(joined(ways.way(who, goal)), "") << c.values;
      } else {
        to_the_fleet += !ways.way(who, another_cluster).empty();
        for (const std::string& goal : {cluster_admin, all_nodes})
          EXPECT_EQ(joined(ways.way(who, goal)), "") << c.values;
      }
    }
    const identity kubelet{"system:node:n1", {"system:nodes", "system:authenticated"}};
    const identity tenant{"tenant", {"system:authenticated"}};
    for (const identity& who : {kubelet, tenant})
      for (const std::string& goal : {another_cluster, cluster_admin, all_nodes})
        EXPECT_EQ(joined(ways.way(who, goal)), "") << c.values;
    for (const rbac::object_ptr& o : what.of_kind("Role")) {
      // Only the service reads all Secrets of a namespace: that of the kubeconfigs, and those that
      // have values of FleetCharts. Its Roles say so.
      const std::string text = json::serialize(*o);
      const std::string name = name_of(o);
      if (text.find("\"secrets\"") == text.npos || name == "bootc-operator-fleet" ||
          name == "bootc-operator-fleetchart-values")
        continue;
      EXPECT_NE(text.find("\"resourceNames\""), text.npos) << c.values << ": Role " << name;
    }
  }
  EXPECT_GE(tried, 250u);
  EXPECT_GT(to_the_fleet, 0u) << "the graph knows the way that the service takes";
  std::cout << "## rights graph: " << tried << " combinations of values\n";
}

/// A test of the test: each right that was once given, put back alone, is a way again.
TEST(RightsGraph, FindsEachWayThatWasOpen) {
  const identity daemon = account("bootc-operator-daemon", "bootc-operator-daemon"),
                 service = account(release_ns, "bootc-operator-controller-manager"),
                 tenant{"tenant", {"system:authenticated"}};
  struct hole {
    identity who;
    std::string goal, group, resource, verb, ns;
  };
  const std::vector<hole> holes = {
      {daemon, another_cluster, "", "secrets", "get", release_ns},
      {daemon, another_cluster, "", "pods", "create", release_ns},
      {daemon, another_cluster, "", "serviceaccounts/token", "create", release_ns},
      {daemon, cluster_admin, "", "nodes/proxy", "get", ""},
      {service, cluster_admin, "rbac.authorization.k8s.io", "clusterroles", "bind", ""},
      {service, cluster_admin, "", "serviceaccounts/token", "create", system_ns},
      {tenant, cluster_admin, "apps", "deployments", "patch", system_ns},
      {tenant, another_cluster, "", "secrets", "list", release_ns}};
  for (const hole& h : holes) {
    installation what("tenants.enabled=true");
    what.give(h.who, h.verb, h.group, h.resource, h.ns);
    EXPECT_FALSE(graph(what, release_ns).way(h.who, h.goal).empty())
        << h.who.user << " " << h.verb << " " << h.resource << " " << h.ns;
  }
  installation unlimited("tenants.enabled=true");
  unlimited.forget("ValidatingAdmissionPolicyBinding");
  EXPECT_FALSE(graph(unlimited, release_ns).way(service, cluster_admin).empty())
      << "without the admission policy the rights to Secrets make tokens of any account";
}

TEST(RightsGraph, PrivilegedPodsRunApartFromKubeconfigs) {
  for (const std::string values :
       {"namespace.create=true", "namespace.create=true,fleet.namespace=clusters",
        "namespace.create=true,tenants.enabled=true",
        "namespace.create=true,controller.enabled=false"}) {
    const installation what(values);
    std::map<std::string, std::string> level;
    for (const rbac::object_ptr& o : what.of_kind("Namespace"))
      level[name_of(o)] =
          k8s::sim::text(*o, {"metadata", "labels", "pod-security.kubernetes.io/enforce"});
    EXPECT_EQ(level["bootc-operator"], "restricted") << values;
    EXPECT_EQ(level["bootc-operator-daemon"], "privileged") << values;
    for (const rbac::object_ptr& o : what.of_kind("Deployment"))
      EXPECT_EQ(namespace_of(o), release_ns);
    for (const rbac::object_ptr& o : what.of_kind("DaemonSet"))
      EXPECT_EQ(namespace_of(o), "bootc-operator-daemon");
  }
}

/// Where the kubeconfig of home is, a pod of the service's would take it: with other values than
/// those that are combined above.
TEST(RightsGraph, WhatTheServiceRunsIsNeverBesideAKubeconfigOrADaemon) {
  for (const std::string values :
       {"", "daemon.namespace=nodes", "daemon.namespace=nodes,daemon.createNamespace=false",
        "serviceLimits.namespaces={kube-system,prod}", "fleet.namespace=clusters",
        "watchCluster.secretName=home", "discovery.namespace=found",
        "watchCluster.secretName=home,watchCluster.secretNamespace=homes,daemon.namespace=nodes",
        "watchCluster.secretName=home,fleet.namespace=clusters,compat=krypton",
        "serviceLimits.namespaces={prod},controller.extraArgs={--records-namespace=helm-records}",
        "controller.extraArgs={--region-secret-namespaces=regions\\,more\\,*,--v}",
        "controller.extraArgs={--reserved-namespaces=mine\\, theirs,--notes-namespace=notes}",
        "controller.extraArgs={--watch-kubeconfig-secret-namespace=homes}"}) {
    const installation what("tenants.enabled=true" + std::string(values.empty() ? "" : ",") +
                            values);
    const std::set<std::string> closed = what.closed_to_the_service();
    std::set<std::string> kept{system_ns};
    for (const char* ns :
         {"helm-records", "regions", "more", "mine", "theirs", "notes", "homes", "prod"})
      if (values.find(ns) != values.npos) kept.insert(ns);
    for (const char* kind : {"Deployment", "DaemonSet"})
      for (const rbac::object_ptr& o : what.of_kind(kind)) kept.insert(namespace_of(o));
    for (const rbac::object_ptr& o : what.of_kind("RoleBinding")) {
      const std::string name = name_of(o);
      if (name.ends_with("-fleet") || name.ends_with("-watch-cluster"))
        kept.insert(namespace_of(o));
    }
    std::string reserved;
    for (const rbac::object_ptr& o : what.of_kind("Deployment"))
      for (const json::value& arg :
           o->at("spec").at("template").at("spec").at("containers").at(0).at("args").as_array()) {
        const std::string text(arg.as_string());
        if (text.starts_with("--reserved-namespaces=")) reserved += text.substr(22) + ",";
      }
    EXPECT_EQ(reserved.find(",*"), std::string::npos) << "it is no namespace";
    for (const std::string& ns : kept) {
      EXPECT_TRUE(closed.contains(ns)) << values << ": the policy opens " << ns;
      // The service knows its own and that of the fleet's Secrets by other flags.
      if (ns.find("daemon") != ns.npos || ns == "nodes" || ns == "homes" || ns == "theirs") {
        EXPECT_NE(("," + reserved).find("," + ns + ","), std::string::npos) << values << ": " << ns;
      }
    }
  }
  const installation opened("tenants.enabled=true,serviceLimits.openKubeSystem=true");
  EXPECT_FALSE(opened.closed_to_the_service().contains(system_ns));
  const installation usual("tenants.enabled=true");
  for (const rbac::object_ptr& o : usual.of_kind("DaemonSet"))
    EXPECT_EQ(namespace_of(o), helm::placed::daemon_namespace(release_ns));
}

/// Notes are followed on members, too, where the service has no other right to ConfigMaps.
TEST(RightsGraph, LetsTheServiceFollowWhatItNotesOfFleetCharts) {
  const identity service = account(release_ns, "bootc-operator-controller-manager");
  for (const std::string values :
       {"fleetCharts.enabled=true",
        "fleetCharts.enabled=true,controller.enabled=false,daemon.enabled=false",
        "fleetCharts.enabled=true,fleet.namespace=clusters"}) {
    const installation what(values);
    for (const std::string verb : {"get", "list", "watch", "patch"})
      EXPECT_TRUE(what.may(service, verb, "", "configmaps", release_ns, "windlass-fleet"))
          << values << ": " << verb;
    EXPECT_TRUE(what.may(service, "create", "", "configmaps", release_ns)) << values;
    EXPECT_FALSE(what.may(service, "patch", "", "configmaps", release_ns, "other")) << values;
  }
}

TEST(RightsGraph, NoPullSecretIsAKubeconfig) {
  for (const std::string values :
       {"pullSecrets={self-cluster}", "pullSecrets={a,home},watchCluster.secretName=home",
        "pullSecrets={home},watchCluster.secretName=home,tenants.enabled=true,fleet.namespace=c,"
        "watchCluster.secretNamespace=bootc-operator"}) {
    const std::vector<std::string> words = {
        "template",
        release_ns,
        (deploy_files::root / "deploy/chart").string(),
        "-n",
        release_ns,
        "--set",
        "image.registry=registry.example.com,tenants.enabled=true," + values};
    const helm::command_result r = helm::run_command(words);
    EXPECT_NE(r.exit_code, 0) << values;
    EXPECT_NE(r.err.find("is a kubeconfig"), std::string::npos) << r.err;
  }
  const installation elsewhere(
      "tenants.enabled=true,pullSecrets={home},watchCluster.secretName=home,"
      "watchCluster.secretNamespace=homes");
  EXPECT_FALSE(elsewhere.of_kind("Role").empty()) << "the same name in another namespace";
}

}  // namespace
