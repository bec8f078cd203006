// `windlass events`: what Windlass said on the objects of the fleet.
#include "service/commands/events/events.hpp"

#include "formats/human_duration.hpp"
#include "formats/json/member.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/fleet/cluster.hpp"
#include "policies/host/embedded.hpp"
#include "reactor/loop.hpp"
#include "reactor/side_by_side.hpp"
#include "service/policy_refusals.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cctype>
#include <map>

namespace cli {
namespace {

namespace json = boost::json;
using formats::text_member;

constexpr std::size_t clusters_at_once = 32, most_events = 50'000;  // of one cluster
constexpr reactor::nanoseconds between_looks = std::chrono::seconds(2);

std::int64_t number_at(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v && v->is_int64() ? v->get_int64() : 0;
}

/// When it was last seen, in whichever field its writer put it.
std::string last_seen(const json::object& e) {
  for (std::string t :
       {text_member(e, "series", "lastObservedTime"), text_member(e, "deprecatedLastTimestamp"),
        text_member(e, "eventTime"), text_member(e, "metadata", "creationTimestamp")})
    if (!t.empty()) return t;
  return {};
}

std::int64_t count_of(const json::object& e) {
  const json::value* series = e.if_contains("series");
  const std::int64_t repeated =
      series && series->is_object() ? number_at(series->get_object(), "count") : 0;
  return std::max({std::int64_t{1}, repeated, number_at(e, "deprecatedCount")});
}

/// "BootcNodePool/workers", "pool/workers" and "workers": the end of a kind's name is enough.
bool is_about(const std::string& asked, const std::string& kind, const std::string& name) {
  const std::size_t slash = asked.find('/');
  if (slash == asked.npos) return asked.empty() || asked == name;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return asked.substr(slash + 1) == name && slash <= kind.size() &&
         std::ranges::equal(asked.substr(0, slash), kind.substr(kind.size() - slash), {}, lower,
                            lower);
}

/// What one look found.
struct seen_events {
  listing rows{{{"LAST SEEN"}, {"CLUSTER"}, {"TYPE", 60}, {"REASON"}, {"OBJECT"}, {"MESSAGE"}}};
  std::vector<std::pair<std::string, std::string>> unanswered;  // cluster, why
};

struct events_run {
  reactor::loop& loop;
  service& windlass;
  const events_arguments& arguments;
  const known_events& known;
  reactor::event& stop;
  command_output& out;
};

struct of_one_cluster {
  std::vector<std::pair<std::string, listed_object>> rows = {};  // by when they were last seen
  std::string why = {};                                          // it could not be asked
};

reactor::awaitable<void> ask(events_run& r, std::string name, of_one_cluster& to) {  // borrowed
  k8s::cluster* c = r.windlass.fleet().find(name);
  std::vector<std::pair<std::string, std::string>> labels;
  if (c)
    for (const auto& [key, value] : c->labels())
      labels.emplace_back(std::string(key.str()), std::string(value.str()));
  else if (k8s::cluster* home = r.windlass.home(); home && home->name() == name)
    c = home;
  if (!c) co_return;
  k8s::list_pages pages(c->api(), k8s::resources::events(), k8s::list_options());
  for (std::size_t read = 0;;) {
    auto page = co_await pages.next();
    if (!page) to.why = page.error().message();
    if (!page || !*page) co_return;
    if (read >= most_events) {
      to.why =
          "it has more than " + std::to_string(most_events) + " Events; the others were not read";
      co_return;
    }
    const json::array* items = k8s::items_of(**page);
    if (!items) co_return;
    read += items->size();
    for (const json::value& one : *items) {
      if (!one.is_object()) continue;
      auto row =
          event_row(name, one.get_object(), r.known, r.arguments.about, r.loop.wall(), r.out.tint);
      if (!row) continue;
      row->labels = labels;
      to.rows.emplace_back(last_seen(one.get_object()), std::move(*row));
    }
  }
}

reactor::awaitable<seen_events> look(events_run& r) {  // borrowed
  (void)co_await r.windlass.fleet().discovered(r.loop.now() + r.arguments.timeout);
  std::vector<std::string> names = r.windlass.cluster_names();
  // Home has the Events about kubeconfig Secrets, whether it is in the fleet or not.
  if (const k8s::cluster* home = r.windlass.home();
      home && std::ranges::find(names, home->name()) == names.end())
    names.push_back(home->name());
  std::erase_if(names, [&](const auto& n) { return !r.arguments.list.chooses_cluster(n); });
  std::vector<of_one_cluster> found(names.size());
  co_await reactor::side_by_side(
      names.size(), [&](std::size_t i) { return ask(r, names[i], found[i]); }, clusters_at_once);
  seen_events all;
  std::vector<std::pair<std::string, listed_object>> rows;
  std::set<std::string> uids;  // home may be in the fleet under another name
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!found[i].why.empty()) all.unanswered.emplace_back(names[i], found[i].why);
    for (auto& row : found[i].rows)
      if (uids.insert(std::string(row.second.body.at("uid").as_string())).second)
        rows.push_back(std::move(row));
  }
  for (const k8s::fleet::unusable& u : r.windlass.fleet().without_connection())
    if (r.arguments.list.chooses_cluster(u.name)) all.unanswered.emplace_back(u.name, u.why);
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first; });
  for (auto& [time, row] : rows) all.rows.add(std::move(row));
  co_return all;
}

int show(const seen_events& all, const events_run& r) {
  const list_request& asked = r.arguments.list;
  if (asked.output.is_machine()) {
    json::array unanswered;
    for (const auto& [cluster, why] : all.unanswered)
      unanswered.push_back(json::object{{"cluster", cluster}, {"reason", why}});
    auto text = document_text(document("FleetEvents", {{"items", all.rows.items()},
                                                       {"unanswered", std::move(unanswered)}}),
                              asked.output);
    if (!text) {
      r.out.complaint(text.error());
      return failure;
    }
    r.out.bytes(std::move(*text));
  } else if (all.rows.objects().empty()) {
    r.out.complaint("no Events found");
  } else {
    r.out.text(
        all.rows.text(asked, asked.output == output_format::wide ? any_width : r.out.columns));
  }
  for (const auto& [cluster, why] : all.unanswered) r.out.complaint(cluster + ": " + why);
  return all.unanswered.empty() ? success : failure;
}

/// Those that were not there at the last look, or have happened again.
std::vector<std::size_t> news_in(const listing& now, std::map<std::string, json::object>& last) {
  std::map<std::string, json::object> seen;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < now.objects().size(); ++i) {
    const json::object& body = now.objects()[i].body;
    const std::string uid(body.at("uid").as_string());
    const auto before = last.find(uid);
    if (before == last.end() || before->second != body) out.push_back(i);
    seen[uid] = body;
  }
  last = std::move(seen);
  return out;
}

}  // namespace

known_events events_of(const std::vector<units::api>& apis) {
  known_events out;
  for (const k8s::event_kind& e : k8s::fleet_event::table) out.emplace(e.reason, e.about);
  for (const k8s::event_kind& e : policy_event::table) out.emplace(e.reason, e.about);
  for (const k8s::event_kind& e : memory_event::table) {
    out.emplace(e.reason, e.about);
    out.emplace(e.reason, "Lease");
  }
  for (const units::api& a : apis)
    for (const k8s::event_kind& e : a.events) out.emplace(e.reason, e.about);
  for (const policies::embedded_file& file : policies::stock_files())
    if (file.path.ends_with("/says.json")) {
      const json::value says = json::parse(file.content);
      for (const json::value& e : says.at("events").as_array())
        out.emplace(e.at("reason").as_string(), e.at("kind").as_string());
    }
  return out;
}

std::optional<listed_object> event_row(const std::string& cluster, const json::object& e,
                                       const known_events& known, const std::string& about,
                                       reactor::wall_time now, colours tint) {
  const std::string kind = text_member(e, "regarding", "kind"), reason = text_member(e, "reason"),
                    of = text_member(e, "regarding", "name"), type = text_member(e, "type"),
                    note = text_member(e, "note"), seen = last_seen(e);
  if (!known.contains({reason, kind}) || !is_about(about, kind, of)) return std::nullopt;
  const std::int64_t count = count_of(e);
  const auto at = reactor::parse_rfc3339(seen);
  std::string age = at ? formats::human_duration(now - *at) : "<unknown>";
  if (count > 1) age += " (x" + std::to_string(count) + ")";
  listed_object row{.kind = "event",
                    .cluster = cluster,
                    .ns = text_member(e, "metadata", "namespace"),
                    .name = text_member(e, "metadata", "name")};
  const bool warns = type == "Warning";
  row.trouble = warns ? 1 : 0;
  row.cells = {age,    cluster,         toned(type, warns ? tone::bad : tone::plain, tint),
               reason, kind + "/" + of, with_short_digests(note)};
  row.body = {
      {"uid", text_member(e, "metadata", "uid")},
      {"type", type},
      {"reason", reason},
      {"regarding",
       {{"kind", kind}, {"namespace", text_member(e, "regarding", "namespace")}, {"name", of}}},
      {"note", note},
      {"count", count},
      {"lastSeen", seen},
      {"reportingController", text_member(e, "reportingController")}};
  return row;
}

reactor::awaitable<int> show_events(reactor::loop& l, service& s, events_arguments a,
                                    known_events known, reactor::event& stop, command_output& out) {
  events_run r{l, s, a, known, stop, out};
  std::map<std::string, json::object> last;
  int code = success;
  for (bool first = true; first || !stop.is_set(); first = false) {
    seen_events all = co_await look(r);
    if (auto chosen = all.rows.choose(a.list); !chosen) {
      out.complaint(chosen.error());
      co_return failure;
    }
    if (first && !a.list.watch_only) code = show(all, r);
    if (!a.list.is_watching() || code != success) co_return code;
    const std::vector<std::size_t> news = news_in(all.rows, last);
    if (!first && a.list.output.is_machine())
      for (const std::size_t i : news)
        out.bytes(machine_text(all.rows.objects()[i].document(), a.list.output.format));
    else if (!first && !news.empty())
      out.text(all.rows.rows_text(a.list, news));
    (void)co_await stop.wait(l.now() + between_looks);
  }
  co_return code;
}

namespace {

int events_command(const events_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  prepared->options.apis.clear();  // nothing is followed
  prepared->options.policies.clear();
  service windlass(loop, std::move(prepared->options), prepared->log);
  stop_signal stop(loop);
  if (a.list.is_watching()) stop.listen();
  command_output out = standard_output();
  return run_started(loop, windlass, "events", [&] {
    return show_events(loop, windlass, a, events_of(i.apis()), stop.event(), out);
  });
}

}  // namespace

std::vector<app::command> events_commands() {
  return {command_of<events_arguments>(
      "events", "What Windlass said on the objects of the fleet, the newest last",
      [](flags& f, events_arguments& to) {
        declare_fleet(f, to.fleet);
        declare_listing(f, to.list, {});
        f.value("--for", to.about, "only Events about this object").takes("[KIND/]NAME").matters();
        f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers")
            .shows_default();
        f.footer(
            "Examples:\n  windlass events\n  windlass events --for node/worker-3 -w\n  windlass "
            "events --field-selector type=Warning --cluster 'prod-*'");
      },
      events_command)};
}

}  // namespace cli
