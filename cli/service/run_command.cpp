#include "cli/commands.hpp"
#include "cli/connect.hpp"
#include "cli/service/operator_settings.hpp"
#include "cli/service/run_to_end.hpp"
#include "cli/service/service.hpp"
#include "cli/service/stop_guard.hpp"
#include "cli/ui/fleet_page.hpp"
#include "helm/tenants/chart_children.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/signals.hpp"

#include <cstdlib>
#include <optional>

namespace cli {
namespace {

struct running {
  reactor::loop& loop;
  service& windlass;
  helm::tenants::chart_children& charts;
  reactor::logger log;
  reactor::event stop_wanted;
  std::optional<ui> shown;
  int exit_code = success;
};

reactor::awaitable<void> serve(running& r) {
  auto started = co_await r.windlass.start();
  if (started && r.shown) started = co_await r.shown->start();
  if (!started) {
    complain(started.error().message());
    r.exit_code = failure;
  } else {
    co_await r.stop_wanted.wait();
    r.log.info("stopping");
  }
  const stop_guard in_time(r.loop);
  if (r.shown) co_await r.shown->stop();
  co_await r.windlass.stop();
  co_await r.charts.stop();
  r.loop.stop();
}

/// Empty: each API's own.
std::string operator_namespace(const run_arguments& a, const k8s::connection& home) {
  if (!a.operator_ns.empty()) return a.operator_ns;
  if (const char* pod = std::getenv("POD_NAMESPACE"); pod && *pod) return pod;
  return home.ns;
}

}  // namespace

int run_command(const run_arguments& a, const std::vector<setting>& settings,
                const std::vector<units::api>& known) {
  if (a.plan) {
    overview_arguments look;
    look.fleet = a.fleet;
    // As of `plan`: what clusters say of themselves is in what is printed.
    if (look.fleet.log_level == run_arguments().fleet.log_level) look.fleet.log_level = "error";
    look.what = overview_arguments::command::plan;
    look.output = output_format::json;
    return overview_command(look, known);
  }
  reactor::loop loop;
  auto log = logger_from(loop, a.fleet.log_level, a.fleet.log_format);
  if (!log) return complain(log.error().message(), wrong_usage);
  auto metrics_at = parse_bind_address(a.metrics_address, "metrics-bind-address");
  if (!metrics_at) return complain(metrics_at.error().message(), wrong_usage);
  auto health_at = parse_bind_address(a.health_address, "health-probe-bind-address");
  if (!health_at) return complain(health_at.error().message(), wrong_usage);
  auto ui_at = site_options_of(a.ui);
  if (!ui_at) return complain(ui_at.error().message(), wrong_usage);
  auto options = service_from(loop, a.fleet, known);
  if (!options)
    return complain(options.error().message() +
                    "\n  Name a cluster with --kubeconfig FILE [--context NAME], or try `windlass "
                    "demo`, which needs none.");
  options->metrics_at = *metrics_at;
  options->metrics_token_file = a.metrics_token_file;
  options->health_at = *health_at;
  options->hosts = a.ui.hosts;
  options->record = a.record;
  options->leader_elect = a.leader_elect;
  options->lease_ns = operator_namespace(a, options->home);
  const auto variable = [](const char* name) {
    return k8s::environment::of_process().variable(name);
  };
  options->pod = {variable("POD_NAMESPACE"), variable("POD_NAME")};
  if (asks_registries(options->apis)) {
    auto registries = registries_of(loop, options->home, a.registries, settings, *log);
    if (!registries) return complain(registries.error().message());
    options->apis = with_registries(options->apis, *registries, options->lease_ns);
  }

  std::string all;
  for (const setting& s : settings) {
    if (s.name == "help-all") continue;
    const std::string one =
        s.name + "=" + (s.value.empty() ? "\"\"" : s.value) + " (" + s.origin + ")";
    all += (all.empty() ? "" : " ") + one;
  }
  log->info("windlass starts", {{"version", WINDLASS_VERSION}, {"settings", all}});

  service windlass(loop, std::move(*options), *log);
  helm::tenants::chart_children charts(loop, {.metrics = &windlass.metrics(), .log = *log});
  running r{loop, windlass, charts, *log, reactor::event(loop), std::nullopt};
  if (*ui_at) r.shown.emplace(loop, windlass, **ui_at, *log);
  windlass.on_failure = [&r] {
    r.exit_code = failure;
    r.stop_wanted.set();
  };
  reactor::signals signals(loop, {.stop = [&r] { r.stop_wanted.set(); },
                                  .reload = [&windlass] { windlass.reload(); },
                                  .exit_now = [](int) { std::_Exit(failure); }});
  run_to_end(loop, "serve", serve(r));
  // Everything of ours has ended. A stranger's chart on a worker changes nothing outside, and the
  // process does not wait longer for it.
  if (!loop.finish_jobs(std::chrono::seconds(2))) {
    log->warning("a chart was still being worked on when the process ended");
    std::_Exit(r.exit_code);
  }
  return r.exit_code;
}

}  // namespace cli
