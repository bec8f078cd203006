#include "k8s/sim/openapi.hpp"

#include "k8s/sim/objects/json.hpp"

#include <set>

namespace k8s::sim {

namespace {

std::string schema_name(const kind_info& k) {
  std::string name = k.group.empty() ? "io.k8s.api.core" : "io.k8s.api." + k.group;
  if (k.custom) name = k.group;
  return name + "." + k.version + "." + k.kind;
}

json::object gvk(const kind_info& k) {
  return {{"group", k.group}, {"kind", k.kind}, {"version", k.version}};
}

json::object described(const kind_info& k) {
  return {{"type", "object"},
          {"x-kubernetes-preserve-unknown-fields", true},
          {"x-kubernetes-group-version-kind", json::array{gvk(k)}}};
}

json::array parameters(bool v3) {
  json::array all;
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
    json::object p{{"name", name}, {"in", "query"}};
    const bool boolean = std::string_view(name) == "force";
    if (v3) {
      p["schema"] = json::object{{"type", boolean ? "boolean" : "string"}, {"uniqueItems", true}};
    } else {
      p["type"] = boolean ? "boolean" : "string";
      p["uniqueItems"] = true;
    }
    all.push_back(std::move(p));
  }
  return all;
}

json::object operations(const kind_info& k, bool v3, bool named) {
  json::object path;
  auto add = [&](const char* method, const char* action) {
    path[method] =
        json::object{{"parameters", parameters(v3)},
                     {"responses", json::object{{"200", json::object{{"description", "OK"}}}}},
                     {"x-kubernetes-action", action},
                     {"x-kubernetes-group-version-kind", gvk(k)}};
  };
  if (named) {
    add("get", "get");
    add("put", "put");
    add("patch", "patch");
    add("delete", "delete");
  } else {
    add("get", "list");
    add("post", "post");
  }
  return path;
}

void add_paths(json::object& paths, const kind_info& k, bool v3) {
  std::string base = k.group.empty() ? "/api/" + k.version : "/apis/" + k.group + "/" + k.version;
  if (k.namespaced) base += "/namespaces/{namespace}";
  base += "/" + k.plural;
  paths[base] = operations(k, v3, false);
  paths[base + "/{name}"] = operations(k, v3, true);
}

std::string group_path(const kind_info& k) {
  return k.group.empty() ? "api/" + k.version : "apis/" + k.group + "/" + k.version;
}

}  // namespace

answer openapi(const request& r, const catalogue& kinds) {
  answer a;
  const std::vector<kind_ptr> all = kinds.all();
  if (r.path == "/openapi/v2") {
    // kubectl asks so for what version 3 does not have: nothing, so that it goes on to say that
    // there is no such kind. {swagger: "2.0"} on the wire.
    if (r.fields.get("accept").find("proto-openapi") != std::string_view::npos) {
      a.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
      a.body =
          "\x0a\x03"
          "2.0";
      return a;
    }
    json::object definitions, paths;
    for (const kind_ptr& k : all) {
      definitions[schema_name(*k)] = described(*k);
      add_paths(paths, *k, false);
    }
    a.body = json::serialize(
        json::object{{"swagger", "2.0"},
                     {"info", json::object{{"title", "Kubernetes"}, {"version", "v1"}}},
                     {"paths", std::move(paths)},
                     {"definitions", std::move(definitions)}});
    return a;
  }
  std::string_view rest = std::string_view(r.path).substr(std::string_view("/openapi/v3").size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) {
    json::object paths;
    for (const kind_ptr& k : all) {
      paths[group_path(*k)] =
          json::object{{"serverRelativeURL", "/openapi/v3/" + group_path(*k) + "?hash=0"}};
    }
    a.body = json::serialize(json::object{{"paths", std::move(paths)}});
    return a;
  }
  json::object schemas, paths;
  for (const kind_ptr& k : all) {
    if (group_path(*k) != rest) continue;
    schemas[schema_name(*k)] = described(*k);
    add_paths(paths, *k, true);
  }
  if (paths.empty()) {
    a.status = 404;
    a.content_type = "text/plain; charset=utf-8";
    a.body = "404 page not found\n";
    return a;
  }
  a.body = json::serialize(
      json::object{{"openapi", "3.0.0"},
                   {"info", json::object{{"title", "Kubernetes"}, {"version", "v1"}}},
                   {"paths", std::move(paths)},
                   {"components", json::object{{"schemas", std::move(schemas)}}}});
  return a;
}

}  // namespace k8s::sim
