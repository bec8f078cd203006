// What the page is told of the fleet: lines, histories and answers are made from one walk, so they
// stay together.
#include "service/ui/fleet_page.hpp"

#include "k8s/fleet/fleet.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/keyed_hash.hpp"
#include "reactor/plain/printable.hpp"
#include "service/ui/places.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace cli {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

/// Clusters compared without letting anybody else run.
constexpr std::size_t compared_a_turn = 256;
constexpr std::size_t walked_a_turn = fleet_page::walked_a_turn;
/// Clusters looked at side by side; after so many, others get some time.
constexpr std::size_t most_at_once = 16;
constexpr reactor::nanoseconds rest = 10ms;
/// A part that does not count its changes is asked again after.
constexpr reactor::nanoseconds uncounted = 5s;
constexpr std::size_t most_made = 8, most_made_bytes = 4 * 1024 * 1024;

/// Points of a history that are as much work as one row.
constexpr std::size_t points_a_step = 16;

std::uint64_t mixed(std::uint64_t h, std::string_view text) {
  return reactor::keyed_hash(h, reactor::keyed_hash(text));
}
std::uint64_t mixed(std::uint64_t h, std::uint64_t n) {
  return reactor::keyed_hash(h, n);
}

std::uint64_t content_of(const units::unit& u, std::uint64_t h) {
  for (const std::string* text : {&u.name, &u.state, &u.message, &u.trouble}) h = mixed(h, *text);
  for (const units::detail& d : u.details) {
    h = mixed(mixed(h, d.key), d.text);
    if (const auto* text = std::get_if<std::string>(&d.value))
      h = mixed(h, *text);
    else if (const auto* n = std::get_if<std::int64_t>(&d.value))
      h = mixed(h, static_cast<std::uint64_t>(*n));
    else
      h = mixed(h, std::uint64_t{std::get<bool>(d.value)});
  }
  return h;
}

/// Gives a large overview back in small pieces.
awaitable<void> give_back(reactor::loop& l, cluster_overview& c) {  // borrowed
  for (api_overview& a : c.apis)
    for (units::plan_row& r : a.rows) {
      for (auto* holds : {&r.holds, &r.forecast})
        while (holds->size() > walked_a_turn) {
          holds->resize(holds->size() - walked_a_turn);
          co_await l.yield();
        }
      while (r.units.size() > walked_a_turn) {
        r.units.resize(r.units.size() - walked_a_turn);
        co_await l.yield();
      }
    }
}

std::uint64_t content_of(const units::hold& h, std::uint64_t x) {
  for (const std::string* text : {&h.unit, &h.code, &h.sentence, &h.released_by, &h.asked_again})
    x = mixed(x, *text);
  return x;
}

/// Without its units and holds.
std::uint64_t content_of(const units::plan_row& r, std::uint64_t h) {
  h = mixed(mixed(h, r.name), r.target);
  for (const std::size_t n : {r.units.size(), r.updated, r.updating, r.degraded, r.capacity,
                              r.occupied, std::size_t{r.halted}})
    h = mixed(h, std::uint64_t{n});
  for (const units::row_problem& p : r.problems)
    for (const std::string* text : {&p.unit, &p.condition, &p.status, &p.reason, &p.message})
      h = mixed(h, *text);
  return h;
}

// Lines of the board are made outside of coroutines: GCC 12 takes no initializer lists in them.

constexpr std::string_view name_of(units::hold_nature n) noexcept {
  switch (n) {
    case units::hold_nature::turn: return "turn";
    case units::hold_nature::progress: return "progress";
    case units::hold_nature::trouble: break;
  }
  return "trouble";
}

/// The nature of every code of the APIs' tables, by code.
json::object natures_of(const std::vector<units::api>& apis) {
  json::object all;
  for (const units::hold_kind& k : units::hold_code::of_every_api) all[k.code] = name_of(k.nature);
  for (const units::api& a : apis)
    for (const units::hold_kind& k : a.holds) all[k.code] = name_of(k.nature);
  return all;
}

/// How many changes may begin in a minute; a limit that is not set is missing.
json::object limits_of(const units::change_limits& most) {
  json::object out;
  if (most.fleet > 0) out["fleet"] = most.fleet;
  if (most.cluster > 0) out["cluster"] = most.cluster;
  return out;
}

/// "nodes", "bootcnodepools.node.bootc.dev"
std::string for_kubectl(const k8s::resource& r) {
  return r.plural + (r.group.empty() ? "" : "." + r.group);
}

/// What a person may change of a row, and what kubectl calls its object.
json::object edits_of(const units::api::edits& by) {
  json::object out{{"kind", by.kind.kind}};
  out["resource"] = for_kubectl(by.kind);
  out["approves"] = static_cast<bool>(by.approve);
  return out;
}

json::object line_of(const units::plan_row& r, const std::map<std::string, std::size_t>& codes) {
  json::object row{{"name", r.name},         {"target", r.target},     {"total", r.units.size()},
                   {"updated", r.updated},   {"updating", r.updating}, {"degraded", r.degraded},
                   {"capacity", r.capacity}, {"occupied", r.occupied}, {"halted", r.halted}};
  json::object holds;
  for (const auto& [code, n] : codes) holds[code] = n;
  row["holds"] = std::move(holds);
  if (!r.offered.empty()) row["offered"] = r.offered;
  // The words of the row's own; of its units the count, and their words with all else of a cluster.
  json::array own;
  std::size_t of_units = 0;
  for (const units::row_problem& p : r.problems) {
    if (!p.unit.empty())
      ++of_units;
    else
      own.push_back(
          json::object{{"condition", p.condition}, {"reason", p.reason}, {"message", p.message}});
  }
  row["problems"] = std::move(own);
  row["unitProblems"] = of_units;
  // All units of a row have the same details.
  json::array columns;
  if (!r.units.empty())
    for (const units::detail& d : r.units.front().details)
      if (!d.column.empty()) columns.emplace_back(d.key);
  row["columns"] = std::move(columns);
  return row;
}

json::object total_of(const units::api& a, std::size_t total, std::size_t updated,
                      std::size_t updating, std::size_t degraded) {
  return {{"name", a.name},      {"row", a.says.row},     {"rows", a.says.rows},
          {"unit", a.says.unit}, {"units", a.says.units}, {"total", total},
          {"updated", updated},  {"updating", updating},  {"degraded", degraded}};
}

/// Without its rows.
json::object line_of(const api_overview& a) {
  json::object api{{"name", a.name}, {"state", a.state}};
  if (!a.last_error.empty()) api["lastError"] = a.last_error;
  return api;
}

json::object line_of(const cluster_overview& c, const k8s::cluster* there) {
  json::object line{{"name", c.name}, {"state", c.state}};
  if (!c.last_error.empty()) line["lastError"] = c.last_error;
  if (!there) return line;
  line["since"] = reactor::format_rfc3339(there->since_wall());
  json::object labels;
  for (const auto& [key, value] : there->labels()) labels[key.str()] = value.str();
  if (!labels.empty()) line["labels"] = std::move(labels);
  return line;
}

/// What a unit is held by since when, copied for the worker.
struct held_unit {
  std::string row, unit;
  reactor::wall_time at{};
  bool at_least = false;
};

json::object view_of(const cluster_overview& c, const std::vector<held_unit>& held,
                     std::uint64_t version, reactor::wall_time now) {
  json::object rows;
  for (const held_unit& h : held) {
    json::object at{{"at", reactor::format_rfc3339(h.at)}};
    if (h.at_least) at["atLeast"] = true;
    json::value& row = rows[h.row];
    if (!row.is_object()) row.emplace_object();
    row.get_object()[h.unit] = std::move(at);
  }
  json::object all{{"at", reactor::format_rfc3339(now)}, {"version", version}};
  all["since"] = std::move(rows);
  all["cluster"] = status_cluster_json(c);
  return cli::document("ClusterView", std::move(all));
}

/// `object` with one more member, whose value is JSON text already.
std::string with_member(const json::object& object, std::string_view key, std::string_view value) {
  std::string text = reactor::printable_json(json::serialize(object));
  text.pop_back();
  text.append(",\"").append(key).append("\":").append(value).append("}");
  return text;
}

reactor::fault absent(const std::string& sentence) {
  return reactor::make_fault(reactor::errc::not_found, "", sentence);
}

/// Of a cluster, or of a name that there is no connection to.
awaitable<std::optional<cluster_overview>> overview_now(service& s, std::string name) {  // borrowed
  std::optional<cluster_overview> one = co_await look_at_cluster(s, name);
  if (!one)
    for (const k8s::fleet::unusable& u : s.fleet().without_connection())
      if (u.name == name) one = overview_of(s, u);
  co_return one;
}

std::string key_of(const std::string& cluster) {
  return "cluster/" + cluster;
}

}  // namespace

fleet_page::fleet_page(reactor::loop& l, service& of, web::board& on)
    : loop_(l),
      service_(of),
      board_(on),
      timeline_(l, of),
      started_at_(reactor::format_rfc3339(l.wall())),
      free_(l),
      wanted_(l),
      tasks_(l) {}

awaitable<void> fleet_page::stop() {
  return tasks_.cancel_and_join();
}

awaitable<void> fleet_page::follow() {
  for (;;) {
    co_await look_around();
    const bool followed = is_followed && is_followed();
    (void)co_await wanted_.wait(loop_.now() + (followed ? look_followed : look_alone));
  }
}

std::uint64_t fleet_page::stamp_of(const k8s::cluster& c) const {
  std::uint64_t h = mixed(static_cast<std::uint64_t>(c.state()), c.says());
  for (const auto& e : c.engagements()) {
    h = mixed(mixed(h, static_cast<std::uint64_t>(e->state())), e->says());
    if (const units::cluster_controller* p = units::part_of(*e)) {
      const auto now = static_cast<std::uint64_t>(loop_.now().time_since_epoch() / uncounted);
      h = mixed(h, p->revision().value_or(now));
    }
  }
  return h;
}

void fleet_page::note_stamp(const std::string& name, std::uint64_t stamp,
                            std::vector<std::string>& changed) {
  shared_memory& known = clusters_[name];
  if (!known) {
    known = std::make_shared<memory>();
    if (round_ > 1) timeline_.cluster_is(name, {}, "new", {});
  }
  memory& m = *known;
  m.round = round_;
  if (m.looks > 0 && m.stamp == stamp) return;
  m.stamp = stamp;
  changed.push_back(name);
}

/// Compares all, then looks at those that are not as they were.
awaitable<void> fleet_page::look_around() {
  ++round_;
  std::vector<std::string> changed;
  std::string after;
  for (bool more = true; more;) {
    // Clusters come and go between two turns.
    const std::vector<k8s::cluster*> all = service_.fleet().clusters();
    auto at = std::ranges::upper_bound(
        all, after, {}, [](const k8s::cluster* c) -> const std::string& { return c->name(); });
    for (std::size_t n = 0; n < compared_a_turn && at != all.end(); ++n, ++at) {
      note_stamp((*at)->name(), stamp_of(**at), changed);
      after = (*at)->name();
    }
    more = at != all.end();
    if (more) co_await loop_.yield();
  }
  const k8s::cluster* home = service_.home();
  if (home && !home->engagements().empty() && !service_.fleet().find(home->name()))
    note_stamp(home->name(), stamp_of(*home), changed);
  for (const k8s::fleet::unusable& u : service_.fleet().without_connection())
    note_stamp(u.name, mixed(mixed(1, u.why), "unusable"), changed);
  walk at_work(*this);
  for (auto at = clusters_.begin(); at != clusters_.end();) {
    if (at_work.is_due()) co_await loop_.yield();
    if (at->second->round == round_) {
      ++at;
      continue;
    }
    totals_are_old_ = true;
    timeline_.cluster_is(at->first, at->second->state, {}, {});
    board_.erase(key_of(at->first));
    at = clusters_.erase(at);
  }
  std::size_t begun = 0;
  for (std::string& name : changed) {
    while (looking_ >= most_at_once) (void)co_await free_.wait();
    tasks_.start("look at a cluster", look_at_one(std::move(name)));
    if (++begun % most_at_once == 0) {
      co_await loop_.sleep_for(rest);
    } else {
      co_await loop_.yield();
    }
  }
  if (brake_seen_ != service_.brake().order() || memory_seen_ != service_.memory_problem()) {
    brake_seen_ = service_.brake().order();
    memory_seen_ = service_.memory_problem();
    totals_are_old_ = true;
  }
  if (std::exchange(totals_are_old_, false)) co_await show_fleet();
  show_policies();
  show_timeline();
}

awaitable<void> fleet_page::look_at_one(std::string name) {
  const auto known = clusters_.find(name);
  if (known == clusters_.end()) co_return;
  const shared_memory m = known->second;
  if (m->busy) {
    m->stamp = 0;  // it has changed again: the next round will see
    co_return;
  }
  const look_guard mine(*this, m);
  ++overviews_;
  std::optional<cluster_overview> one = co_await overview_now(service_, std::move(name));
  if (!one) co_return;
  co_await show(*one, m);
  co_await give_back(loop_, *one);
}

void fleet_page::note_state(memory& m, const cluster_overview& c) {
  if (m.state != c.state && !m.state.empty())
    timeline_.cluster_is(c.name, m.state, c.state, c.last_error);
  m.state = c.state;
}

void fleet_page::note_row(row_memory& of, fleet_timeline::row_change now,
                          const std::map<std::string, std::size_t>& codes) {
  using pause = fleet_timeline::row_change::pause;
  const bool is_paused = codes.contains(std::string(units::hold_code::paused.code));
  now.is_first = !std::exchange(of.is_known, true);
  if (std::exchange(of.is_paused, is_paused) != is_paused)
    now.paused = is_paused ? pause::begun : pause::ended;
  const bool is_other = of.target != now.target;
  if (is_other) of.target = now.target;
  if (!is_other) now.target.clear();
  if (now.is_first || is_other || now.paused != pause::same) timeline_.row_is(std::move(now));
}

bool fleet_page::walk::is_due(std::size_t steps) {
  since_ += steps;
  of_.most_walked_ = std::max(of_.most_walked_, since_);
  if (since_ < walked_a_turn) return false;
  since_ = 0;
  return true;
}

awaitable<void> fleet_page::remember(memory& m, const api_overview& a, const units::plan_row& r,
                                     std::map<std::string, std::size_t>& codes, walk& at_work) {
  const reactor::wall_time now = loop_.wall();
  row_memory& row = m.rows[a.name + "/" + r.name];
  row.look = m.looks;
  for (const units::hold& h : r.holds) {
    ++codes[h.code];
    held_since& since = row.held[h.unit];
    if (since.code != h.code) {
      since.code = h.code;
      since.at = now;
      since.at_least = m.looks == 1;
    }
    since.look = m.looks;
    if (at_work.is_due()) co_await loop_.yield();
  }
  for (auto at = row.held.begin(); at != row.held.end();) {
    at = at->second.look == m.looks ? std::next(at) : row.held.erase(at);
    if (at_work.is_due()) co_await loop_.yield();
  }
  const auto n = [](std::size_t of) { return static_cast<std::uint32_t>(of); };
  const web::progress_point point{now,           n(r.units.size()), n(r.updated),
                                  n(r.updating), n(r.degraded),     n(r.holds.size())};
  row.history.add(point, r.target);
}

awaitable<void> fleet_page::show(const cluster_overview& c, shared_memory m) {
  ++m->looks;
  note_state(*m, c);
  std::map<std::string, counts> sums;
  std::size_t held = 0;
  std::uint64_t content = mixed(mixed(mixed(0, c.state), c.server), c.last_error);
  walk at_work(*this);
  std::string apis = "[";  // as JSON, which grows row by row
  for (const api_overview& a : c.apis) {
    counts& sum = sums[a.name];
    std::string rows = "[";
    content = mixed(mixed(mixed(content, a.name), a.state), a.last_error);
    for (const units::plan_row& r : a.rows) {
      std::map<std::string, std::size_t> codes;
      co_await remember(*m, a, r, codes, at_work);
      fleet_timeline::row_change now{c.name, a.name, r.name, r.target};
      note_row(m->rows[a.name + "/" + r.name], std::move(now), codes);
      content = content_of(r, content);
      for (const units::unit& u : r.units) {
        content = content_of(u, content);
        if (at_work.is_due()) co_await loop_.yield();
      }
      for (const units::hold& h : r.holds) {
        content = content_of(h, content);
        if (at_work.is_due()) co_await loop_.yield();
      }
      if (rows.size() > 1) rows += ',';
      rows += reactor::printable_json(json::serialize(line_of(r, codes)));
      if (at_work.is_due()) co_await loop_.yield();
      sum.units += r.units.size();
      sum.updated += r.updated;
      sum.updating += r.updating;
      sum.degraded += r.degraded;
      held += r.holds.size();
    }
    if (apis.size() > 1) apis += ',';
    apis += with_member(line_of(a), "rows", rows + "]");
  }
  for (auto at = m->rows.begin(); at != m->rows.end();) {
    at = at->second.look == m->looks ? std::next(at) : m->rows.erase(at);
    if (at_work.is_due()) co_await loop_.yield();
  }
  if (m->looks == 1 || content != m->content) ++m->version;
  m->content = content;
  m->apis = std::move(sums);
  m->held = held;
  totals_are_old_ = true;
  // It may have left meanwhile.
  const auto still = clusters_.find(c.name);
  if (still == clusters_.end() || still->second != m) co_return;
  json::object line = line_of(c, service_.fleet().find(c.name));
  line["version"] = m->version;
  board_.put(key_of(c.name), with_member(line, "apis", apis + "]"));
}

/// Only look_around() changes which clusters are known, and it waits for this.
awaitable<void> fleet_page::show_fleet() {
  web::progress_point now{.at = loop_.wall()};
  std::size_t held = 0;
  std::map<std::string, counts> sums;
  walk at_work(*this);
  for (const auto& [name, m] : clusters_) {
    held += m->held;
    for (const auto& [api, of] : m->apis) {
      counts& sum = sums[api];
      sum.units += of.units;
      sum.updated += of.updated;
      sum.updating += of.updating;
      sum.degraded += of.degraded;
    }
    if (at_work.is_due()) co_await loop_.yield();
  }
  json::array apis;
  for (const units::api& a : service_.apis()) {
    const counts sum = sums[a.name];
    json::object one = total_of(a, sum.units, sum.updated, sum.updating, sum.degraded);
    if (a.edit) one["edits"] = edits_of(*a.edit);
    if (!a.command.empty()) one["command"] = a.command;
    if (!a.unit_kind.plural.empty()) one["kubectl"] = for_kubectl(a.unit_kind);
    apis.push_back(std::move(one));
    now.total += static_cast<std::uint32_t>(sum.units);
    now.updated += static_cast<std::uint32_t>(sum.updated);
    now.updating += static_cast<std::uint32_t>(sum.updating);
    now.degraded += static_cast<std::uint32_t>(sum.degraded);
  }
  now.held = static_cast<std::uint32_t>(held);
  if (now.total > 0 || !history_.points().empty()) history_.add(now);
  json::object line;
  line["version"] = WINDLASS_VERSION;
  line["startedAt"] = started_at_;
  line["clusters"] = clusters_.size();
  line["held"] = held;
  line["standsBy"] = service_.stands_by();
  if (const units::brake_order& brake = service_.brake().order(); brake.is_on)
    line["brake"] = brake_json(brake);
  if (!service_.memory_problem().empty()) line["memory"] = service_.memory_problem();
  if (const units::change_limits& most = service_.max_changes(); most.any())
    line["maxChanges"] = limits_of(most);
  line["asksToken"] = entered_by == door::asks_token;
  line["apis"] = std::move(apis);
  line["natures"] = natures_of(service_.apis());
  board_.put("fleet", reactor::printable_json(json::serialize(line)));
}

void fleet_page::show_timeline() {
  json::object line{{"revision", timeline_.all().revision()}, {"kept", timeline_.all().size()}};
  board_.put("timeline", json::serialize(line));
}

void fleet_page::show_policies() {
  const policies::host& packs = service_.packs();
  // Every minute as well: a fault that ended is counted nowhere.
  const std::uint64_t now = mixed(mixed(packs.reloads() + packs.refusals(), packs.faults()),
                                  static_cast<std::uint64_t>(loop_.now().time_since_epoch() / 10s));
  if (std::exchange(policies_seen_, now) == now) return;
  json::array all;
  const std::vector<policies::pack_status> seen = packs.status();
  timeline_.policies_are(seen);
  for (const policies::pack_status& p : seen) {
    json::object one{{"name", p.name},     {"version", p.version}, {"folder", p.folder},
                     {"digest", p.digest}, {"stock", p.stock},     {"order", p.order}};
    json::array hooks;
    for (const std::string& h : p.hooks) hooks.push_back(json::string(h));
    one["hooks"] = std::move(hooks);
    if (!p.digest.empty()) one["loadedAt"] = reactor::format_rfc3339(p.loaded_at);
    if (!p.refused.empty()) one["refused"] = p.refused;
    if (p.fault)
      one["fault"] = json::object{{"hook", p.fault->hook},
                                  {"since", reactor::format_rfc3339(p.fault->since)},
                                  {"count", p.fault->count},
                                  {"reason", p.fault->last.message()}};
    all.push_back(std::move(one));
  }
  board_.put("policies", reactor::printable_json(json::serialize(all)));
}

awaitable<reactor::result<web::site::text>> fleet_page::document(
    std::string name, reactor::http::target_parts asked) {
  if (name == "fleet") {
    web::site::text all = std::make_shared<const std::string>(
        with_member(cli::document("FleetHistory", {}), "history", history_.json()));
    co_return all;
  }
  if (name == "timeline") co_return co_await timeline_.document(std::move(asked));
  if (name == "place") co_return co_await place_document(std::move(asked.path));
  if (name != "cluster")
    co_return absent("there are /data/fleet, /data/timeline and /data/cluster?name=NAME");
  std::string cluster = asked.get("name").value_or("");
  auto made = co_await cluster_document(std::move(cluster));
  co_return made;
}

awaitable<reactor::result<web::site::text>> fleet_page::place_document(std::string path) {
  const place at = place_of(path);
  if (!clusters_.contains(at.cluster)) co_return absent(no_cluster(at));
  if (!at.api.empty()) {
    std::optional<cluster_overview> one = co_await overview_now(service_, at.cluster);
    if (!one) co_return absent(no_cluster(at));
    const std::string missing = missing_in(*one, at);
    co_await give_back(loop_, *one);
    if (!missing.empty()) co_return absent(missing);
  }
  co_return std::make_shared<const std::string>(route_of(at));
}

const web::site::text* fleet_page::made_before(const std::string& name) const {
  const auto known = clusters_.find(name);
  for (const made_document& d : made_)
    if (d.cluster == name && known != clusters_.end() && d.version == known->second->version)
      return &d.text;
  return nullptr;
}

void fleet_page::keep(made_document made) {
  made_.remove_if([&](const made_document& d) { return d.cluster == made.cluster; });
  if (made.text->size() > most_made_bytes) return;
  made_.push_front(std::move(made));
  std::size_t bytes = 0;
  for (const made_document& d : made_) bytes += d.text->size();
  while (made_.size() > most_made || bytes > most_made_bytes) {
    bytes -= made_.back().text->size();
    made_.pop_back();
  }
}

awaitable<reactor::result<web::site::text>> fleet_page::cluster_document(std::string name) {
  const std::string not_there =
      "the fleet has no cluster \"" + reactor::printable(name, 300) + "\"";
  shared_memory m;
  for (;;) {
    const auto known = clusters_.find(name);
    if (known == clusters_.end()) co_return absent(not_there);
    // What one reader has asked for, others who look at the same moment get as well.
    if (const web::site::text* made = made_before(name)) co_return *made;
    m = known->second;
    if (!m->busy) break;
    (void)co_await free_.wait();
  }
  const look_guard mine(*this, m);
  auto one = std::make_shared<cluster_overview>();
  {
    std::optional<cluster_overview> seen = co_await overview_now(service_, name);
    if (!seen) co_return absent(not_there);
    *one = std::move(*seen);
  }
  co_await show(*one, m);
  std::vector<held_unit> held;
  std::string history = "{";
  walk at_work(*this);
  for (const auto& [row, of] : m->rows) {
    for (const auto& [unit, since] : of.held) {
      held.push_back({row, unit, since.at, since.at_least});
      if (at_work.is_due()) co_await loop_.yield();
    }
    history += history.size() > 1 ? ",\"" : "\"";
    reactor::append_json_escaped(history, row);
    history += "\":" + of.history.json();
    if (at_work.is_due(1 + of.history.points().size() / points_a_step)) co_await loop_.yield();
  }
  history += "}";
  made_document made{std::move(name), m->version, {}};
  const auto write = [](auto& of, const auto& waiting, const std::string& past, auto version,
                        reactor::wall_time now) {
    std::string text = with_member(view_of(*of, waiting, version, now), "history", past);
    of.reset();
    return text;
  };
  std::string text = co_await loop_.offload(write, std::move(one), std::move(held),
                                            std::move(history), made.version, loop_.wall());
  made.text = std::make_shared<const std::string>(std::move(text));
  web::site::text all = made.text;
  keep(std::move(made));
  co_return all;
}

}  // namespace cli
