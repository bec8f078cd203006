#include "helm/removals/findings.hpp"

#include "formats/json/member.hpp"
#include "formats/semver.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace helm::removals {
namespace {

namespace json = boost::json;
using formats::text_member;

/// Field managers that are parts of Kubernetes: `minor` brings its own.
constexpr std::string_view own_managers[] = {"kube-apiserver", "kube-controller-manager",
                                             "kube-scheduler", "kubelet", "kube-proxy"};
constexpr std::string_view own_prefix = "api-priority-and-fairness-config-";

bool is_own(std::string_view manager) {
  return manager.starts_with(own_prefix) ||
         std::ranges::find(own_managers, manager) != std::end(own_managers);
}

const json::object* object_in(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}
const json::array* array_in(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v ? v->if_array() : nullptr;
}

object_owner release_in(const json::object& metadata) {
  const std::string name = text_member(metadata, "annotations", "meta.helm.sh/release-name"),
                    ns = text_member(metadata, "annotations", "meta.helm.sh/release-namespace");
  if (name.empty()) return {};
  return {object_owner::kind::release, ns + "/" + name};
}

/// One entry of managedFields.
struct writer {
  std::string manager, api_version, time;
};
std::vector<writer> writers_of(const json::object& metadata) {
  std::vector<writer> out;
  const json::array* all = array_in(metadata, "managedFields");
  for (std::size_t i = 0; all && i < all->size(); ++i)
    if (const json::object* one = (*all)[i].if_object())
      out.push_back({text_member(*one, "manager"), text_member(*one, "apiVersion"),
                     text_member(*one, "time")});
  return out;
}

object_owner owner_of(const json::object& metadata) {
  object_owner out = release_in(metadata);
  const std::vector<writer> all = writers_of(metadata);
  if (out.is == object_owner::kind::unknown && !all.empty())
    out = {object_owner::kind::manager, all.front().manager};
  return out;
}

std::string version_text(int minor) {
  return "1." + std::to_string(minor);
}

std::string gone(const removed_api& api) {
  return api.api_version + " " + api.kind + " is removed in " + version_text(api.removed);
}

/// The value of `name="…"` between the braces of a metric.
std::string label_in(std::string_view labels, std::string_view name) {
  const std::string begin = std::string(name) + "=\"";
  for (std::size_t at = labels.find(begin); at != labels.npos; at = labels.find(begin, at + 1)) {
    if (at != 0 && labels[at - 1] != ',' && labels[at - 1] != '{') continue;
    const std::size_t from = at + begin.size(), end = labels.find('"', from);
    return end == labels.npos ? std::string() : std::string(labels.substr(from, end - from));
  }
  return {};
}

}  // namespace

std::string_view text(source s) noexcept {
  switch (s) {
    case source::release: return "release";
    case source::live: return "live";
    case source::requests: return "requests";
    case source::definition: return "definition";
    case source::webhook: break;
  }
  return "webhook";
}

std::string object_owner::text() const {
  switch (is) {
    case kind::manager: return "field manager " + name;
    case kind::release: return "Helm release " + name;
    case kind::placed: return name;
    case kind::unknown: break;
  }
  return "-";
}

std::string finding::message() const {
  std::string said;
  for (const std::string& one : details) said += (said.empty() ? "" : "; ") + one;
  return said.empty() ? why : why + " (" + said + ")";
}

void findings::add(std::string_view cluster, const seen_object& seen) {
  const auto api = find(seen.api_version, seen.kind);
  if (!api || !api->is_gone_in(minor_)) return;
  finding one;
  one.cluster = cluster;
  one.ns = seen.ns;
  one.kind = seen.kind;
  one.name = seen.name;
  one.owner = seen.owner;
  one.api_version = seen.api_version;
  one.removed_in = api->removed;
  one.replacement = replacement(*api, minor_);
  one.sources = {seen.where};
  one.origin = text(api->from);
  one.why = gone(*api);
  if (!seen.detail.empty()) one.details = {seen.detail};
  add(std::move(one));
}

void findings::add(finding other) {
  const key of{other.cluster, other.ns, other.kind, other.name, other.api_version};
  const auto known = rows_.find(of);
  if (known == rows_.end()) {
    if (rows_.size() < most_)
      rows_.emplace(of, std::move(other));
    else
      ++left_out_;
    return;
  }
  finding& row = known->second;
  if (other.owner.is > row.owner.is) row.owner = std::move(other.owner);
  const auto join = [](auto& to, const auto& more) {
    for (const auto& one : more)
      if (std::ranges::find(to, one) == to.end()) to.push_back(one);
  };
  join(row.sources, other.sources);
  if (other.why != row.why) other.details.push_back(other.why);
  join(row.details, other.details);
}

std::vector<finding> findings::rows() const {
  std::vector<finding> out;
  out.reserve(rows_.size());
  for (const auto& [of, row] : rows_) out.push_back(row);
  return out;
}

std::vector<seen_object> of_manifest(std::span<const json::object> objects,
                                     const object_owner& owner, std::string_view ns,
                                     std::string_view record) {
  std::vector<seen_object> out;
  for (const json::object& o : objects) {
    seen_object one{text_member(o, "apiVersion"),
                    text_member(o, "kind"),
                    text_member(o, "metadata", "namespace"),
                    text_member(o, "metadata", "name"),
                    owner,
                    source::release,
                    "record " + std::string(record)};
    const bool inside = is_namespaced(one.kind);
    if (inside && one.ns.empty()) one.ns = ns;
    if (!inside) one.ns.clear();
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<seen_object> of_managers(const json::object& item, std::string_view kind, int minor) {
  std::vector<seen_object> out;
  const json::object* metadata = object_in(item, "metadata");
  if (!metadata) return out;
  const std::vector<writer> all = writers_of(*metadata);
  const auto goes = [&](const std::string& api_version) {
    const auto api = find(api_version, kind);
    return api && api->is_gone_in(minor);
  };
  for (const writer& w : all) {
    if (is_own(w.manager) || !goes(w.api_version)) continue;
    // The server keeps what a manager wrote by the old version until another one writes it.
    const bool moved = std::ranges::any_of(all, [&](const writer& later) {
      return later.manager == w.manager && later.time >= w.time && !goes(later.api_version);
    });
    if (moved) continue;
    object_owner owner = release_in(*metadata);
    if (owner.is == object_owner::kind::unknown) owner = {object_owner::kind::manager, w.manager};
    out.push_back({w.api_version, std::string(kind), text_member(*metadata, "namespace"),
                   text_member(*metadata, "name"), std::move(owner), source::live,
                   "written by " + w.manager + " at " + w.time});
  }
  return out;
}

seen_object of_object(const json::object& item, std::string_view kind,
                      std::string_view api_version) {
  seen_object out;
  out.api_version = api_version;
  out.kind = kind;
  if (const json::object* metadata = object_in(item, "metadata")) {
    out.ns = text_member(*metadata, "namespace");
    out.name = text_member(*metadata, "name");
    out.owner = owner_of(*metadata);
  }
  out.detail = "no API has such objects then";
  return out;
}

std::vector<family> families(int minor) {
  std::vector<family> out;
  const auto add = [&](family& to, const std::string& version) {
    if (!version.empty() && std::ranges::find(to.api_versions, version) == to.api_versions.end())
      to.api_versions.push_back(version);
  };
  const std::vector<removed_api> all = removed_by(minor);
  for (const removed_api& api : all) {
    // These are listed whole, for what else they say.
    if (!is_kept(api.kind) || api.kind == "CustomResourceDefinition") continue;
    auto known = std::ranges::find(out, api.kind, &family::kind);
    if (known == out.end()) known = out.insert(out.end(), {api.kind, {}});
    add(*known, replacement(api, minor));
  }
  for (const removed_api& api : all) {
    const auto known = std::ranges::find(out, api.kind, &family::kind);
    if (known == out.end()) continue;
    add(*known, api.successor);
    add(*known, api.api_version);
  }
  return out;
}

std::vector<finding> of_definition(std::string_view cluster, const json::object& crd) {
  std::vector<finding> out;
  const json::object *spec = object_in(crd, "spec"), *status = object_in(crd, "status");
  const json::array* stored = status ? array_in(*status, "storedVersions") : nullptr;
  const json::array* versions = spec ? array_in(*spec, "versions") : nullptr;
  if (!stored || !versions) return out;
  const std::string group = text_member(*spec, "group");
  std::vector<std::string> served;
  std::string storage;
  for (const json::value& v : *versions) {
    const json::object* version = v.if_object();
    if (!version) continue;
    const auto says = [&](std::string_view name) {
      const json::value* flag = version->if_contains(name);
      return flag && flag->is_bool() && flag->get_bool();
    };
    if (says("served")) served.push_back(text_member(*version, "name"));
    if (says("storage")) storage = text_member(*version, "name");
  }
  for (const json::value& v : *stored) {
    if (!v.is_string()) continue;
    const std::string name(v.get_string());
    if (std::ranges::find(served, name) != served.end()) continue;
    finding one;
    one.cluster = cluster;
    one.kind = "CustomResourceDefinition";
    one.name = text_member(crd, "metadata", "name");
    one.api_version = group + "/" + name;
    if (storage != name) one.replacement = group + "/" + storage;
    one.sources = {source::definition};
    one.why = "objects may be stored as " + one.api_version +
              ", which it does not serve: write each again, then take it out of "
              "status.storedVersions";
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<webhook_service> services_of(const json::object& configuration) {
  std::vector<webhook_service> out;
  const auto add = [&](const json::object* client, std::string webhook) {
    const json::object* service = client ? object_in(*client, "service") : nullptr;
    if (!service) return;
    webhook_service one{text_member(*service, "namespace"), text_member(*service, "name"),
                        std::move(webhook)};
    if (!one.ns.empty() && !one.name.empty()) out.push_back(std::move(one));
  };
  const json::array* hooks = array_in(configuration, "webhooks");
  for (std::size_t i = 0; hooks && i < hooks->size(); ++i)
    if (const json::object* hook = (*hooks)[i].if_object())
      add(object_in(*hook, "clientConfig"), text_member(*hook, "name"));
  const json::object* spec = object_in(configuration, "spec");
  const json::object* conversion = spec ? object_in(*spec, "conversion") : nullptr;
  if (!conversion || text_member(*conversion, "strategy") != "Webhook") return out;
  if (const json::object* hook = object_in(*conversion, "webhook"))
    add(object_in(*hook, "clientConfig"), {});
  return out;
}

std::optional<finding> of_chart(std::string_view cluster, const object_owner& owner,
                                std::string_view release, const released_chart& chart, int from,
                                int to) {
  if (chart.kube_version.empty() || from >= to) return std::nullopt;
  const auto takes = version_constraint::parse(chart.kube_version);
  if (!takes) return std::nullopt;
  // Of a minor the first patch, or any later one.
  const auto fits = [&](int minor) {
    return std::ranges::any_of(
        std::initializer_list<const char*>{".0", ".999"}, [&](const char* patch) {
          const auto v = parse_lenient_version("v1." + std::to_string(minor) + patch);
          return v && takes->check(*v);
        });
  };
  if (!fits(from) || fits(to)) return std::nullopt;
  const std::size_t slash = release.find('/');
  finding one;
  one.cluster = cluster;
  one.ns = release.substr(0, slash);
  one.kind = "Release";
  one.name = slash == release.npos ? release : release.substr(slash + 1);
  one.owner = owner;
  one.sources = {source::release};
  one.why = "its chart " + chart.text + " takes Kubernetes " + chart.kube_version + " and not 1." +
            std::to_string(to) + ", so that its next upgrade would fail";
  return one;
}

finding of_missing_service(std::string_view cluster, std::string_view kind,
                           std::string_view api_version, const json::object& configuration,
                           const webhook_service& s) {
  finding one;
  one.cluster = cluster;
  one.kind = kind;
  one.name = text_member(configuration, "metadata", "name");
  one.api_version = api_version;
  if (const json::object* metadata = object_in(configuration, "metadata"))
    one.owner = owner_of(*metadata);
  one.sources = {source::webhook};
  one.why = (s.webhook.empty() ? std::string("its conversion") : "its webhook " + s.webhook) +
            " asks Service " + s.ns + "/" + s.name + ", which does not exist";
  return one;
}

std::optional<deprecated_request> read_request(std::string_view line) {
  constexpr std::string_view metric = "apiserver_requested_deprecated_apis{";
  if (!line.starts_with(metric)) return std::nullopt;
  const std::size_t close = line.rfind('}');
  if (close == line.npos) return std::nullopt;
  const std::string_view labels = line.substr(metric.size() - 1, close - metric.size() + 1);
  std::string_view count = line.substr(close + 1);
  while (count.starts_with(' ')) count.remove_prefix(1);
  if (count.empty() || count == "0" || count.starts_with("0 ")) return std::nullopt;
  deprecated_request out{label_in(labels, "group"), label_in(labels, "version"),
                         label_in(labels, "resource"), label_in(labels, "subresource"),
                         minor_of(label_in(labels, "removed_release"))};
  if (out.version.empty() || out.resource.empty()) return std::nullopt;
  return out;
}

std::optional<finding> of_request(std::string_view cluster, const deprecated_request& r,
                                  int minor) {
  if (!r.removed_in || *r.removed_in > minor) return std::nullopt;
  finding one;
  one.cluster = cluster;
  one.api_version = r.group.empty() ? r.version : r.group + "/" + r.version;
  one.kind = "Requests";
  one.name = r.resource + (r.subresource.empty() ? "" : "/" + r.subresource);
  one.removed_in = *r.removed_in;
  for (const removed_api& api : removed_by(minor)) {
    if (api.api_version != one.api_version || resource_of(api.kind) != r.resource) continue;
    one.replacement = replacement(api, minor);
    one.origin = text(api.from);
  }
  one.sources = {source::requests};
  one.why = "the API server counts requests for " + one.api_version + " " + one.name +
            " since its start, which is removed in " + version_text(*r.removed_in);
  return one;
}

}  // namespace helm::removals
