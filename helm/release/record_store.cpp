#include "helm/release/record_store.hpp"

#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "helm/go.hpp"
#include "helm/objects/manifest_reader.hpp"
#include "helm/release/own_records.hpp"
#include "helm/release/release_jobs.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/foreign_work.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"

#include <boost/json.hpp>

namespace helm::release {
namespace {

namespace json = boost::json;

// One record may fill a megabyte, and several operations read theirs at a time.
constexpr std::uint32_t records_per_page = 5;

std::int64_t unix_seconds(reactor::wall_time t) {
  return std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count();
}

const json::object* object_at(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}

}  // namespace

label_map stored_labels(const record& r, const std::string& stamp, std::int64_t now_seconds) {
  auto all = without_system_labels(r.labels);
  all["name"] = r.name;
  all["owner"] = "helm";
  all["status"] = to_string(r.state);
  all["version"] = std::to_string(r.revision);
  all[stamp] = std::to_string(now_seconds);
  return all;
}

const k8s::resource& cluster_records::collection() const {
  return kind_ == driver::secrets ? k8s::resources::secrets() : k8s::resources::config_maps();
}

/// A record's object, and the digest of its data.release.
struct cluster_records::body {
  json::object document;
  std::string digest;
};

/// What a record shares with others is written on the loop, the rest on a worker, which packs it.
awaitable<outcome<cluster_records::body>> cluster_records::body_of(const record& r,
                                                                   const char* stamp) {
  auto written = write_record_in_parts(r);
  if (!written) co_return written.error();
  struct packed_text {
    std::string text, digest;
  };
  const auto pack = [](const auto& text, bool twice) {
    std::string once = pack_record(text.whole());
    packed_text out{twice ? formats::encode_base64(once) : std::move(once), {}};
    out.digest = formats::sha256_hex(out.text);
    return out;
  };
  // twice, as every value of a Secret is
  packed_text packed = co_await loop_.offload(pack, std::move(*written), kind_ == driver::secrets);
  json::object labels;
  for (const auto& [name, value] : stored_labels(r, stamp, unix_seconds(loop_.wall())))
    labels[name] = value;
  body out;
  out.digest = std::move(packed.digest);
  json::object& o = out.document;
  o["apiVersion"] = "v1";
  o["kind"] = kind_ == driver::secrets ? "Secret" : "ConfigMap";
  o["metadata"] = json::object{{"name", storage_name(r.name, r.revision)},
                               {"namespace", ns_},
                               {"labels", std::move(labels)}};
  if (kind_ == driver::secrets) o["type"] = "helm.sh/release.v1";
  o["data"] = json::object{{"release", packed.text}};
  co_return out;
}

awaitable<outcome<sized_record>> cluster_records::record_of(const json::object& o,
                                                            std::uint64_t left) const {
  const auto* data = object_at(o, "data");
  const auto* text = data ? data->if_contains("release") : nullptr;
  if (!text || !text->is_string()) co_return problem{"it has no data.release"};
  std::string stored(text->as_string());
  std::string owner = "records of " + api_.server() + " " + ns_;
  if (of_) owner += "/" + of_->name;
  k8s::object_key key{ns_, objects::metadata_text(o, "name")};
  const std::string place = place_of_record(api_, collection(), key);
  owner = co_await reader_of_record(loop_, place, stored, std::move(owner));
  // What update() makes of a stranger's record is not ours.
  if (auto* children = reactor::foreign_workers_of(loop_); children && owner != own_records)
    children->own().removed(place);
  if (kind_ == driver::secrets) {
    auto bytes = formats::decode_base64(stored);
    if (!bytes) co_return problem{"data.release is not base64"};
    stored = std::move(*bytes);
  }
  auto all = co_await read_record_apart(loop_, std::move(stored), left, std::move(owner), share_);
  if (!all) co_return all.error();
  if (all->bytes > left) co_return all;
  record* const r = &all->what;
  const auto* meta = object_at(o, "metadata");
  if (const auto* labels = meta ? object_at(*meta, "labels") : nullptr)
    for (const auto& [name, value] : *labels)
      if (value.is_string()) r->labels[std::string(name)] = std::string(value.as_string());
  if (meta) r->uid = objects::metadata_text(o, "uid");
  if (!of_) co_return all;
  const auto revision = revision_in(objects::metadata_text(o, "name"), of_->name);
  if (!revision)
    co_return problem{"its name is none of a revision of " + of_->name, problem_code::not_found};
  if (ns_ != of_->ns && r->ns != of_->ns)
    co_return problem{"it is of a release in namespace " + r->ns, problem_code::not_found};
  r->name = of_->name;
  r->ns = of_->ns;
  r->revision = *revision;
  co_return all;
}

awaitable<outcome<record>> cluster_records::get(std::string name, int revision) {
  const auto stored = storage_name(name, revision);
  k8s::object_key key{ns_, stored};
  auto found = co_await api_.get(collection(), std::move(key));
  if (!found) {
    if (found.error().code == k8s::errc::not_found)
      co_return problem{not_found_text, problem_code::not_found};
    co_return problem{"get: failed to get " + quote(stored) + ": " +
                      reactor::reason_of(found.error())};
  }
  auto read = co_await record_of(*found, of_a_history_);
  if (read && read->bytes > of_a_history_)
    co_return problem{"get: " + quote(stored) + " takes more than " +
                      std::to_string(of_a_history_) + " bytes unpacked"};
  if (!read)
    co_return problem{"get: failed to decode data " + quote(stored) + ": " + read.error().text};
  read->what.labels = without_system_labels(read->what.labels);
  co_return std::move(read->what);
}

awaitable<outcome<history>> cluster_records::query(std::string selector, std::string doing) {
  history out;
  std::uint64_t left = of_a_history_;
  std::pair<int, std::string> unread;  // the newest, and why
  k8s::list_options options;
  options.ns = ns_;
  options.label_selector = std::move(selector);
  options.limit = records_per_page;
  k8s::list_pages pages(api_, collection(), std::move(options));
  for (;;) {
    const std::uint64_t most = share_ ? share_->most() : apart::memory_share::unlimited;
    pages.allow(most);
    if (share_ && most == apart::memory_share::unlimited) {
      const auto overdue = co_await apart::room_for(share_, most);
      if (overdue) co_return problem{doing + ": " + overdue->text};
    }
    auto page = co_await pages.next();
    if (!page && page.error().code == k8s::errc::over_budget &&
        most != apart::memory_share::unlimited) {
      const auto no_room = co_await apart::room_for(share_, most + 1);
      if (no_room) co_return problem{doing + ": " + no_room->text};
      continue;
    }
    if (!page) co_return problem{doing + ": " + reactor::reason_of(page.error())};
    if (!*page) break;
    const auto* items = k8s::items_of(**page);
    const std::size_t count = items ? items->size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto* item = (*items)[i].if_object();
      if (!item) continue;
      auto r = co_await record_of(*item, left);
      if (!r && of_ && r.error().code != problem_code::not_found) {
        const std::string name = objects::metadata_text(*item, "name");
        const int revision = revision_in(name, of_->name).value_or(0);
        if (revision > unread.first)
          unread = {revision, quote(name) + " cannot be read: " + r.error().text};
      }
      if (!r) {
        say(doing.substr(0, doing.find(':')) + ": failed to decode release: " + r.error().text);
        continue;
      }
      if (r->bytes > left)
        co_return problem{doing + ": its records take more than " + std::to_string(of_a_history_) +
                          " bytes unpacked"};
      left -= r->bytes;
      out.push_back(std::move(r->what));
    }
    sort_history(out);
    if (of_) keep_what_counts(out);
  }
  const record* const deployed = newest_deployed(out);
  if (unread.first > (deployed ? deployed->revision : 0))
    co_return problem{doing + ": " + unread.second};
  co_return out;
}

awaitable<outcome<history>> cluster_records::all_of(std::string name) {
  auto found = co_await query("name=" + name + ",owner=helm", "query: failed to query with labels");
  if (found && found->empty()) co_return problem{not_found_text, problem_code::not_found};
  co_return found;
}

awaitable<outcome<history>> cluster_records::list() {
  co_return co_await query("owner=helm", "list: failed to list");
}

awaitable<outcome<std::string>> cluster_records::create(record r) {
  auto body = co_await body_of(r, "createdAt");
  if (!body)
    co_return problem{"create: failed to encode release " + quote(r.name) + ": " +
                      body.error().text};
  k8s::object_key key{ns_, storage_name(r.name, r.revision)};
  const std::string place = place_of_record(api_, collection(), key);
  // Noted before the request: a caller that is cancelled may find that it was carried out.
  if (auto* children = reactor::foreign_workers_of(loop_))
    children->own().wrote(place, body->digest);
  json::object document = std::move(body->document);
  auto made = co_await api_.create(collection(), ns_, std::move(document));
  if (made) co_return objects::metadata_text(*made, "uid");
  if (made.error().code == k8s::errc::exists) co_return problem{exists_text};
  co_return problem{"create: failed to create: " + reactor::reason_of(made.error())};
}

awaitable<outcome<done>> cluster_records::update(record r) {
  auto body = co_await body_of(r, "modifiedAt");
  if (!body)
    co_return problem{"update: failed to encode release " + quote(r.name) + ": " +
                      body.error().text};
  k8s::object_key key{ns_, storage_name(r.name, r.revision)};
  const std::string place = place_of_record(api_, collection(), key);
  // A record that a stranger wrote stays a stranger's: all but its state is taken over.
  if (auto* children = reactor::foreign_workers_of(loop_); children && children->own().has(place))
    children->own().wrote(place, body->digest);
  json::object document = std::move(body->document);
  auto written = co_await api_.replace(collection(), std::move(key), std::move(document));
  if (written) co_return done{};
  co_return problem{"update: failed to update: " + reactor::reason_of(written.error())};
}

awaitable<outcome<done>> cluster_records::remove(std::string name, int revision) {
  k8s::object_key key{ns_, storage_name(name, revision)};
  if (auto* children = reactor::foreign_workers_of(loop_))
    children->own().removed(place_of_record(api_, collection(), key));
  auto gone = co_await api_.remove(collection(), std::move(key));
  if (gone) co_return done{};
  if (gone.error().code == k8s::errc::not_found)
    co_return problem{not_found_text, problem_code::not_found};
  co_return problem{reactor::reason_of(gone.error())};
}

}  // namespace helm::release
