#include "helm/placed/ledger.hpp"

#include "formats/digest.hpp"
#include "helm/placed/workspace_writes.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/client/race.hpp"

#include <boost/json.hpp>

#include <utility>

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

/// Others that come first so often in a row are no coincidence.
constexpr int most_tries = 10;

/// "resourceVersion" or "name" of an object; empty where it has none.
std::string metadata_text(const json::object& object, std::string_view member) {
  const json::value* metadata = object.if_contains("metadata");
  const json::value* said =
      metadata && metadata->is_object() ? metadata->get_object().if_contains(member) : nullptr;
  return said && said->is_string() ? std::string(said->get_string()) : std::string();
}
std::string version_in(const json::object& config_map) {
  return metadata_text(config_map, "resourceVersion");
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

std::string_view namespace_of_key(std::string_view key) noexcept {
  const std::size_t dot = key.find('.');
  return dot == key.npos || key.starts_with('_') ? std::string_view() : key.substr(0, dot);
}

std::vector<std::string> keys_of_gone(const std::vector<std::string>& keys,
                                      const std::set<std::string, std::less<>>& there) {
  std::vector<std::string> out;
  for (const std::string& key : keys) {
    const std::string_view ns = namespace_of_key(key);
    if (!ns.empty() && !there.contains(ns)) out.push_back(key);
  }
  return out;
}

awaitable<k8s::result<void>> ensure_namespace(k8s::client& api, std::string name) {
  // The admission policy of deploy/chart lets the service make namespaces with its marks alone.
  names::owner_reference service{"Service", {name, "windlass"}};
  auto made = co_await create_workspace(api, std::move(name), std::move(service));
  if (!made) co_return made.error();
  co_return k8s::result<void>();
}

awaitable<k8s::result<ledger::entry>> ledger::read_entry(std::string key) {
  entry out{key, {}, {}, {}};
  k8s::object_key at{ns_, part_of(key)};
  auto got = co_await api_.get(k8s::resources::config_maps(), std::move(at));
  if (!got && got.error().code == k8s::errc::not_found) co_return out;
  if (!got) co_return got.error();
  out.version = version_in(*got);
  const auto all = texts_of(*got);
  std::size_t bytes = 0;
  for (const auto& [other, said] : all) bytes += other.size() + said.size();
  if (const auto found = all.find(key); found != all.end())
    out.said = found->second;
  else if (bytes > roomy_bytes)
    for (const auto& [other, said] : all) out.others.push_back(other);
  co_return out;
}

awaitable<k8s::result<ledger::text>> ledger::read(std::string key) {
  auto got = co_await read_entry(std::move(key));
  if (!got) co_return got.error();
  last_ = *got;
  co_return std::move(got->said);
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

awaitable<k8s::result<ledger::text>> ledger::change(std::string key, edit how) {
  std::optional<entry> from = std::exchange(last_, std::nullopt);
  if (from && from->key != key) from.reset();
  for (int tries = 1;; ++tries) {
    if (!from) {
      auto got = co_await read_entry(key);
      if (!got) co_return got.error();
      from = *std::move(got);
    }
    text to = how(from->said);
    if (to == from->said) co_return to;
    auto written = co_await write(*std::move(from), to);
    if (written) co_return to;
    if (!k8s::is_a_race(written.error()) || tries == most_tries) co_return written.error();
    from.reset();
  }
}

awaitable<k8s::result<std::vector<std::string>>> ledger::of_gone_namespaces(
    std::vector<std::string> keys) {
  std::set<std::string, std::less<>> there;
  k8s::list_pages pages(api_, k8s::resources::namespaces(), {});
  for (;;) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) co_return keys_of_gone(keys, there);
    if (const json::array* items = k8s::items_of(**page))
      for (const json::value& item : *items)
        if (item.is_object()) there.insert(metadata_text(item.get_object(), "name"));
  }
}

awaitable<k8s::result<void>> ledger::write(entry from, text to) {
  json::object data, metadata, body;
  data[from.key] = to ? json::value(*to) : json::value();
  if (to && !from.others.empty()) {
    auto gone = co_await of_gone_namespaces(std::move(from.others));
    if (!gone) co_return gone.error();
    for (const std::string& key : *gone) data[key] = nullptr;
  }
  body["data"] = std::move(data);
  k8s::object_key at{ns_, part_of(from.key)};
  k8s::result<json::object> written = json::object();
  if (!from.version.empty()) {
    metadata["resourceVersion"] = from.version;
    body["metadata"] = std::move(metadata);
    written =
        co_await api_.merge_patch(k8s::resources::config_maps(), std::move(at), std::move(body));
  } else {
    auto there = co_await ensure_namespace(api_, ns_);
    if (!there) co_return there.error();
    metadata["name"] = at.name;
    body["metadata"] = std::move(metadata);
    body["apiVersion"] = "v1";
    body["kind"] = "ConfigMap";
    written = co_await api_.create(k8s::resources::config_maps(), ns_, std::move(body));
  }
  if (!written) co_return written.error();
  last_ = entry{std::move(from.key), version_in(*written), std::move(to), {}};
  co_return k8s::result<void>();
}

}  // namespace helm::placed
