#include "helm/tenants/supply/chart_supply.hpp"

#include "helm/placed/plan/chart_version.hpp"
#include "helm/sources/chart_registry.hpp"
#include "helm/sources/locate.hpp"
#include "helm/sources/provenance.hpp"
#include "helm/sources/repository.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/task_group.hpp"
#include "registry/reference.hpp"
#include "registry/url.hpp"
#include "registry/web.hpp"

#include <algorithm>

namespace helm::tenants {
namespace {

using reactor::awaitable;
using requested = chart_requests::next;

/// More charts than anybody's policies name; what is kept of an index is one chart's versions.
constexpr std::size_t most_indexes = 64;

/// An index of 14.5 MB is known. An archive is held twice for a moment: as it comes and as one
/// text.
constexpr std::size_t most_index_bytes = 24u << 20, most_archive_bytes = 8u << 20;
/// Of archives, where charts are prepared in child processes.
constexpr std::size_t archives_bytes = 8u << 20;
/// Of the names in a key, which may be many.
constexpr std::size_t most_signer_bytes = 200;
/// What is kept of an index while it is read: the versions of one chart, with all that is said of
/// them. The largest public one has a few thousand.
constexpr std::uint64_t index_memory_bytes = 32u << 20;

chart_problem not_loaded(std::string text) {
  return {chart_problem::kind::not_loaded, std::move(text)};
}

chart_problem no_such_version(const chart_coordinates& c) {
  return {chart_problem::kind::version_not_found,
          c.version.empty()
              ? "chart " + c.name + " has no stable version in " + registry::without_user(c.repo)
              : "chart " + c.name + " has no version " + c.version + " in " +
                    registry::without_user(c.repo)};
}

std::string base_of(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

}  // namespace

/// What is there while it is in use.
struct chart_supply::network {
  network(reactor::loop& l, registry::environment env) : web(l, std::move(env)), tasks(l) {}
  registry::web web;
  reactor::task_group tasks;
};

chart_supply::chart_supply(reactor::loop& l, options o)
    : loop_(l),
      options_(std::move(o)),
      cache_(std::make_shared<chart_cache>(
          reactor::foreign_workers_of(l) ? archives_bytes : options_.cache_bytes,
          service_chart_limits)),
      changed_(l) {}

chart_supply::~chart_supply() = default;

chart_supply::network& chart_supply::online() {
  if (!network_) network_ = std::make_unique<network>(loop_, options_.environment);
  return *network_;
}

awaitable<void> chart_supply::leave() {
  if (--users_ > 0 || !network_) co_return;
  const std::unique_ptr<network> last = std::move(network_);
  co_await last->tasks.cancel_and_join();
  co_await last->web.stop();
  requests_ = {};  // what was being fetched is not any more
  changed_.wake_all();
}

awaitable<supplied_chart> chart_supply::get(chart_coordinates c) {
  for (;;) {
    const chart_requests::answer is = requests_.chart(c, loop_.now());
    supplied_chart out;
    out.why = is.why;
    if (is.is == requested::failed) co_return out;
    if (is.is == requested::use) {
      const auto digest = digests_.find(key_of(c));
      if (digest != digests_.end()) out.chart = cache_->find(digest->second);
      if (out.chart) {
        out.version = out.chart->meta().version;
        out.digest = digest->second;
        co_return out;
      }
      requests_.chart_gone(c);
      continue;
    }
    if (is.is == requested::fetch)
      online().tasks.start("fetch chart " + reactor::redact(c.text()), fetch(c));
    // It may be there already, or may have failed at once.
    const chart_requests::answer now = requests_.chart(c, loop_.now());
    if (now.is == requested::wait) (void)co_await changed_.wait();
  }
}

awaitable<void> chart_supply::fetch(chart_coordinates c) {
  const supplied_chart got = co_await load(c);
  const bool came = got.chart != nullptr;
  if (came)
    requests_.chart_came(c, loop_.now());
  else
    requests_.chart_failed(c, got.why, loop_.now());
  reactor::metric_labels labels;
  labels["result"] = came ? "success" : "failure";
  if (options_.metrics)
    options_.metrics->get_counter(tenant_metrics::chart_loads, std::move(labels)).add();
  if (came)
    options_.log.info("chart loaded", {{"chart", reactor::redact(c.text())},
                                       {"version", got.chart->meta().version}});
  else
    options_.log.warning("chart cannot be had",
                         {{"chart", reactor::redact(c.text())}, {"why", got.why.text}});
  changed_.wake_all();
}

awaitable<supplied_chart> chart_supply::load(chart_coordinates c) {
  supplied_chart out;
  fetched got = co_await get_part(c, part::archive);
  if (!got.came) {
    out.why = std::move(got.why);
    co_return out;
  }
  const std::string version = got.version;
  unpacked_chart u = co_await unpack_apart(loop_, cache_, std::move(got.bytes));
  if (!u.chart) {
    out.why = not_loaded(reactor::redact(c.text()) + ": " + u.problem);
    co_return out;
  }
  const metadata& is = u.chart->meta();
  if (is.name != base_of(c.name) || !same_version(version, is.version)) {
    out.why = not_loaded("the archive of " + c.name + " " + version + " holds " + is.name + " " +
                         is.version);
    co_return out;
  }
  digests_.insert_or_assign(key_of(c), u.digest);
  if (digests_.size() > chart_requests::most) digests_.erase(digests_.begin());
  out.chart = std::move(u.chart);
  co_return out;
}

awaitable<outcome<std::string>> chart_supply::signer(chart_coordinates c, std::string digest,
                                                     std::string keys) {
  const fetched prov = co_await get_part(c, part::provenance);
  if (!prov.came) co_return problem{"its provenance cannot be had: " + prov.why.text};
  const auto check = [](const std::string& file, const std::string& digest, const std::string& text,
                        const std::string& keys) -> outcome<std::string> {
    const auto by = sources::check_signer(file, digest, text, keys);
    if (!by) return by.error();
    std::string names;
    for (const std::string& one : by->identities) names += (names.empty() ? "" : ", ") + one;
    return reactor::printable(names, most_signer_bytes) + ", key " + by->fingerprint;
  };
  outcome<std::string> said = co_await loop_.offload_foreign(check, prov.file, std::move(digest),
                                                             prov.bytes, std::move(keys));
  co_return said;
}

awaitable<chart_supply::source> chart_supply::source_of(chart_coordinates c) {
  source out;
  if (registry::is_oci(c.repo)) {
    out.url = registry::join_url(c.repo, c.name);
    out.version = c.version;
    co_return out;
  }
  const auto index = co_await index_of(c.repo, c.name, out.why);
  if (!index) {
    if (!options_.without_index || c.version.empty()) co_return out;
    const auto beside = registry::resolve_reference(c.repo, c.name + "-" + c.version + ".tgz");
    if (beside) out.url = *beside;
    out.version = c.version;
    co_return out;
  }
  if (index->empty()) {
    out.why = not_loaded("there is no chart " + c.name + " in " + registry::without_user(c.repo));
    co_return out;
  }
  std::vector<std::string> versions;
  for (const offer& o : *index) versions.push_back(o.version);
  const std::optional<std::string> chosen = choose_version(versions, c.version);
  if (!chosen) {
    out.why = no_such_version(c);
    co_return out;
  }
  const offer what = *std::ranges::find(*index, *chosen, &offer::version);
  const auto at = registry::resolve_reference(c.repo, what.url);
  if (what.url.empty() || !at) {
    out.why = not_loaded("chart " + c.name + " " + *chosen + " has no address in " +
                         registry::without_user(c.repo));
    co_return out;
  }
  out.url = *at;
  out.digest = what.digest;
  // An address in a registry names its tag.
  if (!registry::is_oci(*at)) out.version = *chosen;
  co_return out;
}

awaitable<chart_supply::fetched> chart_supply::get_part(chart_coordinates c, part what) {
  const source at = co_await source_of(c);
  fetched out;
  out.why = at.why;
  if (registry::is_oci(at.url)) {
    out = co_await from_registry(at.url, at.version, what);
    if (out.why.is == chart_problem::kind::version_not_found) out.why = no_such_version(c);
    co_return out;
  }
  auto file = sources::archive_name_of(at.url);
  if (at.url.empty()) co_return out;
  if (!file) {
    out.why = not_loaded(file.error().text);
    co_return out;
  }
  const bool is_signature = what == part::provenance;
  out = co_await from_web(c.repo, at.url + (is_signature ? ".prov" : ""),
                          is_signature ? sources::provenance_bytes_limit : most_archive_bytes);
  out.version = at.version;
  out.file = *std::move(file);
  if (!out.came) {
    if (!at.why.text.empty()) out.why = at.why;  // that there is no index says more
    co_return out;
  }
  if (is_signature) co_return out;
  auto fits = sources::check_digest(at.digest, c.name + "-" + at.version, out.bytes);
  if (fits) co_return out;
  out.came = false;
  out.why = not_loaded(fits.error().text);
  co_return out;
}

awaitable<chart_supply::fetched> chart_supply::from_web(std::string repo, std::string url,
                                                        std::size_t most_bytes) {
  fetched out;
  auto known = co_await sources::load_repositories(loop_, options_.where.repository_config);
  sources::repository_entry from;
  from.url = repo;
  if (known)
    for (const sources::repository_entry& e : known->entries)
      if (registry::same_url(e.url, repo)) from = e;
  auto bytes = co_await sources::fetch(online().web, std::move(from), url, most_bytes);
  if (!bytes) {
    out.why = not_loaded(bytes.error().text);
    co_return out;
  }
  out.bytes = std::move(*bytes);
  out.came = true;
  co_return out;
}

/// With an empty version the reference names a tag already.
awaitable<chart_supply::fetched> chart_supply::from_registry(std::string reference,
                                                             std::string version, part what) {
  fetched out;
  sources::chart_origin anonymous;
  auto at = registry::parse_oci_reference(reference);
  if (!at) {
    out.why = not_loaded(at.error().text);
    co_return out;
  }
  sources::chart_registry r(loop_, online().web,
                            sources::registry_options_of(options_.where, anonymous, at->registry));
  if (at->tag.empty() && at->digest.empty()) {
    registry::oci_reference all = *at;
    auto versions = co_await r.versions(std::move(all));
    if (!versions) {
      out.why = not_loaded(versions.error().text);
      co_return out;
    }
    const std::optional<std::string> chosen = choose_version(*versions, version);
    if (!chosen) {
      out.why.is = chart_problem::kind::version_not_found;
      co_return out;
    }
    at->tag = registry::tag_of(*chosen);
  }
  sources::wanted_parts wanted;
  wanted.chart = what == part::archive;
  wanted.provenance = what == part::provenance;
  wanted.archive_bytes = most_archive_bytes;
  auto pulled = co_await r.pull(*at, wanted);
  auto file = sources::archive_name_of(*at);
  if (!pulled || !file) {
    out.why = not_loaded(pulled ? file.error().text : pulled.error().text);
    co_return out;
  }
  out.version = pulled->meta.version;
  out.bytes = std::move(what == part::archive ? pulled->archive : pulled->provenance);
  out.file = *std::move(file);
  out.came = true;
  co_return out;
}

awaitable<std::shared_ptr<const chart_supply::offers>> chart_supply::index_of(std::string repo,
                                                                              std::string name,
                                                                              chart_problem& why) {
  const std::string part = repo + '\n' + name;
  for (;;) {
    const chart_requests::answer is = requests_.index(part, loop_.now());
    if (is.is == requested::failed) {
      why = is.why;
      co_return nullptr;
    }
    if (is.is == requested::use) {
      const auto there = indexes_.find(part);
      if (there != indexes_.end()) co_return there->second;
      requests_.index_gone(part);
      continue;
    }
    if (is.is == requested::fetch) co_await fetch_index(repo, name, is.etag);
    if (is.is == requested::wait) (void)co_await changed_.wait();
  }
}

awaitable<void> chart_supply::fetch_index(std::string repo, std::string name, std::string etag) {
  const std::string part = repo + '\n' + name;
  const std::string shown = registry::without_user(repo);
  const auto failed = [&](const std::string& why) {
    requests_.index_failed(
        part, not_loaded(shown + " is no chart repository or cannot be reached: " + why),
        loop_.now());
    changed_.wake_all();
  };
  auto at = registry::resolve_reference(repo, "index.yaml");
  if (!at) {
    failed(at.error().text);
    co_return;
  }
  auto known = co_await sources::load_repositories(loop_, options_.where.repository_config);
  sources::repository_entry from;
  from.url = repo;
  if (known)
    for (const sources::repository_entry& e : known->entries)
      if (registry::same_url(e.url, repo)) from = e;
  if (!indexes_.contains(part)) etag.clear();  // what it names is not here any more
  index_job job;
  job.chart = name;
  job.shown = shown;
  job.memory_bytes = index_memory_bytes;
  index_stream index(loop_, std::move(job));
  sources::body_taker into = [&index](std::string piece) { return index.put(std::move(piece)); };
  auto got =
      co_await sources::fetch_changed(online().web, std::move(from), *at, std::move(etag),
                                      most_index_bytes, sources::download_timeout, std::move(into));
  if (!got) {
    failed(got.error().text);
    co_return;
  }
  if (!got->unchanged) {
    index_job::answer read = co_await index.finish();
    if (!read.problem.empty()) {
      failed(read.problem);
      co_return;
    }
    auto all = std::make_shared<const offers>(std::move(read.offers));
    if (indexes_.size() >= most_indexes && !indexes_.contains(part))
      indexes_.erase(indexes_.begin());
    indexes_.insert_or_assign(part, std::move(all));
  }
  requests_.index_came(part, std::move(got->etag), loop_.now());
  changed_.wake_all();
}

}  // namespace helm::tenants
