#include "k8s/discovery.hpp"

#include "k8s/client.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace k8s {
namespace {

namespace json = boost::json;

std::string text(const json::value& from, std::string_view field) {
  const json::object* o = from.if_object();
  const json::value* v = o ? o->if_contains(field) : nullptr;
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

const json::array* list(const json::value& from, std::string_view field) {
  const json::object* o = from.if_object();
  const json::value* v = o ? o->if_contains(field) : nullptr;
  return v ? v->if_array() : nullptr;
}

fault stranger(std::string doing) {
  fault f;
  f.code = errc::malformed;
  f.http_status = 200;
  f.doing = std::move(doing);
  f.detail = "the server does not speak the Kubernetes API: its answer is of another form";
  return f;
}

/// "31+" is what some providers say for 31.
std::optional<int> leading_number(const std::string& s) {
  int n = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), n);
  return code == std::errc{} ? std::optional(n) : std::nullopt;
}

}  // namespace

awaitable<result<server_version>> discovery::read_version(reactor::nanoseconds within) {
  auto got = co_await api_.get_path("/version", within);
  if (!got) co_return got.error();
  server_version v;
  v.git_version = text(*got, "gitVersion");
  const auto major = leading_number(text(*got, "major"));
  const auto minor = leading_number(text(*got, "minor"));
  if (v.git_version.empty() || !major || !minor) co_return stranger("get /version");
  v.major = *major;
  v.minor = *minor;
  version_ = v;
  co_return v;
}

awaitable<result<void>> discovery::refresh() {
  auto core = co_await api_.get_path("/api");
  if (!core) co_return core.error();
  const json::array* versions = list(*core, "versions");
  if (!versions) co_return stranger("get /api");
  auto named = co_await api_.get_path("/apis");
  if (!named) co_return named.error();
  const json::array* groups = list(*named, "groups");
  if (!groups) co_return stranger("get /apis");
  std::vector<std::string> all;
  for (const json::value& v : *versions) {
    if (v.is_string()) all.emplace_back(v.get_string());
  }
  const auto add = [&all](std::string api_version) {
    const bool known = std::find(all.begin(), all.end(), api_version) != all.end();
    if (!api_version.empty() && !known) all.push_back(std::move(api_version));
  };
  for (const json::value& group : *groups) {
    if (!group.is_object()) continue;
    if (const json::value* preferred = group.get_object().if_contains("preferredVersion")) {
      add(text(*preferred, "groupVersion"));
    }
    const json::array* offered = list(group, "versions");
    if (!offered) continue;
    for (const json::value& v : *offered) add(text(v, "groupVersion"));
  }
  api_versions_ = std::move(all);
  resources_.clear();
  co_return result<void>();
}

bool discovery::has_api_version(std::string_view api_version) const noexcept {
  return std::find(api_versions_.begin(), api_versions_.end(), api_version) != api_versions_.end();
}

awaitable<result<std::vector<resource>>> discovery::resources_of(std::string api_version) {
  if (const auto known = resources_.find(api_version); known != resources_.end()) {
    co_return known->second;
  }
  const auto slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version =
      slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  std::string path = (group.empty() ? "/api/" : "/apis/") + api_version;
  auto got = co_await api_.get_path(path);
  if (!got) co_return got.error();
  const json::array* offered = list(*got, "resources");
  if (!offered) co_return stranger("get " + path);
  std::vector<resource> all;
  for (const json::value& one : *offered) {
    resource r{group, version, text(one, "name"), text(one, "kind"), true};
    if (r.plural.empty() || r.plural.find('/') != std::string::npos) continue;
    const json::value* namespaced = one.get_object().if_contains("namespaced");
    r.namespaced = namespaced && namespaced->is_bool() && namespaced->get_bool();
    all.push_back(std::move(r));
  }
  resources_[api_version] = all;
  co_return all;
}

awaitable<result<bool>> discovery::serves(resource r) {
  if (!has_api_version(r.api_version())) co_return false;
  auto all = co_await resources_of(r.api_version());
  if (!all) {
    if (all.error().code == errc::not_found) co_return false;
    co_return all.error();
  }
  co_return std::any_of(all->begin(), all->end(),
                        [&](const resource& one) { return one.plural == r.plural; });
}

}  // namespace k8s
