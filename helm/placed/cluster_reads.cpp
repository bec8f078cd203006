#include "helm/placed/cluster_reads.hpp"

#include "formats/json/member.hpp"
#include "helm/placed/stored_release.hpp"
#include "helm/release/own_records.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/informer/view.hpp"
#include "reactor/foreign_work.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace helm::placed {
namespace {

namespace json = boost::json;
using reactor::awaitable;

/// For the memory that a large record takes, while another operation has it.
constexpr reactor::nanoseconds look_waits = std::chrono::seconds(60);

const json::object* object_at(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}

std::string text_of(const json::object* o, std::string_view name) {
  return o ? text_member(*o, name) : std::string();
}

/// The revision is read from the name: the author of a record chooses its labels.
listed_record listed(const json::object& item, const std::string& release) {
  const json::object* meta = object_at(item, "metadata");
  const json::object* labels = meta ? object_at(*meta, "labels") : nullptr;
  listed_record out;
  out.name = text_of(meta, "name");
  out.version = text_of(meta, "resourceVersion");
  out.status = text_of(labels, "status");
  out.revision = release::revision_in(out.name, release).value_or(0);
  return out;
}

}  // namespace

k8s::resource collection_of(const checked_object& o) {
  static const std::map<std::string, std::string, std::less<>> plurals = {
      {"ConfigMap", "configmaps"},   {"Secret", "secrets"},
      {"Service", "services"},       {"ServiceAccount", "serviceaccounts"},
      {"Deployment", "deployments"}, {"ReplicaSet", "replicasets"}};
  k8s::resource r;
  const auto slash = o.api_version.find('/');
  if (slash != std::string::npos) r.group = o.api_version.substr(0, slash);
  r.version = slash == std::string::npos ? o.api_version : o.api_version.substr(slash + 1);
  r.kind = o.kind;
  const auto plural = plurals.find(o.kind);
  if (plural != plurals.end()) r.plural = plural->second;
  return r;
}

namespace {

/// Where workloads of a kind say how many are asked for and are there.
struct workload_kind {
  std::string_view group, plural, kind, wanted_in, wanted, available;
  std::int64_t standard;  // wanted where nothing says so
  bool of_release_only;
};
constexpr workload_kind workload_kinds[] = {
    {"apps", "deployments", "Deployment", "spec", "replicas", "availableReplicas", 1, false},
    {"apps", "statefulsets", "StatefulSet", "spec", "replicas", "availableReplicas", 1, true},
    {"apps", "daemonsets", "DaemonSet", "status", "desiredNumberScheduled", "numberAvailable", 0,
     true},
    {"batch", "jobs", "Job", "spec", "completions", "succeeded", 1, true},
};

std::int64_t number_of(const json::object* o, std::string_view name, std::int64_t standard) {
  const json::value* v = o ? o->if_contains(name) : nullptr;
  return v && v->is_int64() ? v->get_int64() : standard;
}

workload_facts workload(const workload_kind& kind, const json::object& item, std::string name) {
  workload_facts out;
  out.kind = kind.kind;
  out.name = std::move(name);
  out.wanted = number_of(object_at(item, kind.wanted_in), kind.wanted, kind.standard);
  out.available = number_of(object_at(item, "status"), kind.available, 0);
  return out;
}

/// As Helm notes it on what it makes.
std::string release_of(const json::object& meta) {
  return text_of(object_at(meta, "annotations"), "meta.helm.sh/release-name");
}

}  // namespace

const k8s::resource& collection_of(record_driver driver) noexcept {
  return driver == record_driver::secrets ? k8s::resources::secrets()
                                          : k8s::resources::config_maps();
}

awaitable<k8s::result<workspace_facts>> cluster_reads::workspace(std::string name) {
  workspace_facts out;
  k8s::object_key key;
  key.name = std::move(name);
  auto got = co_await api_.get(k8s::resources::namespaces(), std::move(key));
  if (!got && got.error().code == k8s::errc::not_found) co_return out;
  if (!got) co_return got.error();
  const json::object* meta = object_at(*got, "metadata");
  const bool going = !text_of(meta, "deletionTimestamp").empty() ||
                     text_of(object_at(*got, "status"), "phase") == "Terminating";
  out.is = going ? workspace_facts::state::terminating : workspace_facts::state::present;
  const json::object* annotations = meta ? object_at(*meta, "annotations") : nullptr;
  out.owner = text_of(annotations, names::owner);
  out.version = text_of(meta, "resourceVersion");
  co_return out;
}

awaitable<k8s::result<std::optional<known_release>>> cluster_reads::release(
    std::string ns, std::string name, std::optional<known_release> known) {
  std::optional<known_release> out;
  // Another client may prune what was listed a moment ago.
  for (int looks = 0; looks < 3; ++looks) {
    k8s::list_options options;
    options.ns = records_.ns.empty() ? ns : records_.ns;
    options.label_selector = "name=" + name + ",owner=helm";
    options.metadata_only = true;
    k8s::list_pages pages(api_, collection_of(records_.driver), std::move(options));
    listed_record newest;
    for (;;) {
      auto page = co_await pages.next();
      if (!page) co_return page.error();
      if (!*page) break;
      const json::array* items = k8s::items_of(**page);
      for (std::size_t i = 0; items && i < items->size(); ++i) {
        const json::object* item = (*items)[i].if_object();
        if (!item) continue;
        listed_record one = listed(*item, name);
        if (one.revision == 0) continue;
        if (newest.name.empty() || one.revision > newest.revision) newest = std::move(one);
      }
    }
    if (newest.name.empty()) co_return out;
    if (known && known->record == newest.name && known->version == newest.version) {
      out = std::move(known);
      co_return out;
    }
    k8s::object_key key;
    key.ns = records_.ns.empty() ? ns : records_.ns;
    key.name = newest.name;
    std::string place = release::place_of_record(api_, collection_of(records_.driver), key);
    reactor::work_memory::share within(
        reactor::work_memory_of(loop_),
        "a look at the release " + ns + "/" + name + " at " + api_.server(), look_waits);
    const k8s::resource& kind = collection_of(records_.driver);
    auto got = co_await api_.get_within(kind, key, within.most());
    if (!got && got.error().code == k8s::errc::over_budget) {
      const auto no_room = co_await apart::room_for(&within, apart::memory_share::unlimited);
      if (no_room) got.error().detail = no_room->text;
      if (!no_room) got = co_await api_.get(kind, key);
    }
    if (!got && got.error().code == k8s::errc::not_found) continue;
    if (!got) co_return got.error();
    // What was read, if another client wrote it since it was listed.
    stored_release stored;
    stored.of = listed(*got, name);
    stored.text = text_of(object_at(*got, "data"), "release");
    stored.kind = records_.driver;
    stored.ns = ns;
    out = co_await read_stored(loop_, std::move(stored), std::move(place), &within);
    co_return out;
  }
  co_return out;
}

awaitable<k8s::result<std::vector<workload_facts>>> cluster_reads::workloads(std::string ns,
                                                                             std::string release) {
  std::vector<workload_facts> out;
  for (const workload_kind& kind : workload_kinds) {
    k8s::list_options options;
    options.ns = ns;
    k8s::resource r{std::string(kind.group), "v1", std::string(kind.plural), std::string(kind.kind),
                    true};
    k8s::list_pages pages(api_, std::move(r), std::move(options));
    for (;;) {
      auto page = co_await pages.next();
      if (!page && kind.of_release_only && page.error().code == k8s::errc::forbidden) break;
      if (!page) co_return page.error();
      if (!*page) break;
      const json::array* items = k8s::items_of(**page);
      for (std::size_t i = 0; items && i < items->size(); ++i) {
        const json::object* item = (*items)[i].if_object();
        const json::object* meta = item ? object_at(*item, "metadata") : nullptr;
        if (!meta || (kind.of_release_only && release_of(*meta) != release)) continue;
        out.push_back(workload(kind, *item, text_of(meta, "name")));
      }
    }
  }
  co_return out;
}

awaitable<k8s::result<std::vector<claimant>>> cluster_reads::objects_called(k8s::resource kind,
                                                                            std::string name) {
  std::vector<claimant> out;
  k8s::list_options options;
  options.field_selector = k8s::field_is("metadata.name", name);
  const std::string kind_name = kind.kind;
  k8s::list_pages pages(api_, std::move(kind), std::move(options));
  for (;;) {
    auto page = co_await pages.next();
    if (!page && page.error().code == k8s::errc::not_found) co_return out;
    if (!page) co_return page.error();
    if (!*page) co_return out;
    const json::array* items = k8s::items_of(**page);
    for (std::size_t i = 0; items && i < items->size(); ++i) {
      const json::object* item = (*items)[i].if_object();
      const json::object* meta = item ? object_at(*item, "metadata") : nullptr;
      if (!meta || text_of(meta, "name") != name) continue;
      claimant c;
      c.who = {kind_name, {text_of(meta, "namespace"), name}};
      if (auto at = reactor::parse_rfc3339(text_of(meta, "creationTimestamp"))) c.created = *at;
      out.push_back(std::move(c));
    }
  }
}

awaitable<std::vector<std::string>> cluster_reads::missing(std::vector<checked_object> objects) {
  std::vector<std::string> out;
  std::map<std::string, std::set<std::string>> there;  // by kind
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string kind = objects[i].kind;
    if (!there.contains(kind) && !unknown.contains(kind)) {
      k8s::list_options options;
      options.ns = objects[i].ns;
      options.metadata_only = true;
      k8s::list_pages pages(api_, collection_of(objects[i]), std::move(options));
      std::set<std::string>& names = there[kind];
      for (;;) {
        auto page = co_await pages.next();
        if (!page) {
          unknown.insert(kind);
          break;
        }
        if (!*page) break;
        const json::array* items = k8s::items_of(**page);
        for (std::size_t n = 0; items && n < items->size(); ++n)
          if (const json::object* item = (*items)[n].if_object())
            names.insert(text_of(object_at(*item, "metadata"), "name"));
      }
    }
    if (!unknown.contains(kind) && !there[kind].contains(objects[i].name))
      out.push_back(objects[i].text());
  }
  co_return out;
}

}  // namespace helm::placed
