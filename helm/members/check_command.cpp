// `windlass check`: as a command, with its flags.
#include "app/run_to_end.hpp"
#include "helm/members/cluster_arguments.hpp"
#include "helm/members/home_check.hpp"
#include "reactor/loop.hpp"
#include "service/connect.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <utility>

namespace cli {
namespace {

struct check_arguments {
  fleet_arguments fleet;
  bool before = false;
  std::string ns = "bootc-operator";
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  list_request list;  // how it is shown
};

/// The fleet as a service in look mode sees it.
reactor::awaitable<void> look_at_members(home_check& to, service& windlass,  // borrowed
                                         reactor::loop& l, const check_arguments& a) {
  auto started = co_await windlass.start();
  if (started) {
    std::string label = a.fleet.kubeconfig_label;
    const auto all = co_await list_clusters(windlass, l, std::move(label), l.now() + a.timeout);
    add_members(to, all);
  } else {
    to.findings.push_back({"members", home_finding::level::failure, started.error().message(),
                           "the line above says why home cannot be asked"});
  }
  co_await windlass.stop();
}

int check_command_of_home(const check_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared =
      prepare_service(loop, a.fleet, i, code, "Name home with --kubeconfig FILE [--context NAME].");
  if (!prepared) return code;
  k8s::connection home = prepared->options.home;
  if (home.server.empty())
    return complain("a fleet of contexts has no home that could be checked", wrong_usage);
  prepared->options.does = units::mode::look;
  const std::string from = home.source + (home.context.empty() ? "" : ", context " + home.context);
  service windlass(loop, std::move(prepared->options), prepared->log);
  home_check seen;
  const auto work = [&]() -> reactor::awaitable<void> {
    k8s::client api(loop, std::move(home));
    std::string ns = a.ns;
    if (a.before) {
      seen = co_await check_before(loop, api, std::move(ns));
    } else {
      std::vector<units::api> apis = i.apis();
      seen = co_await check_after(loop, api, std::move(ns), std::move(apis));
    }
    co_await api.stop();
    if (!a.before) co_await look_at_members(seen, windlass, loop, a);
    loop.stop();
  };
  run_to_end(loop, "check", work());
  seen.findings.insert(seen.findings.begin(),
                       {"kubeconfig", home_finding::level::ok, from, std::string()});
  const bool wide = a.list.output == output_format::wide;
  if (a.list.output.is_machine()) {
    if (const int wrong = write_document(check_document(seen), a.list.output); wrong != success)
      return wrong;
  } else {
    write_out(STDOUT_FILENO,
              check_text(seen, colours_at(STDOUT_FILENO), wide ? any_width : output_columns()));
  }
  return seen.failed() ? failure : success;
}

}  // namespace

std::vector<app::command> check_commands() {
  check_arguments begin;
  begin.fleet.ns_flag = "--fleet-namespace";
  return {command_of<check_arguments>(
      "check", "Whether home can take Windlass, and whether it works there",
      [](flags& f, check_arguments& to) {
        declare_fleet(f, to.fleet);
        f.on("--pre", to.before, "before the install: what the cluster must have and you may do")
            .matters();
        f.value("-n,--namespace", to.ns, "namespace of the chart's release")
            .shows_default()
            .matters();
        f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers")
            .shows_default();
        f.output(to.list.output, output_format::wide);
        f.footer(
            "Examples:\n  windlass check --pre\n  windlass check -n bootc-operator\n  windlass "
            "check -o json");
      },
      check_command_of_home, begin)};
}

}  // namespace cli
