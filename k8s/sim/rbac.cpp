#include "k8s/sim/rbac.hpp"

#include "k8s/sim/api_server.hpp"
#include "k8s/sim/objects/selector.hpp"

#include <algorithm>

namespace k8s::sim {

namespace {

constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";
constexpr std::string_view account_prefix = "system:serviceaccount:";
constexpr int most_aggregations = 4;  // a role that selects itself ends somewhere

using words = std::vector<std::string>;

bool has(const words& all, std::string_view wanted) {
  return std::ranges::any_of(all, [&](const std::string& w) { return w == "*" || w == wanted; });
}

bool has_resource(const policy_rule& r, const attributes& a) {
  const std::string full = a.full_resource();
  return std::ranges::any_of(r.resources, [&](const std::string& w) {
    return w == "*" || w == full || (!a.subresource.empty() && w == "*/" + a.subresource);
  });
}

bool has_path(const words& all, std::string_view path) {
  return std::ranges::any_of(all, [&](const std::string& w) {
    return w == "*" || w == path ||
           (w.ends_with("*") && path.starts_with(std::string_view(w).substr(0, w.size() - 1)));
  });
}

bool allows(const policy_rule& r, const attributes& a) {
  if (!has(r.verbs, a.verb)) return false;
  if (!a.path.empty()) return has_path(r.paths, a.path);
  return has(r.groups, a.group) && has_resource(r, a) &&
         (r.names.empty() || std::ranges::find(r.names, a.name) != r.names.end());
}

words texts(const json::object& o, std::string_view member) {
  words out;
  if (const json::array* all = find_array(o, {member}))
    for (const json::value& v : *all)
      if (v.is_string()) out.emplace_back(v.get_string());
  return out;
}

std::vector<policy_rule> own_rules(const json::object& role) {
  std::vector<policy_rule> out;
  const json::array* all = find_array(role, {"rules"});
  if (!all) return out;
  for (const json::value& v : *all) {
    if (!v.is_object()) continue;
    const json::object& o = v.get_object();
    out.push_back({texts(o, "verbs"), texts(o, "apiGroups"), texts(o, "resources"),
                   texts(o, "resourceNames"), texts(o, "nonResourceURLs")});
  }
  return out;
}

bool is_subject(const json::object& subject, const identity& who) {
  const std::string_view kind = text(subject, {"kind"}), name = text(subject, {"name"});
  if (kind == "User") return name == who.user;
  if (kind == "Group") return std::ranges::find(who.groups, name) != who.groups.end();
  return kind == "ServiceAccount" &&
         who.user == std::string(account_prefix) + std::string(text(subject, {"namespace"})) + ":" +
                         std::string(name);
}

/// A rule as single rights: one verb on one resource of one group, of one name or of any.
std::vector<policy_rule> single_rights(const policy_rule& r) {
  std::vector<policy_rule> out;
  const words any{std::string()};
  for (const std::string& verb : r.verbs) {
    for (const std::string& path : r.paths) out.push_back({{verb}, {}, {}, {}, {path}});
    for (const std::string& group : r.groups)
      for (const std::string& resource : r.resources)
        for (const std::string& name : r.names.empty() ? any : r.names)
          out.push_back(
              {{verb}, {group}, {resource}, name.empty() ? words() : words{name}, {}});
  }
  return out;
}

bool covers(const policy_rule& held, const policy_rule& right) {
  if (!has(held.verbs, right.verbs.front())) return false;
  if (!right.paths.empty()) return has_path(held.paths, right.paths.front());
  const std::string& resource = right.resources.front();
  const std::size_t slash = resource.find('/');
  attributes a;
  a.resource = resource.substr(0, slash);
  if (slash != std::string::npos) a.subresource = resource.substr(slash + 1);
  const bool names_fit = held.names.empty() || (!right.names.empty() &&
                                                std::ranges::find(held.names, right.names.front()) !=
                                                    held.names.end());
  return has(held.groups, right.groups.front()) && has_resource(held, a) && names_fit;
}

std::string go_list(const words& all) {
  std::string out = "[";
  for (const std::string& w : all) out += (out.size() > 1 ? " " : "") + quoted(w);
  return out + "]";
}

std::string go_text(const policy_rule& r) {
  std::string out = "{";
  const auto add = [&](const char* name, const words& all) {
    if (all.empty()) return;
    std::string list;
    for (const std::string& w : all) list += (list.empty() ? "" : ", ") + quoted(w);
    out += (out.size() > 1 ? ", " : "") + std::string(name) + ":[" + list + "]";
  };
  add("APIGroups", r.groups);
  add("Resources", r.resources);
  add("ResourceNames", r.names);
  add("NonResourceURLs", r.paths);
  add("Verbs", r.verbs);
  return out + "}";
}

std::string_view query_of(const request& r, std::string_view name) {
  for (const auto& [key, value] : r.query)
    if (key == name) return value;
  return {};
}

/// The name in "metadata.name=x", alone or among others.
std::string_view selected_name(std::string_view fields) {
  constexpr std::string_view field = "metadata.name=";
  while (!fields.empty()) {
    const std::size_t comma = fields.find(',');
    std::string_view one = fields.substr(0, comma);
    fields = comma == std::string_view::npos ? std::string_view() : fields.substr(comma + 1);
    if (!one.starts_with(field)) continue;
    one.remove_prefix(field.size());
    if (one.starts_with("=")) one.remove_prefix(1);
    return one;
  }
  return {};
}

std::string verb_of(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "get";
}

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

std::vector<std::string> usual_groups(std::string_view user) {
  if (user == "system:anonymous") return {"system:unauthenticated"};
  words out;
  if (user.starts_with(account_prefix)) {
    const std::string_view rest = user.substr(account_prefix.size());
    out = {"system:serviceaccounts",
           "system:serviceaccounts:" + std::string(rest.substr(0, rest.find(':')))};
  }
  out.emplace_back("system:authenticated");
  return out;
}

std::string attributes::full_resource() const {
  return subresource.empty() ? resource : resource + "/" + subresource;
}

attributes attributes_of(const request& r) {
  attributes a;
  std::vector<std::string> parts = path_parts(r.path);
  const bool legacy = !parts.empty() && parts[0] == "api";
  const std::size_t head = legacy ? 2 : 3;
  if (parts.size() <= head || (!legacy && parts[0] != "apis")) {
    a.verb = lower(r.method);
    a.path = r.path;
    return a;
  }
  if (!legacy) a.group = parts[1];
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(head));
  a.verb = verb_of(r.method);
  if (parts.size() > 1 && (parts[0] == "watch" || parts[0] == "proxy")) {
    a.verb = parts[0];
    parts.erase(parts.begin());
  }
  if (parts[0] == "namespaces" && parts.size() > 1) {
    a.ns = parts[1];
    if (parts.size() > 2 && parts[2] != "status" && parts[2] != "finalize")
      parts.erase(parts.begin(), parts.begin() + 2);
  }
  a.resource = parts[0];
  if (parts.size() > 1) a.name = parts[1];
  if (parts.size() > 2) a.subresource = parts[2];
  const bool many = a.name.empty();
  if (many && a.verb == "get") {
    const std::string_view watch = query_of(r, "watch");
    a.verb = watch.empty() || watch == "false" || watch == "0" ? "list" : "watch";
  }
  if (many && a.verb == "delete") a.verb = "deletecollection";
  if (many && (a.verb == "list" || a.verb == "watch" || a.verb == "deletecollection"))
    a.name = std::string(selected_name(query_of(r, "fieldSelector")));
  return a;
}

std::vector<policy_rule> rbac::rules_in(const json::object& role, int depth) const {
  const json::array* selectors = find_array(role, {"aggregationRule", "clusterRoleSelectors"});
  if (!selectors) return own_rules(role);
  std::vector<policy_rule> out;
  if (depth >= most_aggregations) return out;
  for (const json::value& s : *selectors) {
    if (!s.is_object()) continue;
    const auto wanted = label_selector::from_object(s.get_object());
    if (!wanted || wanted->empty()) continue;
    for (const object_ptr& other : all_("clusterroles")) {
      if (other.get() == &role || !wanted->matches_object(*other)) continue;
      for (policy_rule& r : rules_in(*other, depth + 1)) out.push_back(std::move(r));
    }
  }
  return out;
}

/// The rules of the role that a binding in `ns` ("" = of the cluster) names; none: it is not there.
std::optional<std::vector<policy_rule>> rbac::rules_named(const json::object& ref,
                                                          std::string_view ns) const {
  const bool of_cluster = text(ref, {"kind"}) == "ClusterRole";
  for (const object_ptr& role : all_(of_cluster ? "clusterroles" : "roles"))
    if (text(*role, {"metadata", "name"}) == text(ref, {"name"}) &&
        (of_cluster || text(*role, {"metadata", "namespace"}) == ns))
      return rules_in(*role, 0);
  return std::nullopt;
}

void rbac::add_rules(collected& to, const identity& who, const json::object& binding) const {
  const json::array* subjects = find_array(binding, {"subjects"});
  const json::object* ref = find_object(binding, {"roleRef"});
  if (!subjects || !ref) return;
  if (std::ranges::none_of(*subjects, [&](const json::value& s) {
        return s.is_object() && is_subject(s.get_object(), who);
      }))
    return;
  auto rules = rules_named(*ref, text(binding, {"metadata", "namespace"}));
  if (!rules) {
    const std::string kind = lower(text(*ref, {"kind"}));
    to.missing.push_back(kind + "." + std::string(rbac_group) + " " +
                         quoted(text(*ref, {"name"})) + " not found");
    return;
  }
  to.rules.insert(to.rules.end(), rules->begin(), rules->end());
}

rbac::collected rbac::rules_of(const identity& who, std::string_view ns) const {
  collected out;
  for (const object_ptr& b : all_("clusterrolebindings")) add_rules(out, who, *b);
  if (ns.empty()) return out;
  for (const object_ptr& b : all_("rolebindings"))
    if (text(*b, {"metadata", "namespace"}) == ns) add_rules(out, who, *b);
  return out;
}

rbac::verdict rbac::judge(const identity& who, const attributes& what) const {
  const collected held = rules_of(who, what.ns);
  verdict v;
  v.allowed =
      std::ranges::any_of(held.rules, [&](const policy_rule& r) { return allows(r, what); });
  if (v.allowed || held.missing.empty()) return v;
  std::string all;
  for (const std::string& m : held.missing) all += (all.empty() ? "" : ", ") + m;
  v.reason = "RBAC: " + (held.missing.size() > 1 ? "[" + all + "]" : all);
  return v;
}

std::optional<std::string> rbac::refuses_grant(const identity& who, std::string_view plural,
                                               std::string_view ns,
                                               const json::object& role_or_binding) const {
  const bool binds = plural.ends_with("bindings");
  const json::object* ref = binds ? find_object(role_or_binding, {"roleRef"}) : nullptr;
  if (binds && !ref) return std::nullopt;  // invalid, which is said elsewhere
  attributes may;
  may.verb = binds ? "bind" : "escalate";
  may.group = rbac_group;
  may.ns = ns;
  may.resource = !binds ? std::string(plural)
                 : text(*ref, {"kind"}) == "ClusterRole" ? "clusterroles"
                                                         : "roles";
  may.name = std::string(binds ? text(*ref, {"name"}) : text(role_or_binding, {"metadata", "name"}));
  if (judge(who, may).allowed) return std::nullopt;
  std::vector<policy_rule> granted;
  if (binds) {
    auto rules = rules_named(*ref, ns);
    if (!rules)
      return lower(text(*ref, {"kind"})) + "." + std::string(rbac_group) + " " +
             quoted(text(*ref, {"name"})) + " not found";
    granted = std::move(*rules);
  } else if (find_object(role_or_binding, {"aggregationRule"})) {
    granted = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  } else {
    granted = own_rules(role_or_binding);
  }
  const collected held = rules_of(who, ns);
  std::string lacking;
  for (const policy_rule& rule : granted) {
    const bool all_held = std::ranges::all_of(single_rights(rule), [&](const policy_rule& right) {
      return std::ranges::any_of(held.rules,
                                 [&](const policy_rule& h) { return covers(h, right); });
    });
    if (!all_held) lacking += "\n" + go_text(rule);
  }
  if (lacking.empty()) return std::nullopt;
  return "user " + quoted(who.user) + " (groups=" + go_list(who.groups) +
         ") is attempting to grant RBAC permissions not currently held:" + lacking;
}

}  // namespace k8s::sim
