#include "helm/upgrades/cluster_reading.hpp"

#include "formats/json/member.hpp"
#include "helm/charts/chart.hpp"
#include "helm/objects/manifest_job.hpp"
#include "helm/placed/ledger.hpp"
#include "helm/placed/noted_release.hpp"
#include "helm/release/record_store.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/skew/skew_policy.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace helm::upgrades {
namespace {

namespace json = boost::json;
using formats::text_member;
using reactor::awaitable;
using removals::finding;
using removals::object_owner;
using removals::seen_object;
using records = release::cluster_records;

/// Objects of a page, as their metadata or whole; a page of more bytes is asked for in parts.
constexpr std::uint32_t metadata_per_page = 500, objects_per_page = 50;
constexpr std::uint64_t page_bytes = 4u << 20;
/// Of one release record, unpacked.
constexpr std::uint64_t record_bytes = 16u << 20;
/// An API server of a large cluster counts a great deal.
constexpr std::size_t metrics_bytes = 16u << 20;
constexpr std::size_t told_every = 10'000, most_unread_records = 20;
/// How often one list is begun. A server keeps the version that a list shows for some minutes.
constexpr int most_beginnings = 3;

/// The revision of a release whose manifest the next upgrade of it starts from.
struct newest_record {
  int revision = 0;
  std::string status;
  bool is_behind(int other, const std::string& other_status) const {
    const bool deployed = status == "deployed", other_deployed = other_status == "deployed";
    return deployed != other_deployed ? other_deployed : other > revision;
  }
};
using release_key = std::pair<std::string, std::string>;  // namespace of the record, name

class reader {
public:
  reader(reactor::loop& l, k8s::client& api, k8s::discovery& served, std::string cluster,
         removals::findings& into, reading_options options)
      : loop_(l), api_(api), served_(served), into_(into), options_(std::move(options)) {
    out_.cluster = std::move(cluster);
  }

  awaitable<cluster_reading> read() {
    auto version = co_await served_.recent_version();
    if (!version) {
      miss("its version", version.error());
      co_return std::move(out_);
    }
    auto groups = co_await served_.refresh();
    if (!groups) {
      miss("what it serves", groups.error());
      co_return std::move(out_);
    }
    out_.version = version->git_version;
    co_await read_notes();
    co_await read_releases(records::driver::secrets);
    co_await read_releases(records::driver::config_maps);
    const std::vector<removals::family> all = removals::families(into_.minor());
    for (std::size_t i = 0; i < all.size(); ++i) {
      removals::family one = all[i];
      co_await read_live(std::move(one));
    }
    co_await read_definitions();
    for (std::string kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"})
      co_await read_webhooks(std::move(kind));
    co_await read_requests();
    co_return std::move(out_);
  }

private:
  using taker = std::function<void(const json::object&)>;
  using asked_services = std::vector<std::pair<finding, removals::webhook_service>>;

  void miss(const std::string& what, const k8s::fault& why,
            unseen::weight is = unseen::weight::needed) {
    out_.not_seen.push_back({what, reactor::reason_of(why), is});
  }
  void add(seen_object one) {
    one.owner = placed(one.owner);
    into_.add(out_.cluster, one);
  }
  /// The Tenant of a release that the service placed, else the release itself.
  object_owner placed(const object_owner& of) const {
    const auto noted = of.is == object_owner::kind::release ? owners_.find(of.name) : owners_.end();
    if (noted == owners_.end()) return of;
    return {object_owner::kind::placed, noted->second};
  }

  /// Calls `take` for each object of a collection. A list whose version the server forgets in the
  /// middle (410) begins again, so that `take` may get an object twice. What stops it is told.
  awaitable<void> each(k8s::resource of, k8s::list_options how, taker take) {
    const std::string name = of.plural;
    const std::size_t counted_before = out_.objects;
    how.managed_fields = true;  // what is found names the object's managers
    std::size_t seen = 0;
    for (int beginning = 1;; ++beginning) {
      seen = 0;
      out_.objects = counted_before;
      auto ended = co_await each_once(of, how, take, seen);
      if (ended) co_return;
      if (ended.error().code == k8s::errc::gone && beginning < most_beginnings) continue;
      miss(name + (seen ? " after " + std::to_string(seen) + " objects" : ""), ended.error());
      co_return;
    }
  }

  awaitable<k8s::result<void>> each_once(k8s::resource of, k8s::list_options how, const taker& take,
                                         std::size_t& seen) {  // borrowed
    const std::string name = of.plural;
    k8s::list_pages pages(api_, std::move(of), std::move(how));
    pages.allow(page_bytes);
    for (;;) {
      auto page = co_await pages.next();
      if (!page) co_return page.error();
      if (!*page) co_return k8s::result<void>();
      const json::array* items = k8s::items_of(**page);
      const std::size_t before = seen;
      for (std::size_t i = 0; items && i < items->size(); ++i, ++seen)
        if (const json::object* item = (*items)[i].if_object()) take(*item);
      if (options_.tell && seen / told_every != before / told_every)
        options_.tell(out_.cluster + ": " + std::to_string(seen) + " " + name);
    }
  }

  /// The same of whole objects, which may be large.
  awaitable<void> each_whole(k8s::resource of, taker take) {
    k8s::list_options how;
    how.limit = objects_per_page;
    co_await each(std::move(of), std::move(how), std::move(take));
  }

  /// The collection of a kind by the first version that is served; none where no version is.
  awaitable<std::optional<k8s::resource>> collection(std::string kind,
                                                     std::vector<std::string> versions) {
    for (const std::string& version : versions) {
      if (!served_.has_api_version(version)) continue;
      std::string asked = version;
      auto all = co_await served_.resources_of(std::move(asked));
      if (!all && all.error().code == k8s::errc::not_found) continue;
      if (!all) {
        miss(removals::resource_of(kind) + " of " + version, all.error());
        continue;
      }
      const auto found = std::ranges::find(*all, kind, &k8s::resource::kind);
      if (found != all->end()) co_return *found;
    }
    co_return std::nullopt;
  }

  awaitable<void> read_notes() {
    placed::ledger notes(api_, options_.notes_ns);
    auto all = co_await notes.read_all();
    if (!all) {
      miss("which Tenant has a release", all.error(), unseen::weight::extra);
      co_return;
    }
    for (const auto& [key, text] : *all) {
      std::string owner = placed::read_noted(text).owner;
      const std::size_t dot = key.find('.'), slash = owner.find('/');
      if (dot == key.npos || slash == owner.npos) continue;
      owner[slash] = ' ';
      owners_[key.substr(0, dot) + "/" + key.substr(dot + 1)] = std::move(owner);
    }
  }

  awaitable<void> read_releases(records::driver kind) {
    const k8s::resource& of = kind == records::driver::secrets ? k8s::resources::secrets()
                                                               : k8s::resources::config_maps();
    k8s::list_options how;
    how.label_selector = "owner=helm";
    how.limit = metadata_per_page;
    how.metadata_only = true;
    std::map<release_key, newest_record> newest;
    k8s::resource listed = of;
    taker note = [&](const json::object& item) {
      const json::value* metadata = item.if_contains("metadata");
      if (!metadata || !metadata->is_object()) return;
      const json::object& m = metadata->get_object();
      const std::string name = text_member(m, "labels", "name"),
                        status = text_member(m, "labels", "status"),
                        version = text_member(m, "labels", "version");
      int revision = 0;
      std::from_chars(version.data(), version.data() + version.size(), revision);
      if (name.empty() || revision <= 0 || status == "superseded" || status == "uninstalled")
        return;
      newest_record& known = newest[{text_member(m, "namespace"), name}];
      if (known.revision == 0 || known.is_behind(revision, status)) known = {revision, status};
    };
    co_await each(std::move(listed), std::move(how), std::move(note));
    for (const auto& [key, record] : newest) {
      release_key of_record = key;
      co_await read_record(std::move(of_record), record.revision, kind);
    }
    if (unread_ > most_unread_records)
      out_.not_seen.push_back({std::to_string(unread_ - most_unread_records) + " more records",
                               "the reasons are as those above"});
    unread_ = 0;
  }

  /// A record's author chooses what it says: it is shown, and nothing is done by it.
  awaitable<void> read_record(release_key key, int revision, records::driver kind) {
    const std::string name = key.first + "/" + release::storage_name(key.second, revision);
    records store(loop_, api_, key.first, kind, std::nullopt, record_bytes);
    auto read = co_await store.get(std::move(key.second), revision);
    if (!read) {
      if (read.error().code != problem_code::not_found) unread(name, read.error().text);
      co_return;
    }
    std::string manifest = std::move(read->manifest);
    for (const release::recorded_hook& hook : read->hooks)
      manifest += "\n---\n" + hook.what.content;
    const object_owner owner{object_owner::kind::release, read->ns + "/" + read->name};
    const std::string ns = read->ns;
    auto objects =
        co_await objects::objects_apart(loop_, std::move(manifest), service_chart_limits);
    if (!objects) {
      unread(name, objects.error().text);
      co_return;
    }
    ++out_.releases;
    const auto from = k8s::skew::parse_version(out_.version);
    if (const auto chart = read->origin; chart && from) {
      auto row =
          removals::of_chart(out_.cluster, placed(owner), owner.name,
                             {chart->name() + "-" + chart->meta.version, chart->meta.kube_version},
                             static_cast<int>(from->minor), into_.minor());
      if (row) into_.add(std::move(*row));
    }
    for (seen_object& one : removals::of_manifest(*objects, owner, ns, name)) add(std::move(one));
  }
  void unread(const std::string& record, std::string why) {
    if (++unread_ <= most_unread_records)
      out_.not_seen.push_back({"record " + record, std::move(why)});
  }

  void take_live(const json::object& item, const std::string& kind) {
    ++out_.objects;
    for (seen_object& one : removals::of_managers(item, kind, into_.minor())) add(std::move(one));
  }

  awaitable<void> read_live(removals::family of) {
    std::string kind = of.kind;
    auto found = co_await collection(std::move(kind), std::move(of.api_versions));
    if (!found) co_return;
    const auto api = removals::find(found->api_version(), of.kind);
    const bool goes =
        api && api->is_gone_in(into_.minor()) && removals::replacement(*api, into_.minor()).empty();
    k8s::list_options how;
    how.limit = metadata_per_page;
    how.metadata_only = true;
    const std::string api_version = found->api_version();
    taker take = [&](const json::object& item) {
      take_live(item, of.kind);
      if (goes) add(removals::of_object(item, of.kind, api_version));
    };
    k8s::resource listed = *found;
    co_await each(std::move(listed), std::move(how), std::move(take));
  }

  awaitable<void> read_definitions() {
    std::vector<std::string> versions = {"apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"};
    const std::string kind = "CustomResourceDefinition";
    std::string asked = kind;
    auto found = co_await collection(std::move(asked), std::move(versions));
    if (!found) co_return;
    asked_services asking;
    taker take = [&](const json::object& item) {
      take_live(item, kind);
      for (finding& one : removals::of_definition(out_.cluster, item)) into_.add(std::move(one));
      note_services(item, *found, asking);
    };
    co_await each_whole(*found, std::move(take));
    co_await look_for(std::move(asking));
  }

  awaitable<void> read_webhooks(std::string kind) {
    std::vector<std::string> versions = {"admissionregistration.k8s.io/v1",
                                         "admissionregistration.k8s.io/v1beta1"};
    auto found = co_await collection(std::move(kind), std::move(versions));
    if (!found) co_return;
    asked_services asking;
    taker take = [&](const json::object& item) { note_services(item, *found, asking); };
    co_await each_whole(*found, std::move(take));
    co_await look_for(std::move(asking));
  }

  void note_services(const json::object& item, const k8s::resource& of, asked_services& to) const {
    for (removals::webhook_service& s : removals::services_of(item)) {
      finding row = removals::of_missing_service(out_.cluster, of.kind, of.api_version(), item, s);
      row.owner = placed(row.owner);
      to.emplace_back(std::move(row), std::move(s));
    }
  }

  /// Adds the rows whose Service is not there.
  awaitable<void> look_for(asked_services asking) {
    for (auto& [row, service] : asking) {
      k8s::object_key key{service.ns, service.name};
      auto there = services_.find(key);
      if (there == services_.end()) {
        k8s::resource services{"", "v1", "services", "Service", true};
        auto got = co_await api_.get(std::move(services), key);
        if (!got && got.error().code != k8s::errc::not_found) {
          miss("service " + key.text() + " of " + row.object(), got.error());
          continue;
        }
        there = services_.emplace(key, got.has_value()).first;
      }
      if (!there->second) into_.add(std::move(row));
    }
  }

  awaitable<void> read_requests() {
    auto text = co_await api_.get_text("/metrics", metrics_bytes);
    if (!text) {
      miss("metrics", text.error(), unseen::weight::extra);
      co_return;
    }
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      const auto counted = removals::read_request(std::string_view(*text).substr(at, end - at));
      at = end + 1;
      if (!counted) continue;
      auto row = removals::of_request(out_.cluster, *counted, into_.minor());
      if (row) into_.add(std::move(*row));
    }
  }

  reactor::loop& loop_;
  k8s::client& api_;
  k8s::discovery& served_;
  removals::findings& into_;
  reading_options options_;
  cluster_reading out_;
  std::map<std::string, std::string> owners_;  // "namespace/release" → "Tenant default/acme"
  std::map<k8s::object_key, bool> services_;   // whether they are there
  std::size_t unread_ = 0;
};

}  // namespace

reactor::awaitable<cluster_reading> read_cluster(reactor::loop& l, k8s::client& api,
                                                 k8s::discovery& served, std::string cluster,
                                                 removals::findings& into,
                                                 reading_options options) {
  reader all(l, api, served, std::move(cluster), into, std::move(options));
  cluster_reading out = co_await all.read();
  co_return out;
}

}  // namespace helm::upgrades
