#include "helm/members/rights.hpp"

#include "helm/members/member_objects.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json.hpp>

#include <initializer_list>
#include <set>

namespace cli {
namespace {

namespace json = boost::json;

constexpr std::string_view bootc_group = "node.bootc.dev";
constexpr std::size_t asked_at_once = 8;

const k8s::resource& reviews() {
  static const k8s::resource instance{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                                      "SelfSubjectAccessReview", false};
  return instance;
}

void add(std::vector<right>& to, std::string_view group, std::string_view resource,
         std::initializer_list<std::string_view> verbs, std::string_view why,
         const k8s::object_key& of = {}) {
  const std::size_t slash = resource.find('/');
  for (const std::string_view verb : verbs) {
    right r;
    r.verb = verb;
    r.group = group;
    r.resource = resource.substr(0, slash);
    if (slash != resource.npos) r.subresource = resource.substr(slash + 1);
    r.ns = of.ns;
    r.name = of.name;
    r.why = why;
    to.push_back(std::move(r));
  }
}

void add_path(std::vector<right>& to, std::string_view path, std::string_view why) {
  right r;
  r.verb = "get";
  r.path = path;
  r.why = why;
  to.push_back(std::move(r));
}

const k8s::resource& reviews_of_others() {
  static const k8s::resource instance{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                      "SubjectAccessReview", false};
  return instance;
}

json::object review_of(const right& r, const std::string& user) {
  json::object wanted{{"verb", r.verb}};
  const auto say = [&](const char* key, const std::string& value) {
    if (!value.empty()) wanted[key] = value;
  };
  say("path", r.path);
  say("resource", r.resource);
  say("group", r.group);
  say("subresource", r.subresource);
  say("namespace", r.ns);
  say("name", r.name);
  json::object spec;
  spec[r.path.empty() ? "resourceAttributes" : "nonResourceAttributes"] = std::move(wanted);
  if (!user.empty()) {
    spec["user"] = user;
    spec["groups"] = {"system:authenticated", "system:serviceaccounts"};
  }
  json::object body;
  body["spec"] = std::move(spec);
  return body;
}

bool allows(const json::object& answer) {
  const json::value* status = answer.if_contains("status");
  const json::value* allowed =
      status && status->is_object() ? status->get_object().if_contains("allowed") : nullptr;
  return allowed && allowed->is_bool() && allowed->get_bool();
}

}  // namespace

std::string right::text() const {
  std::string out = verb + " " + resource + path;
  if (!group.empty()) out += "." + group;
  if (!subresource.empty()) out += "/" + subresource;
  if (!name.empty()) out += " \"" + name + "\"";
  if (!ns.empty()) out += " in " + ns;
  return out;
}

std::vector<right> rights_of_service(const k8s::object_key& account) {
  std::vector<right> all;
  add(all, bootc_group, "bootcnodepools",
      {"get", "list", "watch", "create", "update", "patch", "delete"},
      "to see the pools and let their nodes go before one is deleted");
  add(all, bootc_group, "bootcnodes",
      {"get", "list", "watch", "create", "update", "patch", "delete"},
      "to tell each node what to run");
  add(all, bootc_group, "bootcnodepools/status", {"get", "update", "patch"},
      "to report how far a pool is");
  add(all, bootc_group, "bootcnodepools/finalizers", {"update"}, "to own the BootcNodes of a pool");
  add(all, bootc_group, "bootcnodes/status", {"get"}, "to read what a node reports");
  add(all, bootc_group, "bootcoperatorconfigs", {"get", "list"},
      "to read the settings of the operator");
  add(all, "", "nodes", {"get", "list", "watch", "update", "patch"},
      "to see, label and cordon nodes");
  add(all, "", "namespaces", {"get"}, "to know the cluster by the uid of kube-system",
      {"", "kube-system"});
  add(all, "", "pods", {"get", "list"}, "to see what a drain has to move");
  add(all, "", "pods/eviction", {"create"}, "to drain a node within its disruption budgets");
  add(all, "apps", "daemonsets", {"get", "list"},
      "to tell the pods of DaemonSets, which a drain leaves, and to upgrade the daemons");
  add(all, "", "events", {"create", "patch"}, "to say on pools and nodes what happens");
  add(all, "events.k8s.io", "events", {"create", "patch"},
      "to say on pools and nodes what happens");
  add(all, "coordination.k8s.io", "leases", {"get"}, "to see whether another operator works there",
      {account.ns, "bootc-operator.bootc.dev"});
  add(all, "", "serviceaccounts/token", {"create"}, "to renew its token before it ends", account);
  for (const char* path : {"/version", "/api", "/api/*", "/apis", "/apis/*"})
    add_path(all, path, "to know the version of the cluster and the kinds that it serves");
  return all;
}

namespace {

/// To make each kind of these objects what it should be.
void add_installing(std::vector<right>& to, const member_settings& s, std::string_view why) {
  const auto objects = member_objects(s);
  std::set<std::string> seen;
  if (!objects) return;
  for (const member_object& o : *objects)
    if (seen.insert(o.what.plural).second)
      add(to, o.what.group, o.what.plural, {"get", "create", "patch"}, why, {o.key.ns, ""});
}

std::vector<std::string> texts(const json::object& rule, const char* key) {
  std::vector<std::string> out;
  const json::value* all = rule.if_contains(key);
  if (all && all->is_array())
    for (const json::value& one : all->get_array())
      if (one.is_string()) out.emplace_back(one.get_string());
  if (out.empty()) out.emplace_back();
  return out;
}

/// What the rule of a role grants.
void add_granted(std::vector<right>& to, const json::object& rule, const std::string& ns) {
  const std::string why = "to grant it to the service";
  for (const std::string& verb : texts(rule, "verbs")) {
    for (const std::string& path : texts(rule, "nonResourceURLs"))
      if (!path.empty()) to.push_back({.verb = verb, .path = path, .why = why});
    for (const std::string& group : texts(rule, "apiGroups"))
      for (const std::string& resource : texts(rule, "resources"))
        for (const std::string& name : texts(rule, "resourceNames"))
          if (!resource.empty()) {
            add(to, group, resource, {verb}, why, {ns, name});
          }
  }
}

reactor::awaitable<k8s::result<bool>> may(k8s::client& api, std::string user,  // borrowed
                                          right r) {
  k8s::resource kind = user.empty() ? reviews() : reviews_of_others();
  json::object review = review_of(r, user);
  auto said = co_await api.create(std::move(kind), std::string(), std::move(review));
  if (!said) co_return said.error();
  co_return allows(*said);
}

}  // namespace

std::vector<right> rights_of_member_admin(const k8s::object_key& account) {
  std::vector<right> all;
  member_settings s;
  s.ns = account.ns;
  add_installing(all, s, "to install what a member needs");
  add(all, "", "serviceaccounts/token", {"create"}, "to make the token for home", account);
  return all;
}

std::vector<right> rights_of_installer(const k8s::object_key& account) {
  std::vector<right> all;
  member_settings s;
  s.ns = account.ns;
  s.as = member_settings::part::home;
  add_installing(all, s, "to install the chart");
  const auto objects = member_objects(s);
  if (!objects) return all;
  for (const member_object& o : *objects) {
    const json::value* rules = o.body.if_contains("rules");
    if (!o.what.kind.ends_with("Role") || !rules || !rules->is_array()) continue;
    for (const json::value& rule : rules->get_array())
      if (rule.is_object()) add_granted(all, rule.get_object(), o.key.ns);
  }
  return all;
}

reactor::awaitable<k8s::result<std::vector<right>>> missing_rights(k8s::client& api,
                                                                   std::vector<right> wanted,
                                                                   std::string user) {
  std::vector<k8s::result<bool>> said(wanted.size(), false);
  const auto ask = [&](std::size_t i) -> reactor::awaitable<void> {
    said[i] = co_await may(api, user, wanted[i]);
  };
  co_await reactor::side_by_side(wanted.size(), ask, asked_at_once);
  std::vector<right> missing;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!said[i]) co_return said[i].error();
    if (!*said[i]) missing.push_back(std::move(wanted[i]));
  }
  co_return missing;
}

std::string explained(const k8s::fault& f, std::string_view verb, const k8s::resource& on,
                      std::string_view why) {
  std::string text = f.message();
  if (f.code != k8s::errc::forbidden) return text;
  text += "\n  The right to " + std::string(verb) + " " + on.plural +
          (on.group.empty() ? "" : "." + on.group) + " is missing; it is needed " +
          std::string(why);
  return text;
}

}  // namespace cli
