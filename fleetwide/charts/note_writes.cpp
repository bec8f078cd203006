#include "fleetwide/charts/note_writes.hpp"

#include "fleetwide/kinds/names.hpp"
#include "helm/placed/ledger.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/view.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <set>

namespace fleetwide {

namespace json = boost::json;
using helm::placed::write_end;

namespace {

std::optional<chart_notes> read_notes(const json::object& config_map) {
  auto read = k8s::parse_view<chart_notes>(json::serialize(config_map));
  if (!read) return std::nullopt;
  return std::move(*read);
}

std::optional<chart_note> note_in(const chart_notes& all, const std::string& key) {
  const auto found = all.by_key.find(key);
  return found == all.by_key.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

awaitable<k8s::result<json::object>> note_writes::patch(std::string key,
                                                        std::optional<std::string> text) {
  json::object data, change;
  data[key] = text ? json::value(*text) : json::value();
  change["data"] = data;
  k8s::object_key at{options_.ns, std::string(notes_object)};
  const auto by = [] { return k8s::request_options().by(std::string(names::field_manager)); };
  json::object again = change;
  auto written =
      co_await api_.merge_patch(k8s::resources::config_maps(), at, std::move(again), by());
  if (written || written.error().code != k8s::errc::not_found || !text) co_return written;
  auto made = co_await helm::placed::ensure_namespace(api_, options_.ns);
  if (!made) co_return made.error();
  json::object metadata, body;
  metadata["name"] = notes_object;
  body["metadata"] = std::move(metadata);
  body["data"] = std::move(data);
  auto created =
      co_await api_.create(k8s::resources::config_maps(), options_.ns, std::move(body), by());
  if (created || created.error().code != k8s::errc::exists) co_return created;
  co_return co_await api_.merge_patch(k8s::resources::config_maps(), std::move(at),
                                      std::move(change), by());
}

awaitable<note_writes::written> note_writes::write(chart_order o, std::optional<chart_note> note) {
  std::optional<std::string> text;
  if (note) text = write_note(*note);
  const std::string key = note_key(o.claim());
  auto done = co_await patch(key, std::move(text));
  k8s::fault why;
  if (!done) why = done.error();
  options_.told(o.claim(), done ? nullptr : &why);
  written out;
  if (!done && done.error().code == k8s::errc::not_found && !note) {
    out.is = write_end::gone;
    co_return out;
  }
  if (!done) {
    out.is = write_end::failed;
    out.why = done.error().message();
    co_return out;
  }
  out.is = write_end::written;
  if (auto notes = read_notes(*done)) {
    o.noted = note_in(*notes, key);
    options_.noted(*std::move(notes));
  }
  out.now = std::move(o);
  co_return out;
}

awaitable<note_writes::written> note_writes::set_finalizer(chart_order o, finalizer_is how) {
  std::optional<chart_note> note;
  if (how == finalizer_is::wanted) {
    written out;
    out.is = write_end::conflict;
    if (!options_.may_begin(o)) co_return out;
    note = note_of(o, chart_note::state::begun, reactor::format_rfc3339(loop_.wall()));
  }
  co_return co_await write(std::move(o), std::move(note));
}

awaitable<note_writes::written> note_writes::annotate(chart_order o, std::string,
                                                      std::optional<std::string>) {
  auto newest = co_await reads_.release(o.ns, o.release, std::nullopt);
  if (!newest || !*newest) {
    written out;
    out.is = write_end::failed;
    out.why = newest ? "the release is not there" : newest.error().message();
    co_return out;
  }
  chart_note note = note_of(o, chart_note::state::done, reactor::format_rfc3339(loop_.wall()));
  note.record = (*newest)->record;
  note.version = (*newest)->version;
  std::set<std::string> kinds;
  for (const helm::placed::checked_object& o : (*newest)->objects)
    kinds.insert(o.api_version + "/" + o.kind);
  note.kinds.assign(kinds.begin(), kinds.end());
  std::optional<chart_note> as(std::move(note));
  co_return co_await write(std::move(o), std::move(as));
}

awaitable<note_writes::written> note_writes::note_failure(chart_order o, std::string why) {
  chart_note note = note_of(o, chart_note::state::failed, reactor::format_rfc3339(loop_.wall()));
  note.why = std::move(why);
  std::optional<chart_note> as(std::move(note));
  co_return co_await write(std::move(o), std::move(as));
}

awaitable<note_writes::written> note_writes::note_hold(chart_order o, std::string code,
                                                       std::string sentence) {
  std::optional<chart_note> as = o.noted;
  as->hold = std::move(code);
  as->why = std::move(sentence);
  co_return co_await write(std::move(o), std::move(as));
}

awaitable<k8s::result<std::optional<chart_order>>> note_writes::current(k8s::object_key key) {
  std::optional<chart_order> out;
  k8s::object_key at{options_.ns, std::string(notes_object)};
  auto got = co_await api_.get(k8s::resources::config_maps(), std::move(at));
  if (!got && got.error().code != k8s::errc::not_found) co_return got.error();
  const chart_order* order = options_.order(key);
  if (!order) co_return out;
  out = *order;
  out->noted.reset();
  if (!got) co_return out;
  if (auto notes = read_notes(*got)) {
    out->noted = note_in(*notes, note_key(out->claim()));
    options_.noted(*std::move(notes));
  }
  co_return out;
}

awaitable<k8s::result<void>> note_writes::forget(std::string claim) {
  auto done = co_await patch(note_key(claim), std::nullopt);
  if (!done && done.error().code != k8s::errc::not_found) co_return done.error();
  if (done)
    if (auto notes = read_notes(*done)) options_.noted(*std::move(notes));
  co_return k8s::result<void>();
}

}  // namespace fleetwide
