#include "app/process.hpp"
#include "app/run_to_end.hpp"
#include "app/stop_guard.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/file_limit.hpp"
#include "reactor/system/memory_limit.hpp"
#include "reactor/system/signals.hpp"
#include "reactor/task_group.hpp"
#include "service/commands/overview_command.hpp"
#include "service/commands/run_arguments.hpp"
#include "service/service.hpp"
#include "signals/hosts.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace cli {

using namespace app;

namespace {

struct running {
  reactor::loop& loop;
  service& windlass;
  std::vector<std::unique_ptr<reactor::foreign_workers>> workers;
  reactor::logger log;
  reactor::event stop_wanted;
  std::optional<ui> shown;
  int exit_code = success;
};

/// Listeners, files, home, children and one question more.
constexpr std::size_t other_files = 64;

/// Once: the fleet needs more connections than the process may have.
reactor::awaitable<void> watch_file_limit(running& r) {
  const std::size_t limit = reactor::raise_file_limit();
  while (r.windlass.connections_wanted() + other_files <= limit)
    co_await r.loop.sleep_for(std::chrono::seconds(30));
  r.log.warning(
      "the limit of open files is too low for the fleet; raise the hard limit (ulimit -Hn, "
      "LimitNOFILE=)",
      {{"limit", limit}, {"wanted", r.windlass.connections_wanted() + other_files}});
}

reactor::awaitable<void> serve(running& r) {
  reactor::task_group watched(r.loop);
  watched.start("open files", watch_file_limit(r));
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
  co_await watched.cancel_and_join();
  if (r.shown) co_await r.shown->stop();
  co_await r.windlass.stop();
  for (const auto& w : r.workers) co_await w->stop();
  r.loop.stop();
}

/// --plan
int show_plan(const run_arguments& a, const invocation& i) {
  overview_arguments look;
  look.fleet = a.fleet;
  // As of `plan`: what clusters say of themselves is in what is printed.
  if (look.fleet.log_level == run_arguments().fleet.log_level) look.fleet.log_level = "error";
  look.what = overview_arguments::command::plan;
  look.list.output.format = output_format::json;
  look.fleet.service_setups.clear();  // registries are not asked
  return overview_command(look, i);
}

/// "name=value (origin)" of each setting.
std::string all_settings(const invocation& i) {
  std::string all;
  for (const setting& s : i.settings()) {
    const std::string one =
        s.name + "=" + (s.value.empty() ? "\"\"" : s.value) + " (" + s.origin + ")";
    all += (all.empty() ? "" : " ") + one;
  }
  return all;
}

int run_command(const run_arguments& a, const invocation& i) {
  if (a.plan) return show_plan(a, i);
  reactor::loop loop;
  auto metrics_at = parse_bind_address(a.metrics_address, "metrics-bind-address");
  if (!metrics_at) return complain(metrics_at.error().message(), wrong_usage);
  auto health_at = parse_bind_address(a.health_address, "health-probe-bind-address");
  if (!health_at) return complain(health_at.error().message(), wrong_usage);
  auto ui_at = site_options_of(a.ui);
  if (!ui_at) return complain(ui_at.error().message(), wrong_usage);
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code,
                                  "Name a cluster with --kubeconfig FILE [--context NAME], or try "
                                  "`windlass demo`, which needs none.");
  if (!prepared) return code;
  reactor::logger log = prepared->log;
  service_options& options = prepared->options;
  options.metrics_at = *metrics_at;
  options.metrics_token_file = a.metrics_token_file;
  options.health_at = *health_at;
  options.hosts = a.ui.hosts;
  options.record = a.record;
  options.signal_origins = a.signal_origins;
  options.signal_ca_file = a.signal_ca_file;
  options.leader_elect = a.leader_elect;
  options.max_changes = a.max_changes;
  options.memory = [groups = reactor::memory_groups::of_this_process()] { return groups.look(); };
  const auto variable = [](const char* name) {
    return k8s::environment::of_process().variable(name);
  };
  options.pod = {variable("POD_NAMESPACE"), variable("POD_NAME")};
  log.info("windlass starts", {{"version", WINDLASS_VERSION}, {"settings", all_settings(i)}});

  std::set<decltype(units::api::workers)> starts;
  for (const units::api& a : options.apis)
    if (a.workers) starts.insert(a.workers);
  service windlass(loop, std::move(options), log);
  running r{loop, windlass, {}, log, reactor::event(loop), std::nullopt};
  for (const auto start : starts) r.workers.push_back(start(loop, windlass.metrics(), log));
  if (*ui_at) r.shown.emplace(loop, windlass, **ui_at, log);
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
    log.warning("a chart was still being worked on when the process ended");
    std::_Exit(r.exit_code);
  }
  return r.exit_code;
}

void declare_speed(flags& f, const std::string& name, std::size_t& to, const std::string& about) {
  f.read(
       name,
       [&to](const std::string& text) {
         const auto n = units::read_changes_a_minute(text);
         if (n) to = *n;
         return n ? std::string() : n.error().detail;
       },
       about)
      .takes("N/minute");
}

void declare_run(flags& f, run_arguments& to) {
  declare_fleet(f, to.fleet);
  f.value("--metrics-bind-address", to.metrics_address, "Prometheus metrics; 0 = off")
      .shows_default();
  f.value(
       "--metrics-token-file", to.metrics_token_file,
       "file with a token (16 characters or more) that readers of /metrics and /clusters show as a "
       "bearer; read again for each request")
      .takes("FILE");
  f.value("--health-probe-bind-address", to.health_address, "/healthz, /readyz, /clusters; 0 = off")
      .shows_default();
  f.on("--leader-elect", to.leader_elect, "each API acts only while this replica holds its Lease");
  f.on("--plan", to.plan, "only say what would be done, as `plan -o json` does, and end");
  declare_speed(
      f, "--max-changes", to.max_changes.fleet,
      "changes that this process may begin in any minute in the whole fleet, over all its "
      "APIs; else any number. No policy raises it, and each replica counts its own");
  declare_speed(f, "--max-changes-per-cluster", to.max_changes.cluster,
                "the same for each cluster");
  declare_ui(f, to.ui);
  f.value("--record", to.record,
          "keep every question to policies and its answer there, for `policy replay`")
      .takes("FILE");
  f.read(
       "--allow-signal-host",
       [&to](const std::string& text) {
         auto origin = signals::read_allowed_host(text);
         if (origin) to.signal_origins.push_back(std::move(*origin));
         return origin ? std::string() : origin.error().detail;
       },
       "a server that signals of policy packs may be fetched from, exactly this scheme, host and "
       "port; https where it does not say; without the flag none is fetched")
      .repeated()
      .takes("[https://|http://]HOST[:PORT]");
  f.value("--signal-ca-file", to.signal_ca_file,
          "CA certificates that those servers are verified with, instead of the system's")
      .takes("FILE");
  f.value("--operator-namespace", to.fleet.operator_ns, "namespace of the Leases");
  declare_service_settings(f, to.fleet);
  f.footer(R"(Examples:
  windlass run --kubeconfig ~/.kube/config
      one cluster alone is a fleet of one
  windlass run --kubeconfig home.yaml --namespace fleet --policies ./policies
      every Secret in namespace "fleet" labelled sigs.k8s.io/multicluster-runtime-kubeconfig=true is a cluster
  windlass run --ui :8090
      and http://127.0.0.1:8090 in a browser
Stop with Ctrl-C (twice: at once); SIGHUP reloads the policies.)");
}

}  // namespace

std::vector<app::command> run_commands() {
  run_arguments begin;
  begin.fleet.is_service = true;
  return {command_of<run_arguments>("run",
                                    "Run the service: move the fleet to what its pools ask for",
                                    declare_run, run_command, begin)};
}

}  // namespace cli
