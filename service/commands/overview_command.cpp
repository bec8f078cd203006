#include "service/commands/overview_command.hpp"

#include "app/nearest.hpp"
#include "app/run_to_end.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "service/commands/looking.hpp"
#include "service/overview/changes.hpp"
#include "service/overview/overview.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;

/// Rows that move get so long to rest also where the clusters took all the time that there was.
constexpr reactor::nanoseconds shortest_comparison = std::chrono::seconds(5);
constexpr reactor::nanoseconds look_again = std::chrono::seconds(1);

struct overview_run {
  reactor::loop& loop;
  service& windlass;
  service* in_force;  // with the policies in force; null: no comparison was asked for
  const overview_arguments& arguments;
  reactor::event& stop;
  std::string home_ns = {};  // of the fleet's Secrets
  int exit_code = success;
};

/// Why nothing of that name can be explained: where it is not, and who has not answered.
std::string not_found(const fleet_overview& f, const std::string& name) {
  std::string nowhere, wrong, unanswered;
  std::vector<std::string> names;
  for (const auto& [api, t] : f.apis)
    nowhere += (nowhere.empty() ? "no " : ", no ") + t.says.row + " of " +
               std::to_string(f.clusters.size()) + " clusters has the " + t.says.unit + " \"" +
               name + "\"";
  for (const cluster_overview& c : f.clusters) {
    if (c.state != "Live")
      unanswered +=
          "\n  " + c.name + " is " + c.state + (c.last_error.empty() ? "" : ": " + c.last_error);
    for (const api_overview& a : c.apis)
      for (const units::plan_row& r : a.rows) {
        names.insert(names.end(), {r.name, c.name + "/" + r.name});
        for (const units::unit& u : r.units)
          names.insert(names.end(), {u.name, c.name + "/" + u.name});
        for (const units::row_problem& p : r.problems)
          if (p.unit.empty())
            wrong += "\n  " + a.says.row + " " + c.name + "/" + r.name + " is " + p.reason +
                     (p.message.empty() ? "" : ": " + p.message);
      }
  }
  const std::string meant = did_you_mean(name, names);
  return nowhere + (meant.empty() ? "; `windlass status -o wide` lists them" : meant) + unanswered +
         wrong;
}

json::object document_of(const fleet_overview& f, const std::optional<comparison>& compared,
                         const overview_arguments& a) {
  using command = overview_arguments::command;
  if (a.what == command::status) return status_document(f, a.list);
  if (a.what == command::explain) {
    json::object all = explain_document(f, a.list.names.front());
    for (std::size_t i = 1; i < a.list.names.size(); ++i) {
      json::object more = explain_document(f, a.list.names[i]);
      for (json::value& one : more.at("found").as_array())
        all.at("found").as_array().push_back(std::move(one));
    }
    listing items = explained_listing(f, a.list.names, colours::none);
    items.arrange(a.list);
    all["items"] = items.items();
    return all;
  }
  json::object all = plan_document(f, a.list);
  if (!compared) return all;
  all["changes"] = changes_json(compared->changes);
  all["uncompared"] = uncompared_json(compared->uncompared);
  return all;
}

/// As kubectl, which prints one object where one is named.
const json::object& as_asked(const json::object& all, const overview_arguments& a) {
  const json::array& items = all.at("items").as_array();
  const bool one = a.what != overview_arguments::command::explain && a.list.names.size() == 1 &&
                   items.size() == 1;
  return one ? items.front().as_object() : all;
}

}  // namespace

int show_overview(const fleet_overview& f, const std::optional<comparison>& compared,
                  const overview_arguments& a) {
  using command = overview_arguments::command;
  const colours tint = colours_at(STDOUT_FILENO);
  const bool wide = a.list.output == output_format::wide;
  const extent how = wide ? extent::wide : extent::usual;
  if (a.what == command::explain)
    for (const std::string& name : a.list.names)
      if (explain_json(f, name).empty()) return complain(not_found(f, name));
  if (a.list.output.is_machine()) {
    const json::object all = document_of(f, compared, a);
    return write_document(as_asked(all, a), a.list.output);
  }
  const std::size_t columns = wide ? any_width : output_columns();
  page text;
  if (a.what == command::status || a.list.output.no_headers || a.list.show_labels) {
    if (a.what == command::explain) {
      listing all = explained_listing(f, a.list.names, tint);
      all.arrange(a.list);
      text = all.text(a.list, columns);
    } else {
      // The heading, a line for what was left out and what holds units stand below and above.
      constexpr std::size_t beside = 12;
      const std::size_t rows = output_rows();
      text =
          status_text(f, how, tint, columns, a.list, rows > 2 * beside ? rows - beside : rows / 2);
    }
  } else if (a.what == command::plan) {
    text = plan_text(f, how, tint, columns);
    if (compared) text += changes_text(*compared, a.in_force, columns);
  } else {
    bool first = true;
    for (const std::string& name : a.list.names) {
      if (!std::exchange(first, false)) text += "\n";
      text += explain_text(f, name, tint, columns);
    }
  }
  return write_out(STDOUT_FILENO, text) ? success : failure;
}

namespace {

/// The rows that changed since the last look, in the form that was asked for.
int show_changed(const fleet_overview& f, const overview_arguments& a,
                 std::map<std::string, std::string>& last, bool say) {
  const colours tint = colours_at(STDOUT_FILENO);
  const bool wide = a.list.output == output_format::wide;
  const auto show_some = [&](const listing& all) {
    const std::vector<std::size_t> which = all.changed(last);
    if (!say || which.empty()) return int(success);
    if (!a.list.output.is_machine())
      return write_out(STDOUT_FILENO, all.rows_text(a.list, which)) ? int(success) : int(failure);
    for (const std::size_t i : which)
      if (const int code = write_document(all.objects()[i].document(), a.list.output);
          code != success)
        return code;
    return int(success);
  };
  if (a.what == overview_arguments::command::explain)
    return show_some(explained_listing(f, a.list.names, tint));
  for (const auto& [name, t] : f.apis)
    if (const int code =
            show_some(rows_listing(f, name, t.says, wide ? extent::wide : extent::usual, tint));
        code != success)
      return code;
  return success;
}

/// Rows that --image names and no cluster has.
std::string unknown_rows(const fleet_overview& f, const overview_arguments& a) {
  std::string text;
  if (!a.assumed) return text;
  for (const auto& [row, target] : a.assumed->by_row) {
    bool found = row.empty();
    for (const cluster_overview& c : f.clusters)
      for (const api_overview& api : c.apis)
        found = found || std::ranges::find(api.rows, row, &units::plan_row::name) != api.rows.end();
    if (!found) text += (text.empty() ? "\"" : ", \"") + row + '"';
  }
  return text;
}

reactor::awaitable<bool> is_started(service& one, int& exit_code) {
  auto started = co_await one.start();
  if (!started) exit_code = complain(started.error().message());
  co_return started.has_value();
}

/// One look, with the comparison where one is asked for; nothing once a fault was told.
reactor::awaitable<std::optional<fleet_overview>> look(overview_run& s,  // borrowed
                                                       std::optional<comparison>& compared) {
  const reactor::steady_time deadline = s.loop.now() + s.arguments.timeout;
  const std::string only = s.arguments.list.only_cluster();
  fleet_overview f = co_await look_at(s.windlass, s.loop, only, deadline);
  if (f.clusters.empty() && !only.empty()) {
    s.exit_code = complain("the fleet has no cluster \"" + only + "\"" +
                           did_you_mean(only, s.windlass.cluster_names()));
    co_return std::nullopt;
  }
  list_request by = s.arguments.list;
  // What is explained is found in all of them.
  if (s.arguments.what == overview_arguments::command::explain) by.names.clear();
  if (auto chosen = choose(f, by); !chosen) {
    s.exit_code = complain(chosen.error());
    co_return std::nullopt;
  }
  if (s.in_force) {
    co_await until_answered(*s.in_force, s.loop, only, deadline);
    compared = co_await compare(*s.in_force, s.windlass, s.loop, f,
                                std::max(deadline, s.loop.now() + shortest_comparison));
  }
  co_return f;
}

/// Until a signal ends it, or a look or a write fails.
reactor::awaitable<void> follow(overview_run& s, const fleet_overview* first) {  // borrowed
  std::map<std::string, std::string> last;
  if (first) (void)show_changed(*first, s.arguments, last, false);
  bool say = !s.arguments.list.watch_only;
  while (!s.stop.is_set() && s.exit_code == success) {
    (void)co_await s.stop.wait(s.loop.now() + look_again);
    if (s.stop.is_set()) co_return;
    std::optional<comparison> none;
    const std::optional<fleet_overview> f = co_await look(s, none);
    if (!f) co_return;
    s.exit_code = show_changed(*f, s.arguments, last, say);
    say = true;
  }
}

reactor::awaitable<void> look_and_show(overview_run& s) {
  if (co_await is_started(s.windlass, s.exit_code) &&
      (!s.in_force || co_await is_started(*s.in_force, s.exit_code))) {
    std::optional<comparison> compared;
    std::optional<fleet_overview> f = co_await look(s, compared);
    if (f && s.arguments.what == overview_arguments::command::status && s.windlass.home()) {
      f->refused = co_await refused_policies(s.windlass.home()->api(), s.home_ns);
      f->near_limit =
          co_await services_near_limit(s.windlass.home()->api(), s.home_ns, s.loop.wall());
    }
    if (f && !s.arguments.list.watch_only) s.exit_code = show_overview(*f, compared, s.arguments);
    if (f)
      if (const std::string unknown = unknown_rows(*f, s.arguments); !unknown.empty())
        s.exit_code = complain("no cluster that answered has " + unknown);
    if (f && s.arguments.list.is_watching()) co_await follow(s, &*f);
  }
  co_await s.windlass.stop();
  if (s.in_force) co_await s.in_force->stop();
  s.loop.stop();
}

}  // namespace

int overview_command(const overview_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  const bool assumes = a.assumed && !a.assumed->by_row.empty();
  // Nothing is published about an image that no pool asks for yet.
  if (a.fleet.policies.empty() && !assumes) prepared->options.shows = units::verdicts::published;
  std::optional<service> in_force;
  if (a.what == overview_arguments::command::plan && !a.fleet.policies.empty()) {
    service_options before = prepared->options;
    before.policies = a.in_force;
    in_force.emplace(loop, std::move(before), prepared->log);
  }
  std::string home_ns = prepared->options.ns;
  service windlass(loop, std::move(prepared->options), prepared->log);
  stop_signal stop(loop);
  if (a.list.is_watching()) stop.listen();
  overview_run s{loop, windlass,     in_force ? &*in_force : nullptr,
                 a,    stop.event(), std::move(home_ns)};
  run_to_end(loop, "overview", look_and_show(s));
  return s.exit_code;
}

namespace {

using overview_verb = overview_arguments::command;

constexpr const char* names = "[KIND/][CLUSTER/]NAME of a pool or a node; none = all";

app::command overview_as(overview_verb what, const char* name, const char* about,
                         std::function<void(flags&, overview_arguments&)> declare) {
  overview_arguments begin;
  begin.what = what;
  app::command out = command_of<overview_arguments>(
      name, about,
      [declare = std::move(declare)](flags& f, overview_arguments& to) {
        declare_fleet(f, to.fleet);
        declare_listing(
            f, to.list,
            {.names = to.what == overview_verb::explain ? nullptr : names, .argument = "POOL"});
        f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers")
            .shows_default();
        declare(f, to);
      },
      overview_command, begin);
  using argument = completed_command::argument;
  out.takes = what == overview_verb::explain ? argument::unit : argument::row;
  return out;
}

void declare_plan(flags& f, overview_arguments& to) {
  const auto assumed = to.assumed =
      f.shared<units::assumed_targets>([](units::assumed_targets&) {});
  f.read(
       "--image",
       [assumed](const std::string& text) {
         const std::size_t at = text.find('=');
         if (at == text.npos || at == 0 || at + 1 == text.size())
           return std::string("expected POOL=REF, as in workers=registry.example.com/os/node:42");
         assumed->by_row[text.substr(0, at)] = text.substr(at + 1);
         return std::string();
       },
       "what would happen if this pool asked for this image; a tag is looked up now")
      .repeated()
      .takes("POOL=REF");
  f.read(
       "--set-image",
       [assumed](const std::string& text) {
         assumed->by_row[""] = text;
         return std::string();
       },
       "the same for every pool that --image does not name")
      .takes("REF");
  f.section("Registries, to look up what --image names");
  units::declare_lookup(f, assumed->registries);
  f.section("");
  f.value("--in-force", to.in_force,
          "the --policies that `run` has; with --policies: what they would change")
      .repeated()
      .takes("DIR");
  f.footer(
      "Examples:\n  windlass plan\n  windlass plan cluster-003/workers -o wide\n  windlass plan "
      "--image workers=registry.example.com/os/node:42\n  windlass plan --policies ./new "
      "--in-force ./policies");
}

void declare_explain(flags& f, overview_arguments& to) {
  f.value("UNIT", to.list.names, "[KIND/][CLUSTER/]NAME of a node or a pool")
      .required()
      .takes("UNIT …");
  f.footer(
      "Examples:\n  windlass explain node/worker-3\n  windlass explain prod-eu-1/worker-3\n  "
      "windlass explain worker-3 -o jsonpath='{.items[*].hold.code}'");
}

}  // namespace

std::vector<app::command> overview_commands() {
  return {overview_as(overview_verb::status, "status",
                      "What is happening: every cluster, pool and node",
                      [](flags& f, overview_arguments&) {
                        f.footer(
                            "Examples:\n  windlass status\n  windlass status "
                            "cluster-003/workers -o wide\n  windlass status -l env=prod --watch");
                      }),
          overview_as(overview_verb::plan, "plan",
                      "What would happen next, decided by the planner that `run` uses; writes "
                      "nothing",
                      declare_plan),
          overview_as(overview_verb::explain, "explain",
                      "Why is this node waiting, and what would release it", declare_explain)};
}

}  // namespace cli
