#include "service/ui/fleet_timeline.hpp"

#include "app/api/target_history.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace cli {
namespace {

using reactor::awaitable;
using weight = web::timeline_entry::weight;

/// These Events say what the state of the cluster says as well.
bool is_about_state(const k8s::event_note& e) {
  static constexpr std::array<std::string_view, 4> said = {
      k8s::fleet_event::engaged.reason, k8s::fleet_event::recovered.reason,
      k8s::fleet_event::unreachable.reason, k8s::fleet_event::disengaged.reason};
  return e.regarding.kind == "Secret" && std::ranges::find(said, e.reason) != said.end();
}

bool is_bad(std::string_view cluster_state) {
  return cluster_state == "Unreachable" || cluster_state == "Unauthorized" ||
         cluster_state == "Forbidden" || cluster_state == "Invalid";
}

std::string author_of(const std::string& manager, const std::string& user) {
  return user.empty() ? manager : manager + " (" + user + ")";
}

}  // namespace

fleet_timeline::fleet_timeline(reactor::loop& l, service& of)
    : loop_(l), service_(of), alive_(std::make_shared<fleet_timeline*>(this)) {
  service_.on_event = [alive = alive_](const std::string& cluster, const k8s::event_note& e) {
    if (*alive) (*alive)->heard(cluster, e);
  };
}

fleet_timeline::~fleet_timeline() {
  *alive_ = nullptr;
}

void fleet_timeline::heard(const std::string& cluster, const k8s::event_note& e) {
  if (is_about_state(e)) return;
  web::timeline_entry out;
  out.at = loop_.wall();
  out.cluster = cluster;
  out.about = e.regarding.kind + "/" + (e.regarding.ns.empty() ? "" : e.regarding.ns + "/") +
              e.regarding.name;
  out.what = e.reason;
  out.by = e.reporter.empty() ? "windlass" : e.reporter;
  out.text = e.note;
  if (e.type == k8s::event_severity::warning) out.is = weight::warning;
  all_.add(std::move(out));
}

void fleet_timeline::cluster_is(const std::string& name, const std::string& before,
                                const std::string& now, const std::string& why) {
  web::timeline_entry e;
  e.of = web::timeline_entry::kind::decision;
  e.at = loop_.wall();
  e.cluster = name;
  e.about = "Cluster/" + name;
  e.what = "State";
  e.by = "windlass";
  if (now.empty())
    e.text = "left the fleet";
  else if (before.empty())
    e.text = "joined the fleet";
  else
    e.text = before + " → " + now + (is_bad(now) && !why.empty() ? ": " + why : "");
  if (is_bad(now)) e.is = weight::warning;
  all_.add(std::move(e));
}

void fleet_timeline::row_is(row_change c) {
  if (waiting_.size() >= most_waiting) return;
  waiting_.push_back(std::move(c));
  read_next();
}

void fleet_timeline::read_next() {
  while (reads_ < most_reads && !waiting_.empty()) {
    row_change next = std::move(waiting_.front());
    waiting_.pop_front();
    read_row(std::move(next));
  }
}

void fleet_timeline::read_row(row_change c) {
  const auto api = std::ranges::find(service_.apis(), c.api, &units::api::name);
  k8s::cluster* on = service_.fleet().find(c.cluster);
  if (api == service_.apis().end() || !api->edit || !on) return;
  // Counts for as long as an answer may come: a cluster that leaves drops the function.
  ++reads_;
  const std::shared_ptr<void> under_way(nullptr, [alive = alive_](void*) {
    if (!*alive) return;
    --(*alive)->reads_;
    (*alive)->read_next();
  });
  k8s::object_key key{"", c.row};
  on->read_object(api->edit->kind, std::move(key),
                  [alive = alive_, under_way, c = std::move(c),
                   &api = *api](const k8s::result<boost::json::object>& object) {
                    if (*alive && object) (*alive)->tell_row(c, api, *object);
                  });
}

void fleet_timeline::tell_row(const row_change& c, const units::api& api,
                              const boost::json::object& object) {
  web::timeline_entry e;
  e.of = web::timeline_entry::kind::decision;
  e.cluster = c.cluster;
  e.about = api.edit->kind.kind + "/" + c.row;
  const auto at_of = [&](const std::string& text) {
    const auto at = reactor::parse_rfc3339(text);
    return at && *at <= loop_.wall() ? *at : loop_.wall();
  };
  bool is_new = false;
  if (!c.target.empty() || c.is_first)
    for (const units::target_record& r :
         units::history_of(object, units::target_field(*api.edit), {})) {
      e.at = at_of(r.at);
      e.what = "Target";
      e.by = author_of(r.manager, r.by);
      e.text = "asks for " + r.target;
      is_new = all_.put(e) || is_new;
    }
  if (!is_new && !c.target.empty() && !c.is_first) {
    e.at = loop_.wall();
    e.what = "Target";
    e.by = "windlass";
    e.text = "moves to " + c.target;
    all_.add(e);
  }
  if (c.paused == row_change::pause::same) return;
  const std::vector<units::field_owner> owners =
      units::owners_of(object, units::pause_field(*api.edit));
  const bool begun = c.paused == row_change::pause::begun;
  e.at = owners.empty() ? loop_.wall() : at_of(owners.front().at);
  e.what = begun ? "Paused" : "Resumed";
  e.by = owners.empty() ? "" : owners.front().manager;
  e.text = begun ? "no further " + api.says.unit + " starts" : "goes on";
  all_.put(std::move(e));
}

void fleet_timeline::policies_are(const std::vector<policies::pack_status>& all) {
  std::map<std::string, known_pack> now;
  for (const policies::pack_status& p : all) {
    const std::string place = (p.from.empty() ? "stock" : p.from) + "/" + p.folder;
    known_pack is{p.digest, p.refused, p.fault ? p.fault->hook : std::string()};
    const known_pack was = packs_[place];
    web::timeline_entry e;
    e.of = web::timeline_entry::kind::decision;
    e.at = loop_.wall();
    e.about = "Policy/" + (p.name.empty() ? p.folder : p.name);
    e.by = place;
    const auto tell = [&](const char* what, std::string text, weight how) {
      e.what = what;
      e.text = std::move(text);
      e.is = how;
      all_.add(e);
    };
    if (packs_known_ && !is.digest.empty() && is.digest != was.digest)
      tell("PolicyLoaded", p.name + " " + p.version + ", " + p.digest, weight::normal);
    if (!is.refused.empty() && is.refused != was.refused)
      tell("PolicyRefused", "the last good one stays: " + is.refused, weight::warning);
    if (!is.fault.empty() && is.fault != was.fault)
      tell("PolicyFault", is.fault + " fails: " + p.fault->last.message(), weight::warning);
    now.emplace(place, std::move(is));
  }
  packs_known_ = true;
  packs_ = std::move(now);
}

awaitable<reactor::result<web::site::text>> fleet_timeline::document(
    reactor::http::target_parts asked) {
  web::timeline_question q;
  q.words = asked.get("q").value_or("");
  q.cluster = asked.get("cluster").value_or("");
  const std::string limit = asked.get("limit").value_or("");
  std::size_t most = 0;
  if (const auto read = std::from_chars(limit.data(), limit.data() + limit.size(), most);
      read.ec == std::errc{} && most > 0)
    q.most = std::min(most, most_found);
  const std::string from = asked.get("before").value_or("");
  std::optional<web::timeline_place> place = web::timeline_place::read(from);
  if (!from.empty() && !place)
    co_return reactor::make_fault(reactor::errc::not_found, "",
                                  "before= is no place that a timeline has named");
  std::string text;
  std::size_t found = 0;
  for (bool more = true; more && found < q.most;) {
    web::timeline_question rest = q;
    rest.most = q.most - found;
    const web::timeline::piece piece = all_.search(rest, place, looked_a_turn);
    for (const std::string& one : piece.found) text.append(text.empty() ? "" : ",").append(one);
    found += piece.found.size();
    place = piece.next;
    more = place.has_value();
    if (more) co_await loop_.yield();
  }
  std::string all =
      "{\"apiVersion\":\"windlass.dev/v1alpha1\",\"kind\":\"FleetTimeline\",\"kept\":" +
      std::to_string(all_.size()) + ",\"entries\":[" + text + "]";
  if (place) all += ",\"next\":\"" + place->text() + "\"";
  all += "}";
  co_return std::make_shared<const std::string>(std::move(all));
}

}  // namespace cli
