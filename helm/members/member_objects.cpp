#include "helm/members/member_objects.hpp"

#include "formats/image_name.hpp"
#include "helm/charts/chart.hpp"
#include "helm/members/embedded_chart.hpp"
#include "helm/objects/manifest_reader.hpp"
#include "helm/render/manifests.hpp"
#include "helm/render/prepared_chart.hpp"
#include "k8s/client/tokens.hpp"

#include <algorithm>
#include <map>

namespace cli {
namespace {

constexpr std::string_view prefix = "bootc-operator";

struct known_kind {
  std::string_view plural;
  bool namespaced;
};
const std::map<std::string_view, known_kind>& kinds() {
  static const std::map<std::string_view, known_kind> all = {
      {"Namespace", {"namespaces", false}},
      {"NetworkPolicy", {"networkpolicies", true}},
      {"ServiceAccount", {"serviceaccounts", true}},
      {"CustomResourceDefinition", {"customresourcedefinitions", false}},
      {"ClusterRole", {"clusterroles", false}},
      {"ClusterRoleBinding", {"clusterrolebindings", false}},
      {"Role", {"roles", true}},
      {"RoleBinding", {"rolebindings", true}},
      {"DaemonSet", {"daemonsets", true}},
      {"Deployment", {"deployments", true}},
      {"Service", {"services", true}},
      {"PodDisruptionBudget", {"poddisruptionbudgets", true}},
      {"ValidatingAdmissionPolicy", {"validatingadmissionpolicies", false}},
      {"ValidatingAdmissionPolicyBinding", {"validatingadmissionpolicybindings", false}},
  };
  return all;
}

/// Where no image was named: the caller puts the member's own in its place (keep_images).
constexpr std::string_view no_registry = "the-members-own.invalid";

reactor::fault broken(std::string_view why) {
  return reactor::make_fault(reactor::errc::malformed, "what a member is given", why);
}

/// "registry/name:tag@digest" as the chart's values have it.
helm::value image_values(const std::string& image) {
  helm::value::map_type of;
  if (image.empty()) {
    of["registry"] = helm::value(std::string(no_registry));
    return of;
  }
  const std::size_t at = image.find('@');
  std::string name = image.substr(0, at);
  if (at != image.npos) of["digest"] = helm::value(image.substr(at + 1));
  const std::size_t colon = name.rfind(':'), slash = name.rfind('/');
  if (colon != name.npos && (slash == name.npos || colon > slash)) {
    of["tag"] = helm::value(name.substr(colon + 1));
    name.resize(colon);
  }
  of["repository"] = helm::value(std::move(name));
  return of;
}

helm::value values_of(const member_settings& s) {
  helm::value::map_type controller, ns, daemon, fleet, all;
  controller["enabled"] = s.as == member_settings::part::home;
  ns["create"] = true;
  daemon["enabled"] = s.with == member_settings::daemons::yes;
  if (s.as == member_settings::part::member) fleet["from"] = "self";
  if (!s.pull_secrets.empty()) {
    helm::value::list_type names;
    for (const std::string& name : s.pull_secrets) names.push_back(helm::value(name));
    all["pullSecrets"] = helm::value(std::move(names));
  }
  helm::value::map_type tenants;
  tenants["enabled"] = s.of_tenants == member_settings::tenants::yes;
  all["tenants"] = helm::value(std::move(tenants));
  helm::value::map_type charts;
  charts["enabled"] = s.of_fleet_charts == member_settings::fleet_charts::yes;
  all["fleetCharts"] = helm::value(std::move(charts));
  all["controller"] = helm::value(std::move(controller));
  all["namespace"] = helm::value(std::move(ns));
  all["daemon"] = helm::value(std::move(daemon));
  all["fleet"] = helm::value(std::move(fleet));
  all["image"] = image_values(s.image);
  return all;
}

reactor::result<member_object> object_of(boost::json::object body, const std::string& ns) {
  using helm::objects::text_member;
  const std::string kind = text_member(body, "kind"), version = text_member(body, "apiVersion");
  const auto known = kinds().find(kind);
  if (known == kinds().end())
    return broken("the kind " + kind + " has no place in the order of member objects");
  member_object o;
  const std::size_t slash = version.find('/');
  o.what.group = slash == version.npos ? "" : version.substr(0, slash);
  o.what.version = slash == version.npos ? version : version.substr(slash + 1);
  o.what.plural = known->second.plural;
  o.what.kind = kind;
  o.what.namespaced = known->second.namespaced;
  o.key.name = helm::objects::metadata_text(body, "name");
  if (o.what.namespaced) {
    o.key.ns = helm::objects::metadata_text(body, "namespace");
    if (o.key.ns.empty()) o.key.ns = ns;
  }
  o.body = std::move(body);
  return o;
}

}  // namespace

namespace {

/// Calls `f` with each container of a workload.
template <class Object, class F>
void each_container(Object& workload, F f) {
  boost::system::error_code none;
  auto* containers = workload.find_pointer("/spec/template/spec/containers", none);
  if (!containers || !containers->is_array()) return;
  for (auto& c : containers->get_array())
    if (c.is_object()) f(c.get_object());
}

}  // namespace

std::map<std::string, std::string> container_images(const boost::json::object& workload) {
  std::map<std::string, std::string> out;
  const boost::json::value all(workload);
  each_container(all, [&](const boost::json::object& c) {
    out[helm::objects::text_member(c, "name")] = helm::objects::text_member(c, "image");
  });
  return out;
}

bool keep_images(boost::json::object& workload, const std::map<std::string, std::string>& there) {
  bool all_known = true;
  boost::json::value all(std::move(workload));
  each_container(all, [&](boost::json::object& c) {
    const auto found = there.find(helm::objects::text_member(c, "name"));
    if (found == there.end() || found->second.empty())
      all_known = false;
    else
      c["image"] = found->second;
  });
  workload = std::move(all.as_object());
  return all_known;
}

bool is_pull_secret_role(const member_object& o) {
  return o.what.kind == "Role" && (o.key.name == std::string(prefix) + "-pull-secrets" ||
                                   o.key.name == std::string(prefix) + "-daemon");
}

std::size_t keep_pull_secrets(member_object& o, const boost::json::object& there) {
  boost::system::error_code none;
  const boost::json::value all(there);
  const auto* rules = all.find_pointer("/rules", none);
  const auto* names = all.find_pointer("/rules/0/resourceNames", none);
  if (!rules || !names || !names->is_array()) return 0;
  o.body["rules"] = *rules;
  return names->get_array().size();
}

std::vector<member_object> earlier_daemons(const std::string& ns) {
  std::vector<member_object> all(2);
  all[0].what = k8s::resources::daemon_sets();
  all[1].what = k8s::resources::service_accounts();
  for (member_object& o : all) o.key = {ns, std::string(prefix) + "-daemon"};
  return all;
}

k8s::object_key member_account(const member_settings& s) {
  return {s.ns, std::string(prefix) + "-controller-manager"};
}

k8s::object_key own_controller(const std::string& ns) {
  return {ns, std::string(prefix) + "-controller-manager"};
}

reactor::result<std::vector<member_object>> member_objects(const member_settings& s) {
  if (s.ns.size() > 63 || s.ns.empty() || s.ns.front() == '-' || s.ns.back() == '-' ||
      !std::ranges::all_of(s.ns, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      }))
    return reactor::make_fault(reactor::errc::malformed, "--member-namespace " + s.ns,
                               "a namespace has lower-case letters, digits and dashes");
  if (!s.image.empty() && formats::registry_in(s.image).empty())
    return reactor::make_fault(
        reactor::errc::malformed, "--image " + s.image,
        "it names no registry, so nodes would ask docker.io/library; name the one that they pull "
        "from: REGISTRY/" +
            s.image + " (docker.io/library/" + s.image +
            " where it was loaded onto the nodes by hand)");
  std::vector<helm::chart_file> files;
  for (const chart_file& f : embedded_chart())
    files.push_back({std::string(f.path), std::string(f.content)});
  std::vector<std::string> warnings;
  auto loaded = helm::load_files(std::move(files), warnings);
  if (!loaded) return broken(loaded.error().text);
  helm::prepared_chart chart(std::move(*loaded));
  helm::release_options release;
  release.name = "windlass";
  release.name_space = s.ns;
  auto rendered = chart.render(values_of(s), release, helm::default_capabilities(), {});
  if (!rendered)
    return reactor::make_fault(reactor::errc::malformed,
                               s.image.empty() ? "render" : "--image " + s.image,
                               rendered.error().text);
  std::erase_if(*rendered, [](const auto& f) { return f.first.ends_with("NOTES.txt"); });
  auto sorted =
      helm::sort_manifests(*rendered, helm::kind_order::install, [](const std::string&) {});
  if (!sorted) return broken(sorted.error().text);
  std::vector<member_object> all;
  for (const helm::manifest& m : sorted->manifests) {
    auto documents = helm::objects::read_manifest(m.content);
    if (!documents) return broken(documents.error().text);
    for (boost::json::object& body : *documents) {
      auto one = object_of(std::move(body), s.ns);
      if (!one) return one.error();
      all.push_back(std::move(*one));
    }
  }
  return all;
}

k8s::object_key member_daemon(const std::string& ns) {
  if (const auto all = member_objects({.ns = ns}))
    for (const member_object& o : *all)
      if (o.what.kind == "DaemonSet") return o.key;
  return {};
}

}  // namespace cli
