#include "service/commands/overview_command.hpp"

#include "app/run_to_end.hpp"
#include "reactor/loop.hpp"
#include "service/overview/changes.hpp"
#include "service/overview/overview.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;

/// Rows that move get so long to rest also where the clusters took all the time that there was.
constexpr reactor::nanoseconds shortest_comparison = std::chrono::seconds(5);

struct overview_run {
  reactor::loop& loop;
  service& windlass;
  service* in_force;  // with the policies in force; null: nobody asked for a comparison
  const overview_arguments& arguments;
  int exit_code = success;
};

/// `compared` with what the policies in force say; none: nobody asked for it.
int show(const fleet_overview& f, const std::optional<comparison>& compared,
         const overview_arguments& a) {
  const colours tint = colours_at(STDOUT_FILENO);
  const extent how = a.output == output_format::wide ? extent::wide : extent::usual;
  const bool machine = a.output == output_format::json || a.output == output_format::yaml;
  if (a.what == overview_arguments::command::explain) {
    if (explain_json(f, a.unit).empty()) {
      std::string unanswered;
      for (const cluster_overview& c : f.clusters)
        if (c.state != "Live")
          unanswered += "\n  " + c.name + " is " + c.state +
                        (c.last_error.empty() ? "" : ": " + c.last_error);
      std::string wrong;
      for (const cluster_overview& c : f.clusters)
        for (const api_overview& a : c.apis)
          for (const units::plan_row& r : a.rows)
            for (const units::row_problem& p : r.problems)
              if (p.unit.empty())
                wrong += "\n  " + a.says.row + " " + c.name + "/" + r.name + " is " + p.reason +
                         (p.message.empty() ? "" : ": " + p.message);
      std::string nowhere;
      for (const auto& [name, t] : f.apis)
        nowhere += (nowhere.empty() ? "no " : ", no ") + t.says.row + " of " +
                   std::to_string(f.clusters.size()) + " clusters has the " + t.says.unit + " \"" +
                   a.unit + "\"";
      return complain(nowhere + "; `windlass status -o wide` lists them" + unanswered + wrong);
    }
  }
  using command = overview_arguments::command;
  if (machine && compared) {
    json::object all = plan_document(f);
    all["changes"] = changes_json(compared->changes);
    all["uncompared"] = uncompared_json(compared->uncompared);
    return write_bytes(STDOUT_FILENO, machine_text(all, a.output)) ? success : failure;
  }
  if (machine)
    return write_bytes(STDOUT_FILENO,
                       machine_text(a.what == command::status ? status_document(f)
                                    : a.what == command::plan ? plan_document(f)
                                                              : explain_document(f, a.unit),
                                    a.output))
               ? success
               : failure;
  const std::size_t columns =
      how == extent::wide ? any_width : size_of_terminal(STDOUT_FILENO).columns;
  return write_out(STDOUT_FILENO, a.what == command::status ? status_text(f, how, tint, columns)
                                  : compared                ? plan_text(f, how, tint, columns) +
                                                   changes_text(*compared, a.in_force, columns)
                                  : a.what == command::plan ? plan_text(f, how, tint, columns)
                                                            : explain_text(f, a.unit, tint))
             ? success
             : failure;
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

reactor::awaitable<void> look_and_show(overview_run& s) {
  const reactor::steady_time deadline = s.loop.now() + s.arguments.timeout;
  std::optional<fleet_overview> f;
  std::optional<comparison> compared;
  if (co_await is_started(s.windlass, s.exit_code) &&
      (!s.in_force || co_await is_started(*s.in_force, s.exit_code))) {
    f = co_await look_at(s.windlass, s.loop, s.arguments.cluster, deadline);
    if (s.in_force) {
      co_await until_answered(*s.in_force, s.loop, s.arguments.cluster, deadline);
      compared = co_await compare(*s.in_force, s.windlass, s.loop, *f,
                                  std::max(deadline, s.loop.now() + shortest_comparison));
    }
  }
  co_await s.windlass.stop();
  if (s.in_force) co_await s.in_force->stop();
  if (f) {
    if (f->clusters.empty() && !s.arguments.cluster.empty()) {
      s.exit_code = complain("the fleet has no cluster \"" + s.arguments.cluster + "\"");
    } else {
      s.exit_code = show(*f, compared, s.arguments);
      if (const std::string unknown = unknown_rows(*f, s.arguments); !unknown.empty())
        s.exit_code = complain("no cluster that answered has " + unknown);
    }
  }
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
  service windlass(loop, std::move(prepared->options), prepared->log);
  overview_run s{loop, windlass, in_force ? &*in_force : nullptr, a};
  run_to_end(loop, "overview", look_and_show(s));
  return s.exit_code;
}

namespace {

using overview_verb = overview_arguments::command;

app::command overview_as(overview_verb what, const char* name, const char* about,
                         std::function<void(flags&, overview_arguments&)> declare) {
  overview_arguments begin;
  begin.what = what;
  return command_of<overview_arguments>(
      name, about,
      [declare = std::move(declare)](flags& f, overview_arguments& to) {
        declare_fleet(f, to.fleet);
        f.output(to.output, output_format::wide);
        f.value("--cluster", to.cluster, "only this cluster").takes("NAME");
        f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers")
            .shows_default();
        declare(f, to);
      },
      overview_command, begin);
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
  f.value("--in-force", to.in_force,
          "the --policies that `run` has; with --policies: what they would change")
      .repeated()
      .takes("DIR");
  f.footer(
      "Examples:\n  windlass plan --kubeconfig home.yaml\n  windlass plan --image "
      "workers=registry.example.com/os/node:42\n  windlass plan --policies "
      "./new-policies "
      "--in-force ./policies -o json");
}

void declare_explain(flags& f, overview_arguments& to) {
  f.value("UNIT", to.unit, "node, or cluster/node").required();
  f.footer("Example:\n  windlass explain prod-eu-1/worker-3");
}

}  // namespace

std::vector<app::command> overview_commands() {
  return {overview_as(overview_verb::status, "status",
                      "What is happening: every cluster, pool and node",
                      [](flags& f, overview_arguments&) {
                        f.footer(
                            "Examples:\n  windlass status --kubeconfig home.yaml\n  windlass "
                            "status -o wide --cluster prod-eu-1");
                      }),
          overview_as(overview_verb::plan, "plan",
                      "What would happen next, decided by the planner that `run` uses; writes "
                      "nothing",
                      declare_plan),
          overview_as(overview_verb::explain, "explain",
                      "Why is this node waiting, and what would release it", declare_explain)};
}

}  // namespace cli
