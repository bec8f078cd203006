#include "k8s/client/discovery.hpp"

#include "k8s/client/apart.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
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

fault too_many(std::string doing, std::size_t most, std::string_view of) {
  fault f = stranger(std::move(doing));
  f.detail = "the server names more than " + std::to_string(most) + " " + std::string(of);
  return f;
}

/// "31+" is what some providers say for 31.
std::optional<int> leading_number(const std::string& s) {
  int n = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), n);
  return code == std::errc{} ? std::optional(n) : std::nullopt;
}

}  // namespace

awaitable<result<version_texts>> discovery::ask_version(reactor::nanoseconds within) {
  auto got = co_await api_.get_path("/version", within);
  if (!got) co_return got.error();
  said_ = {text(*got, "gitVersion"), text(*got, "major"), text(*got, "minor")};
  said_at_ = api_.loop().now();
  co_return said_;
}

awaitable<result<version_texts>> discovery::recent_version() {
  if (said_at_ && api_.loop().now() - *said_at_ < version_life) co_return said_;
  co_return co_await ask_version(request_deadline);
}

awaitable<result<server_version>> discovery::read_version(reactor::nanoseconds within) {
  auto said = co_await ask_version(within);
  if (!said) co_return said.error();
  server_version v;
  v.git_version = said->git_version;
  const auto major = leading_number(said->major);
  const auto minor = leading_number(said->minor);
  if (v.git_version.empty() || !major || !minor) co_return stranger("get /version");
  v.major = *major;
  v.minor = *minor;
  version_ = v;
  co_return v;
}

result<std::vector<std::string>> api_versions_in(const json::value& api, const json::value& apis) {
  const json::array* versions = list(api, "versions");
  if (!versions) return stranger("get /api");
  const json::array* groups = list(apis, "groups");
  if (!groups) return stranger("get /apis");
  std::vector<std::string> all;
  std::set<std::string_view> known;  // views of the documents
  const auto add = [&](const json::value* v) {
    const json::string* s = v ? v->if_string() : nullptr;
    if (s && !s->empty() && known.insert(*s).second) all.emplace_back(*s);
    return all.size() <= discovery::most_api_versions;
  };
  const auto group_version = [](const json::value& of) {
    const json::object* o = of.if_object();
    return o ? o->if_contains("groupVersion") : nullptr;
  };
  bool fits = true;
  for (const json::value& v : *versions) fits = fits && add(&v);
  for (const json::value& group : *groups) {
    const json::object* o = group.if_object();
    if (!o || !fits) continue;
    if (const json::value* preferred = o->if_contains("preferredVersion"))
      fits = add(group_version(*preferred));
    if (const json::array* offered = list(group, "versions"))
      for (const json::value& v : *offered) fits = fits && add(group_version(v));
  }
  if (fits) return all;
  return too_many("get /apis", discovery::most_api_versions, "API versions");
}

result<std::vector<resource>> resources_in(const std::string& api_version,
                                           const json::value& document) {
  const auto slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version =
      slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  const json::array* offered = list(document, "resources");
  if (!offered) return stranger("get resources of " + api_version);
  std::vector<resource> all;
  for (const json::value& one : *offered) {
    resource r{group, version, text(one, "name"), text(one, "kind"), true};
    if (r.plural.empty() || r.plural.find('/') != std::string::npos) continue;
    const json::value* namespaced = one.get_object().if_contains("namespaced");
    r.namespaced = namespaced && namespaced->is_bool() && namespaced->get_bool();
    all.push_back(std::move(r));
    if (all.size() > discovery::most_resources)
      return too_many("get resources of " + api_version, discovery::most_resources, "resources");
  }
  return all;
}

result<std::vector<std::string>> kinds_in(const json::value& document) {
  const json::array* offered = list(document, "resources");
  if (!offered) return stranger("get resources");
  std::set<std::string> all;
  for (const json::value& one : *offered)
    if (std::string kind = text(one, "kind"); !kind.empty()) all.insert(std::move(kind));
  if (all.size() > discovery::most_resources)
    return too_many("get resources", discovery::most_resources, "kinds");
  return std::vector<std::string>(all.begin(), all.end());
}

bool discovery::is_current() const noexcept {
  return read_at_ && api_.loop().now() - *read_at_ < longest_life;
}

void discovery::changes() noexcept {
  ++changes_;
  everything_.reset();
}

void discovery::forget() noexcept {
  changes();
  read_at_.reset();
  resources_.clear();
  kept_ = 0;
}

awaitable<result<void>> discovery::refresh() {
  auto core = co_await api_.get_path("/api");
  if (!core) co_return core.error();
  auto named = co_await api_.get_path("/apis");
  if (!named) co_return named.error();
  // The documents go with the job, so that a large one is given back off the loop, too.
  const auto job = [](json::value& api, json::value& apis) {
    auto all = api_versions_in(api, apis);
    api = nullptr;
    apis = nullptr;
    return all;
  };
  auto all = co_await api_.off_loop().run(job, std::move(*core), std::move(*named));
  if (!all) co_return all.error();
  api_versions_ = std::move(*all);
  known_ = std::set<std::string, std::less<>>(api_versions_.begin(), api_versions_.end());
  changes();
  resources_.clear();
  kept_ = 0;
  read_at_ = api_.loop().now();
  co_return result<void>();
}

bool discovery::has_api_version(std::string_view api_version) const noexcept {
  return known_.contains(api_version);
}

awaitable<result<discovery::shared_version>> discovery::read(std::string api_version) {
  if (const auto known = resources_.find(api_version); known != resources_.end())
    co_return known->second;
  const bool core = api_version.find('/') == std::string::npos;
  auto got = co_await api_.get_path((core ? "/api/" : "/apis/") + api_version);
  if (!got) co_return got.error();
  const auto job = [](const std::string& of, json::value& document) -> result<shared_version> {
    auto all = resources_in(of, document);
    if (!all) return all.error();
    auto kinds = kinds_in(document);
    if (!kinds) return kinds.error();
    document = nullptr;
    return std::make_shared<const group_version>(std::move(*all), std::move(*kinds));
  };
  auto all = co_await api_.off_loop().run(job, api_version, std::move(*got));
  if (!all) co_return all.error();
  const std::size_t more = (*all)->resources.size() + (*all)->kinds.size();
  changes();
  if (kept_ + more > 2 * most_resources) {
    resources_.clear();
    kept_ = 0;
  }
  const bool fresh = resources_.insert_or_assign(api_version, *all).second;
  if (fresh) kept_ += more;
  co_return std::move(*all);
}

awaitable<result<std::vector<resource>>> discovery::resources_of(std::string api_version) {
  auto known = co_await read(std::move(api_version));
  if (!known) co_return known.error();
  co_return (*known)->resources;
}

const resource* discovery::known_kind(const std::string& api_version, std::string_view kind) const {
  const auto known = resources_.find(api_version);
  if (known == resources_.end()) return nullptr;
  const std::vector<resource>& all = known->second->resources;
  const auto at = std::ranges::find(all, kind, &resource::kind);
  return at == all.end() ? nullptr : &*at;
}

awaitable<result<std::optional<resource>>> discovery::find(std::string api_version,
                                                           std::string kind) {
  if (const resource* known = known_kind(api_version, kind)) co_return std::optional(*known);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const bool remembered = resources_.contains(api_version);
    auto all = co_await read(api_version);
    if (!all && all.error().code != errc::not_found) co_return all.error();
    if (all) {
      const auto at = std::ranges::find((*all)->resources, kind, &resource::kind);
      if (at != (*all)->resources.end()) co_return std::optional(*at);
    }
    if (!remembered) break;
    const auto old = resources_.find(api_version);
    if (old == resources_.end()) continue;  // it was forgotten meanwhile
    changes();
    kept_ -= old->second->resources.size() + old->second->kinds.size();
    resources_.erase(old);
  }
  co_return std::optional<resource>();
}

std::vector<std::string> discovery::names_of(const std::vector<std::string>& versions,
                                             const std::vector<shared_version>& kinds) {
  std::set<std::string> all(versions.begin(), versions.end());
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (kinds[i])
      for (const std::string& kind : kinds[i]->kinds) all.insert(versions[i] + "/" + kind);
  return {all.begin(), all.end()};
}

awaitable<result<std::vector<std::string>>> discovery::everything(
    std::vector<std::string>& skipped) {
  if (is_current() && everything_) co_return *everything_;
  if (!is_current()) {
    auto groups = co_await refresh();
    if (!groups) co_return groups.error();
  }
  std::vector<std::string> versions = api_versions_;
  std::vector<shared_version> found(versions.size());
  std::function<awaitable<void>(std::size_t)> each = [&](std::size_t i) -> awaitable<void> {
    auto got = co_await read(versions[i]);
    if (got) found[i] = std::move(*got);
  };
  co_await reactor::side_by_side(versions.size(), std::move(each));
  bool whole = true;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (found[i]) continue;
    skipped.push_back(versions[i]);
    whole = false;
  }
  // Sorting the kinds of a server with many operators takes milliseconds.
  const std::uint64_t before = changes_;
  auto all =
      co_await api_.off_loop().run(&discovery::names_of, std::move(versions), std::move(found));
  if (whole && changes_ == before) everything_ = all;
  co_return all;
}

awaitable<result<bool>> discovery::serves(resource r) {
  // Who never asked which groups there are knows of none.
  if (!read_at_) {
    auto groups = co_await refresh();
    if (!groups) co_return groups.error();
  }
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
