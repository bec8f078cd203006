#include "helm/placed/cluster_view.hpp"

#include "formats/digest.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace helm::placed {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds refused_again = 10min;
constexpr std::string_view of_helm = "app.kubernetes.io/managed-by=Helm", by_release = "release",
                           by_namespace = "namespace";

/// Kinds whose objects say how many of them are available; all of a namespace count, not only those
/// that Helm made.
constexpr std::array workload_plurals = {std::string_view("deployments"),
                                         std::string_view("statefulsets"),
                                         std::string_view("daemonsets"), std::string_view("jobs")};

bool is_workload(std::string_view plural) noexcept {
  return std::ranges::find(workload_plurals, plural) != workload_plurals.end();
}

k8s::resource workload_resource(std::string_view plural) {
  k8s::resource r;
  r.group = plural == "jobs" ? "batch" : "apps";
  r.version = "v1";
  r.plural = plural;
  return r;
}

template <class View>
bool is_trusted(const k8s::informer<View>& i) {
  return i.is_synced() && !i.is_old() && i.sync_problem().empty();
}

/// "ns/sh.helm.release.v1.web" of the record "sh.helm.release.v1.web.v3"; empty for no record.
std::string release_key(std::string_view ns, std::string_view record) {
  const auto end = record.rfind(".v");
  return end == record.npos ? std::string()
                            : std::string(ns) + "/" + std::string(record.substr(0, end));
}

/// "web" of that record.
std::string_view release_in(std::string_view record) {
  static const std::string before = release::storage_name("", 0);
  const std::string_view prefix = std::string_view(before).substr(0, before.rfind(".v"));
  if (!record.starts_with(prefix)) return {};
  record.remove_prefix(prefix.size());
  return record.substr(0, record.rfind(".v"));
}

k8s::object_meta without_unread_fields(k8s::object_meta meta) {
  meta.labels = {};
  meta.owner = {};
  meta.finalizers = {};
  return meta;
}

}  // namespace

seen_namespace seen_namespace::parse(k8s::wire_value object) {
  static const k8s::annotation_filter wanted{false, {names::owner}};
  seen_namespace out;
  out.meta = without_unread_fields(k8s::parse_meta(object, wanted));
  return out;
}

seen_record seen_record::parse(k8s::wire_value object) {
  seen_record out;
  out.meta = k8s::parse_meta(object);
  if (const k8s::interned* status = out.meta.labels.find("status")) out.status = *status;
  out.meta = without_unread_fields(std::move(out.meta));
  return out;
}

seen_object seen_object::parse(k8s::wire_value object) {
  seen_object out;
  out.meta = without_unread_fields(k8s::parse_meta(object));
  out.at = out.meta.resource_version;
  return out;
}

cluster_view::cluster_view(reactor::loop& l, k8s::client& api, options o)
    : loop_(l),
      api_(api),
      options_(std::move(o)),
      namespaces_(l, api, watch_of(k8s::resources::namespaces(), {}, {})),
      records_(l, api,
               watch_of(collection_of(options_.records.driver), options_.records.ns, "owner=helm")),
      tasks_(l) {
  namespaces_.on_change([this](const seen_namespace* before, const seen_namespace* now) {
    options_.namespace_changed((now ? now : before)->meta.name.view());
  });
  records_.add_index(std::string(by_release),
                     [](const seen_record& r, std::vector<k8s::interned>& values) {
                       values.emplace_back(release_key(r.meta.ns.view(), r.meta.name.view()));
                     });
  records_.on_change([this](const seen_record* before, const seen_record* now) {
    const k8s::object_meta& meta = (now ? now : before)->meta;
    options_.release_changed(meta.ns.view(), release_in(meta.name.view()));
  });
}

cluster_view::~cluster_view() = default;

k8s::informer_options cluster_view::watch_of(k8s::resource kind, std::string ns,
                                             std::string labels) const {
  k8s::informer_options o;
  o.collection = std::move(kind);
  o.ns = std::move(ns);
  o.label_selector = std::move(labels);
  o.metadata_only = true;
  o.limits = options_.limits;
  o.log = options_.log;
  return o;
}

void cluster_view::start() {
  namespaces_.start();
  records_.start();
  tasks_.start("what releases are made of", look_after());
}

awaitable<void> cluster_view::synced(reactor::steady_time deadline) {
  (void)co_await namespaces_.synced(deadline);
  (void)co_await records_.synced(deadline);
}

awaitable<void> cluster_view::stop() {
  stopped_ = true;
  co_await tasks_.cancel_and_join();
  co_await namespaces_.stop();
  co_await records_.stop();
  co_await namespaces_.forget();
  co_await records_.forget();
  for (auto& [plural, kind] : kinds_) {
    if (!kind.view) continue;
    co_await kind.view->stop();
    co_await kind.view->forget();
  }
}

/// A view that is lost tells nothing by itself: the keeper asks for what rests because of it.
awaitable<void> cluster_view::look_after() {
  for (;;) {
    co_await loop_.sleep_for(options_.check_interval);
    bool trusted = is_trusted(namespaces_) && is_trusted(records_);
    for (const auto& [plural, kind] : kinds_)
      trusted = trusted && (kind.refused || (kind.view && is_trusted(*kind.view)));
    if (!trusted) options_.untrusted();
    std::vector<k8s::resource> again;
    for (const auto& [plural, kind] : kinds_)
      if (kind.refused) again.push_back(kind.resource);
    for (const k8s::resource& kind : again) watch(kind);
  }
}

std::optional<workspace_facts> cluster_view::workspace(const std::string& name) const {
  if (stopped_ || !is_trusted(namespaces_)) return std::nullopt;
  workspace_facts out;
  const seen_namespace* is = namespaces_.find({{}, name});
  if (!is) return out;
  out.is =
      is->meta.deleting() ? workspace_facts::state::terminating : workspace_facts::state::present;
  out.owner = std::string(is->meta.annotations.get(names::owner));
  out.version = is->meta.resource_version.text();
  return out;
}

std::optional<listed_record> cluster_view::newest(const std::string& ns,
                                                  const std::string& release) const {
  if (stopped_ || !is_trusted(records_)) return std::nullopt;
  listed_record out;
  const std::string& in = options_.records.ns.empty() ? ns : options_.records.ns;
  records_.objects().each_by(
      by_release, release_key(in, release::storage_name(release, 1)), [&](const seen_record& r) {
        const int revision = release::revision_in(r.meta.name.view(), release).value_or(0);
        if (revision <= out.revision) return;
        out.name = r.meta.name.str();
        out.version = r.meta.resource_version.text();
        out.status = r.status.str();
        out.revision = revision;
      });
  return out;
}

cluster_view::watched_kind& cluster_view::watch(const k8s::resource& kind) {
  watched_kind& is = kinds_[kind.plural];
  if (is.resource.plural.empty()) is.resource = kind;
  if (!is.view && !stopped_ && loop_.now() >= is.look_again) {
    is.look_again = loop_.now() + refused_again;
    tasks_.start("look at " + kind.plural, begin(kind));
  }
  return is;
}

/// Watches a kind that may be listed.
awaitable<void> cluster_view::begin(k8s::resource kind) {
  k8s::list_options one;
  one.limit = 1;
  one.metadata_only = true;
  auto listed = co_await api_.list(kind, std::move(one));
  watched_kind& is = kinds_[kind.plural];
  is.refused = !listed && (listed.error().code == k8s::errc::forbidden ||
                           listed.error().code == k8s::errc::not_found);
  if (!listed && !is.refused) is.look_again = loop_.now();
  if (!listed) co_return;
  const bool all = is_workload(kind.plural);
  const std::string labels(all ? std::string_view() : of_helm);
  is.view =
      std::make_unique<informer<seen_object>>(loop_, api_, watch_of(std::move(kind), {}, labels));
  is.view->add_index(std::string(by_namespace),
                     [](const seen_object& o, std::vector<k8s::interned>& values) {
                       values.emplace_back(o.meta.ns);
                     });
  is.view->on_change([this, all](const seen_object* before, const seen_object* now) {
    if (!now && options_.object_gone) options_.object_gone(before->meta.ns.view());
    if (before && now && !all) return;  // it is there, whatever is in it
    options_.namespace_changed((now ? now : before)->meta.ns.view());
  });
  is.view->start();
}

std::optional<std::vector<checked_object>> cluster_view::unseen(
    const std::vector<checked_object>& objects) {
  std::vector<checked_object> out;
  bool known = !stopped_;
  for (const checked_object& o : objects) {
    const watched_kind& kind = watch(collection_of(o));
    if (kind.refused) continue;
    known = known && kind.view && is_trusted(*kind.view);
    if (known && !kind.view->find({o.ns, o.name})) out.push_back(o);
  }
  if (!known) return std::nullopt;
  return out;
}

std::string cluster_view::workloads_at(const std::string& ns) {
  std::string out;
  bool known = !stopped_;
  for (const std::string_view plural : workload_plurals) {
    const watched_kind& kind = watch(workload_resource(plural));
    if (kind.refused) continue;
    known = known && kind.view && is_trusted(*kind.view);
    if (!known) continue;
    std::vector<std::string> all;
    kind.view->objects().each_by(by_namespace, ns, [&](const seen_object& o) {
      all.push_back(o.meta.name.str() + "@" + o.at.text());
    });
    std::ranges::sort(all);
    for (const std::string& one : all) out += " " + std::string(plural) + "/" + one;
  }
  return known ? formats::sha256_hex(out) : std::string();
}

}  // namespace helm::placed
