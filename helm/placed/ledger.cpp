#include "helm/placed/ledger.hpp"

#include "formats/digest.hpp"
#include "helm/placed/workspace_writes.hpp"
#include "k8s/client/client.hpp"

#include <boost/json.hpp>

namespace helm::placed {
namespace {

namespace json = boost::json;
using reactor::awaitable;

constexpr std::string_view ledger_parts = "0123456789abcdef";

std::string part_name(char which) {
  return std::string("windlass-placed-") + which;
}
std::string part_of(std::string_view key) {
  return part_name(formats::sha256_hex(key).front());
}

/// A ConfigMap's data with that one text.
json::object entry_body(const std::string& key, const std::optional<std::string>& text) {
  json::object data, body;
  data[key] = text ? json::value(*text) : json::value();
  body["data"] = std::move(data);
  return body;
}

std::map<std::string, std::string> texts_of(const json::object& config_map) {
  std::map<std::string, std::string> out;
  const json::value* data = config_map.if_contains("data");
  if (!data || !data->is_object()) return out;
  for (const auto& [key, text] : data->get_object())
    if (text.is_string()) out.emplace(std::string(key), std::string(text.get_string()));
  return out;
}

}  // namespace

awaitable<k8s::result<void>> ensure_namespace(k8s::client& api, std::string name) {
  // The admission policy of deploy/chart lets the service make namespaces with its marks alone.
  names::owner_reference service{"Service", {name, "windlass"}};
  auto made = co_await create_workspace(api, std::move(name), std::move(service));
  if (!made) co_return made.error();
  co_return k8s::result<void>();
}

awaitable<k8s::result<std::optional<std::string>>> ledger::read(std::string key) {
  std::optional<std::string> out;
  k8s::object_key at{ns_, part_of(key)};
  auto got = co_await api_.get(k8s::resources::config_maps(), std::move(at));
  if (!got && got.error().code == k8s::errc::not_found) co_return out;
  if (!got) co_return got.error();
  const auto all = texts_of(*got);
  if (const auto found = all.find(key); found != all.end()) out = found->second;
  co_return out;
}

awaitable<k8s::result<std::map<std::string, std::string>>> ledger::read_all() {
  std::map<std::string, std::string> out;
  for (const char which : ledger_parts) {
    k8s::object_key at{ns_, part_name(which)};
    auto got = co_await api_.get(k8s::resources::config_maps(), std::move(at));
    if (!got && got.error().code == k8s::errc::not_found) continue;
    if (!got) co_return got.error();
    out.merge(texts_of(*got));
  }
  co_return out;
}

awaitable<k8s::result<void>> ledger::write(std::string key, std::optional<std::string> text) {
  const std::string name = part_of(key);
  // Another process of ours may make it between two of these.
  for (int tries = 1;; ++tries) {
    json::object patch = entry_body(key, text);
    k8s::object_key at{ns_, name};
    auto patched =
        co_await api_.merge_patch(k8s::resources::config_maps(), std::move(at), std::move(patch));
    if (patched) co_return k8s::result<void>();
    if (patched.error().code != k8s::errc::not_found || tries > 3) co_return patched.error();
    if (!text) co_return k8s::result<void>();
    json::object body = entry_body(key, text), metadata;
    metadata["name"] = name;
    body["apiVersion"] = "v1";
    body["kind"] = "ConfigMap";
    body["metadata"] = std::move(metadata);
    auto made = co_await api_.create(k8s::resources::config_maps(), ns_, std::move(body));
    if (made) co_return k8s::result<void>();
    if (made.error().code == k8s::errc::not_found) {
      auto there = co_await ensure_namespace(api_, ns_);
      if (!there) co_return there.error();
    } else if (made.error().code != k8s::errc::exists) {
      co_return made.error();
    }
  }
}

}  // namespace helm::placed
