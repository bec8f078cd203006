#include "cli/commands.hpp"
#include "cli/connect.hpp"
#include "cli/output.hpp"
#include "cli/overview/overview.hpp"
#include "cli/service/run_to_end.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <optional>
#include <vector>

namespace cli {
namespace {

namespace json = boost::json;

struct overview_run {
  reactor::loop& loop;
  std::vector<service*> services;  // one, or before it the one with the policies in force
  const overview_arguments& arguments;
  int exit_code = success;
};

/// `before`: what the policies in force say; null: nobody asked for a comparison.
int show(const fleet_overview& f, const fleet_overview* before, const overview_arguments& a) {
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
      std::string nowhere;
      for (const auto& [name, t] : f.apis)
        nowhere += (nowhere.empty() ? "no " : ", no ") + t.says.row + " of " +
                   std::to_string(f.clusters.size()) + " clusters has a " + t.says.unit + " \"" +
                   a.unit + "\"";
      return complain(nowhere + "; `windlass status -o wide` lists them" + unanswered);
    }
  }
  using command = overview_arguments::command;
  std::optional<std::vector<verdict_change>> changes;
  if (before) changes = changes_between(*before, f);
  if (machine && changes) {
    json::object all = plan_document(f);
    all["changes"] = changes_json(*changes);
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
                                  : changes                 ? plan_text(f, how, tint, columns) +
                                                  changes_text(*changes, a.in_force, columns)
                                  : a.what == command::plan ? plan_text(f, how, tint, columns)
                                                            : explain_text(f, a.unit, tint))
             ? success
             : failure;
}

reactor::awaitable<void> look_and_show(overview_run& s) {
  std::vector<fleet_overview> seen;
  for (service* windlass : s.services) {
    auto started = co_await windlass->start();
    if (!started) {
      s.exit_code = complain(started.error().message());
    } else {
      fleet_overview f = co_await look_at(*windlass, s.loop, s.arguments.cluster,
                                          s.loop.now() + s.arguments.timeout);
      seen.push_back(std::move(f));
    }
    co_await windlass->stop();
  }
  if (seen.size() == s.services.size()) {
    if (seen.back().clusters.empty() && !s.arguments.cluster.empty()) {
      s.exit_code = complain("the fleet has no cluster \"" + s.arguments.cluster + "\"");
    } else {
      s.exit_code = show(seen.back(), seen.size() > 1 ? &seen.front() : nullptr, s.arguments);
    }
  }
  s.loop.stop();
}

}  // namespace

int overview_command(const overview_arguments& a, const std::vector<units::api>& known) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, known, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  overview_run s{loop, {}, a};
  std::optional<service> in_force;
  if (a.what == overview_arguments::command::plan && !a.fleet.policies.empty()) {
    service_options before = prepared->options;
    before.policies = a.in_force;
    s.services.push_back(&in_force.emplace(loop, std::move(before), prepared->log));
  }
  service windlass(loop, std::move(prepared->options), prepared->log);
  s.services.push_back(&windlass);
  run_to_end(loop, "overview", look_and_show(s));
  return s.exit_code;
}

}  // namespace cli
