#include "k8s/sim/core.hpp"
#include "k8s/sim/openapi.hpp"

#include <charconv>
#include <set>

namespace k8s::sim {

namespace {

json::array verbs_of(const kind_info& k) {
  if (k.answers_only) return {"create"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

json::array strings(const std::vector<std::string>& all) {
  json::array a;
  for (const std::string& s : all) a.push_back(json::value(s));
  return a;
}

json::object resource(const kind_info& k) {
  json::object o{{"name", k.plural},
                 {"singularName", k.singular},
                 {"namespaced", k.namespaced},
                 {"kind", k.kind},
                 {"verbs", verbs_of(k)}};
  if (!k.short_names.empty()) o["shortNames"] = strings(k.short_names);
  if (!k.categories.empty()) o["categories"] = strings(k.categories);
  return o;
}

struct subresource {
  std::string name;
  json::object response_kind;
  json::array verbs;
};

std::vector<subresource> subresources(const kind_info& k) {
  std::vector<subresource> all;
  if (k.status_subresource) {
    all.push_back({"status",
                   {{"group", k.group}, {"version", k.version}, {"kind", k.kind}},
                   {"get", "patch", "update"}});
  }
  for (const std::string& s : k.other_subresources) {
    if (s == "eviction") {
      all.push_back(
          {s, {{"group", "policy"}, {"version", "v1"}, {"kind", "Eviction"}}, {"create"}});
    } else if (s == "token") {
      all.push_back(
          {s,
           {{"group", "authentication.k8s.io"}, {"version", "v1"}, {"kind", "TokenRequest"}},
           {"create"}});
    } else if (s == "log") {
      all.push_back({s, {{"group", k.group}, {"version", k.version}, {"kind", k.kind}}, {"get"}});
    } else if (s == "binding") {
      all.push_back({s, {{"group", ""}, {"version", "v1"}, {"kind", "Binding"}}, {"create"}});
    } else {
      all.push_back(
          {s, {{"group", k.group}, {"version", k.version}, {"kind", k.kind}}, {"update"}});
    }
  }
  return all;
}

json::object resource_list(const std::vector<kind_ptr>& kinds, const std::string& group,
                           const std::string& version) {
  json::array resources;
  for (const kind_ptr& k : kinds) {
    if (k->group != group || k->version != version) continue;
    resources.push_back(resource(*k));
    for (subresource& s : subresources(*k)) {
      json::object o{
          {"name", k->plural + "/" + s.name}, {"singularName", ""}, {"namespaced", k->namespaced}};
      if (text(s.response_kind, {"group"}) != k->group ||
          text(s.response_kind, {"version"}) != k->version) {
        o["group"] = s.response_kind["group"];
        o["version"] = s.response_kind["version"];
      }
      o["kind"] = s.response_kind["kind"];
      o["verbs"] = std::move(s.verbs);
      resources.push_back(std::move(o));
    }
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", group.empty() ? version : group + "/" + version},
          {"resources", std::move(resources)}};
}

/// Groups in the order they first occur, each with its versions.
std::vector<std::pair<std::string, std::vector<std::string>>> groups(
    const std::vector<kind_ptr>& kinds) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const kind_ptr& k : kinds) {
    auto at =
        std::find_if(all.begin(), all.end(), [&](const auto& g) { return g.first == k->group; });
    if (at == all.end()) at = all.insert(all.end(), {k->group, {}});
    if (std::find(at->second.begin(), at->second.end(), k->version) == at->second.end()) {
      at->second.push_back(k->version);
    }
  }
  return all;
}

json::object group_object(const std::string& name, const std::vector<std::string>& versions,
                          bool with_type) {
  json::array list;
  for (const std::string& v : versions)
    list.push_back(json::object{{"groupVersion", name + "/" + v}, {"version", v}});
  json::object g;
  if (with_type) {
    g["kind"] = "APIGroup";
    g["apiVersion"] = "v1";
  }
  g["name"] = name;
  g["versions"] = list;
  g["preferredVersion"] = list.front();
  return g;
}

/// apidiscovery.k8s.io/v2: everything in one document.
json::object aggregated(const std::vector<kind_ptr>& kinds, bool core_group,
                        std::string_view api_version) {
  json::array items;
  for (const auto& [group, versions] : groups(kinds)) {
    if (group.empty() != core_group) continue;
    json::array listed;
    for (const std::string& version : versions) {
      json::array resources;
      for (const kind_ptr& k : kinds) {
        if (k->group != group || k->version != version) continue;
        json::object o{
            {"resource", k->plural},
            {"responseKind",
             json::object{{"group", k->group}, {"version", k->version}, {"kind", k->kind}}},
            {"scope", k->namespaced ? "Namespaced" : "Cluster"},
            {"singularResource", k->singular},
            {"verbs", verbs_of(*k)}};
        if (!k->short_names.empty()) o["shortNames"] = strings(k->short_names);
        if (!k->categories.empty()) o["categories"] = strings(k->categories);
        json::array subs;
        for (subresource& s : subresources(*k)) {
          subs.push_back(json::object{{"subresource", s.name},
                                      {"responseKind", std::move(s.response_kind)},
                                      {"verbs", std::move(s.verbs)}});
        }
        if (!subs.empty()) o["subresources"] = std::move(subs);
        resources.push_back(std::move(o));
      }
      listed.push_back(json::object{
          {"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
    }
    json::object meta{{"creationTimestamp", nullptr}};
    if (!group.empty()) meta["name"] = group;
    items.push_back(json::object{{"metadata", std::move(meta)}, {"versions", std::move(listed)}});
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", api_version},
          {"metadata", json::object{}},
          {"items", std::move(items)}};
}

answer document(json::object o) {
  answer a;
  a.body = json::serialize(o);
  return a;
}

answer plain(std::string text) {
  answer a;
  a.content_type = "text/plain; charset=utf-8";
  a.body = std::move(text);
  return a;
}

}  // namespace

std::optional<answer> core::discover(const request& r) {
  std::string_view path = r.path;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/healthz" || path == "/livez" || path == "/readyz") return plain("ok");
  const bool is_read = r.method == "GET" || r.method == "HEAD";
  if (!is_read) return std::nullopt;
  if (path == "/version") {
    const std::string& v = options.version;
    const std::size_t dot = v.find('.'), second = v.find('.', dot + 1);
    const std::string major = v.substr(1, dot - 1), minor = v.substr(dot + 1, second - dot - 1);
    unsigned number = 0;
    std::from_chars(minor.data(), minor.data() + minor.size(), number);
    return document({{"major", major},
                     {"minor", minor},
                     {"emulationMajor", major},
                     {"emulationMinor", minor},
                     {"minCompatibilityMajor", major},
                     {"minCompatibilityMinor", std::to_string(number > 0 ? number - 1 : 0)},
                     {"gitVersion", v},
                     {"gitCommit", "0000000000000000000000000000000000000000"},
                     {"gitTreeState", "clean"},
                     {"buildDate", "2026-01-01T00:00:00Z"},
                     {"goVersion", "none"},
                     {"compiler", "gcc"},
                     {"platform", "linux/amd64"}});
  }
  if (path == "/openapi/v2" || path.starts_with("/openapi/v3")) return openapi(r, kinds);
  if (path == "/") {
    json::array paths{"/api", "/api/v1", "/apis"};
    for (const auto& [group, versions] : groups(kinds.all())) {
      if (group.empty()) continue;
      paths.push_back(json::value("/apis/" + group));
      for (const std::string& v : versions)
        paths.push_back(json::value("/apis/" + group + "/" + v));
    }
    for (const char* p :
         {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
      paths.push_back(p);
    return document({{"paths", std::move(paths)}});
  }
  if (path == "/api" || path == "/apis") {
    const std::string_view accept = r.fields.get("accept");
    const std::vector<kind_ptr> all = kinds.all();
    if (accept.find("as=APIGroupDiscoveryList") != std::string_view::npos) {
      const std::size_t v2 = accept.find("v=v2;"), beta = accept.find("v=v2beta1");
      const bool stable =
          v2 != std::string_view::npos && (beta == std::string_view::npos || v2 < beta);
      const std::string version = stable ? "v2" : "v2beta1";
      answer a = document(aggregated(all, path == "/api", "apidiscovery.k8s.io/" + version));
      a.content_type =
          "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList";
      return a;
    }
    if (path == "/api") {
      return document({{"kind", "APIVersions"},
                       {"versions", json::array{"v1"}},
                       {"serverAddressByClientCIDRs",
                        json::array{json::object{{"clientCIDR", "0.0.0.0/0"},
                                                 {"serverAddress", "127.0.0.1"}}}}});
    }
    json::array list;
    for (const auto& [group, versions] : groups(all)) {
      if (!group.empty()) list.push_back(group_object(group, versions, false));
    }
    return document({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(list)}});
  }
  if (path == "/api/v1") return document(resource_list(kinds.all(), "", "v1"));
  if (path.starts_with("/apis/")) {
    std::string_view rest = path.substr(6);
    const std::size_t slash = rest.find('/');
    const std::string group(rest.substr(0, slash));
    if (slash == std::string_view::npos) {
      for (const auto& [name, versions] : groups(kinds.all())) {
        if (name == group) return document(group_object(name, versions, true));
      }
      return std::nullopt;
    }
    const std::string version(rest.substr(slash + 1));
    if (version.find('/') != std::string::npos || !kinds.has_group_version(group, version))
      return std::nullopt;
    return document(resource_list(kinds.all(), group, version));
  }
  return std::nullopt;
}

}  // namespace k8s::sim
