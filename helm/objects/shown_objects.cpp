#include "helm/objects/shown_objects.hpp"

#include "helm/objects/manifest_reader.hpp"
#include "k8s/client/client.hpp"

#include <boost/json/array.hpp>

#include <set>

namespace helm::objects {
namespace {

namespace json = boost::json;
using reactor::awaitable;

constexpr const char* pods_behind = "v1/Pod(related)";

const json::object* object_at(const json::object* o, std::string_view field) {
  const json::value* v = o ? o->if_contains(field) : nullptr;
  return v ? v->if_object() : nullptr;
}

/// "app=web,tier=front", as the manifest says; empty for what selects no pods.
std::string selector_of(const object& o) {
  static const std::set<std::string_view> kinds = {"ReplicaSet", "Deployment", "StatefulSet",
                                                   "DaemonSet", "Job"};
  const json::object* selector = object_at(object_at(&o.body, "spec"), "selector");
  if (kinds.contains(o.kind))
    selector = object_at(selector, "matchLabels");
  else if (o.kind != "ReplicationController")
    return {};
  if (!selector) return {};
  std::map<std::string, std::string> sorted;
  for (const auto& [name, text] : *selector)
    if (text.is_string()) sorted.emplace(name, text.get_string());
  std::string out;
  for (const auto& [name, text] : sorted) out += (out.empty() ? "" : ",") + name + "=" + text;
  return out;
}

awaitable<std::vector<json::object>> pods_of(k8s::client& api, std::string ns, std::string selector,
                                             shown_as form) {
  std::vector<json::object> out;
  k8s::object_key where{std::move(ns), std::string()};
  if (form == shown_as::tables) {
    auto table = co_await api.get_table(k8s::resources::pods(), std::move(where), selector);
    if (table) out.push_back(std::move(*table));
    co_return out;
  }
  k8s::list_options options;
  options.ns = where.ns;
  options.label_selector = std::move(selector);
  auto page = co_await api.list(k8s::resources::pods(), std::move(options));
  json::value* items = page ? page->if_contains("items") : nullptr;
  if (!items || !items->is_array()) co_return out;
  for (json::value& item : items->get_array()) {
    if (!item.is_object()) continue;
    json::object& o = item.get_object();
    o["apiVersion"] = "v1";
    o["kind"] = "Pod";
    out.push_back(std::move(o));
  }
  co_return out;
}

}  // namespace

awaitable<shown_objects> read_shown(k8s::client& api, object_list list, shown_as form) {
  shown_objects out;
  std::set<std::string> asked;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const object& o = list[i];
    k8s::resource from = o.resource;
    k8s::object_key key = o.key();
    const std::string kind = from.version + "/" + o.kind;
    auto pending = form == shown_as::tables ? api.get_table(std::move(from), std::move(key))
                                            : api.get(std::move(from), std::move(key));
    auto got = co_await std::move(pending);
    if (!got) continue;
    out[kind].push_back(std::move(*got));
    std::string selector = selector_of(o);
    if (selector.empty() || !asked.insert(selector).second) continue;
    std::string ns = o.ns;
    auto pods = co_await pods_of(api, std::move(ns), std::move(selector), form);
    auto& all = out[pods_behind];
    for (json::object& pod : pods) all.push_back(std::move(pod));
    if (all.empty()) out.erase(pods_behind);
  }
  co_return out;
}

}  // namespace helm::objects
