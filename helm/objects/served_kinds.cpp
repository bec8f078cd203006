#include "helm/objects/served_kinds.hpp"

#include "helm/objects/manifest_reader.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <functional>

namespace helm::objects {

namespace json = boost::json;
using reactor::awaitable;

void served_kinds::forget() {
  known_.clear();
}

awaitable<k8s::result<const served_kinds::group_version*>> served_kinds::read(
    std::string api_version) {
  if (const auto known = known_.find(api_version); known != known_.end()) co_return &known->second;
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version = api_version.substr(slash == std::string::npos ? 0 : slash + 1);
  auto got = co_await api_.get_path((group.empty() ? "/api/" : "/apis/") + api_version);
  if (!got) co_return got.error();
  group_version found;
  const json::object* document = got->if_object();
  const json::value* all = document ? document->if_contains("resources") : nullptr;
  if (all && all->is_array()) {
    for (const json::value& one : all->get_array()) {
      if (!one.is_object()) continue;
      const json::object& o = one.get_object();
      k8s::resource r{group, version, text_member(o, "name"), text_member(o, "kind"), false};
      const json::value* namespaced = o.if_contains("namespaced");
      r.namespaced = namespaced && namespaced->is_bool() && namespaced->get_bool();
      if (!r.kind.empty()) found.kinds.insert(api_version + "/" + r.kind);
      if (!r.plural.empty() && r.plural.find('/') == std::string::npos)
        found.resources.push_back(std::move(r));
    }
  }
  co_return &known_.insert_or_assign(api_version, std::move(found)).first->second;
}

awaitable<k8s::result<std::optional<k8s::resource>>> served_kinds::find(std::string api_version,
                                                                        std::string kind) {
  // A kind that was not there may have been added since: look twice, the second time afresh.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const bool remembered = known_.contains(api_version);
    auto got = co_await read(api_version);
    if (!got && got.error().code != k8s::errc::not_found) co_return got.error();
    if (got) {
      const auto& all = (*got)->resources;
      const auto at = std::find_if(all.begin(), all.end(),
                                   [&](const k8s::resource& r) { return r.kind == kind; });
      if (at != all.end()) co_return std::optional(*at);
    }
    if (!remembered) break;
    known_.erase(api_version);
  }
  co_return std::optional<k8s::resource>();
}

awaitable<k8s::result<std::vector<std::string>>> served_kinds::everything(
    std::vector<std::string>& skipped) {
  k8s::discovery groups(api_);
  auto read_groups = co_await groups.refresh();
  if (!read_groups) co_return read_groups.error();
  const std::vector<std::string> versions = groups.api_versions();
  std::function<awaitable<void>(std::size_t)> each = [&](std::size_t i) -> awaitable<void> {
    auto got = co_await read(versions[i]);
    if (!got) skipped.push_back(versions[i]);
  };
  co_await reactor::side_by_side(versions.size(), std::move(each));
  std::set<std::string> all(versions.begin(), versions.end());
  for (const std::string& v : versions) {
    const auto known = known_.find(v);
    if (known != known_.end()) all.insert(known->second.kinds.begin(), known->second.kinds.end());
  }
  co_return std::vector<std::string>(all.begin(), all.end());
}

}  // namespace helm::objects
