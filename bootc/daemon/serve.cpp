#include "bootc/daemon/serve.hpp"

#include "app/exit_code.hpp"
#include "app/process.hpp"
#include "app/run_to_end.hpp"
#include "app/stop_guard.hpp"
#include "bootc/daemon/command_host.hpp"
#include "bootc/daemon/node_daemon.hpp"
#include "bootc/operator_config.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/http/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/signals.hpp"
#include "reactor/task_group.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace bootc {
namespace {

int complain(const std::string& sentence, int code = app::failure) {
  return app::complain_as(program_name, sentence, code);
}

struct serving {
  reactor::loop& loop;
  k8s::client& api;
  command_host& machine;
  node_daemon_options options;
  reactor::nanoseconds poll_interval;  // from the command line; 0 = it says nothing
  reactor::logger log;
  reactor::event stop;
  std::unique_ptr<reactor::http::server> health = nullptr;
  std::unique_ptr<node_daemon> daemon = nullptr;
  int exit_code = app::success;
};

/// The interval of the BootcOperatorConfig, asked for until the server answers. A fault is what a
/// person has to mend.
reactor::awaitable<k8s::result<reactor::nanoseconds>> interval_for(serving& s) {  // borrowed
  if (s.poll_interval > reactor::nanoseconds::zero()) co_return s.poll_interval;
  constexpr reactor::nanoseconds first = std::chrono::seconds(1), last = std::chrono::seconds(30);
  for (reactor::nanoseconds pause = first;; pause = std::min(pause * 2, last)) {
    auto config = co_await load_operator_config(s.api);
    if (config) co_return config->status_poll_period;
    const k8s::fault why = config.error();
    if (why.code == k8s::errc::invalid) co_return why;
    const bool forbidden = why.code == k8s::errc::forbidden;
    s.log.warning(forbidden ? "the BootcOperatorConfig may not be read: its defaults count"
                            : "the BootcOperatorConfig cannot be read yet",
                  {{"why", why.message()}});
    if (forbidden) co_return operator_config().status_poll_period;
    co_await s.loop.sleep_for(pause);
  }
}

reactor::awaitable<void> begin_daemon(serving& s) {  // borrowed
  auto every = co_await interval_for(s);
  if (!every) {
    s.exit_code = complain(every.error().message());
    s.stop.set();
    co_return;
  }
  s.options.poll_interval = *every;
  s.daemon = std::make_unique<node_daemon>(s.loop, s.api, s.machine, s.options, s.log);
  s.daemon->start();
}

reactor::awaitable<void> serve(serving& s) {
  auto bound = s.health ? s.health->start() : reactor::result<void>();
  reactor::task_group beginning(s.loop);
  if (bound) {
    beginning.start("node daemon", begin_daemon(s));
    (void)co_await s.stop.wait();
  } else {
    s.exit_code = complain(bound.error().message());
  }
  const app::stop_guard in_time(s.loop, program_name);
  co_await beginning.cancel_and_join();
  if (s.daemon) co_await s.daemon->stop();
  co_await s.machine.stop();
  co_await s.api.stop();
  if (s.health) co_await s.health->stop();
  s.loop.stop();
}

}  // namespace

int serve_daemon(const daemon_arguments& a) {
  reactor::loop loop;
  auto log = app::logger_from(loop, a.log_level, a.log_format);
  if (!log) return complain(log.error().message(), app::wrong_usage);
  if (a.node_name.empty())
    return complain(
        "which node is this? Set NODE_NAME (downward API spec.nodeName) or --node-name");
  auto health_at = app::parse_bind_address(a.health_address, "health-probe-bind-address");
  if (!health_at) return complain(health_at.error().message(), app::wrong_usage);
  auto to = k8s::load_default(a.kubeconfig, a.context, k8s::environment::of_process());
  if (!to) return complain(to.error().message());

  k8s::client api(loop, std::move(*to), "windlass-daemon");
  command_host_options host_options;
  host_options.form =
      a.host == daemon_arguments::host_form::direct ? command_form::direct : command_form::nsenter;
  host_options.root = !a.host_root.empty()                            ? a.host_root
                      : a.host == daemon_arguments::host_form::direct ? "/"
                                                                      : "/proc/1/root";
  command_host machine(loop, std::move(host_options));
  node_daemon_options options;
  options.node = a.node_name;
  serving s{loop,
            api,
            machine,
            std::move(options),
            a.poll_interval.is_default() ? reactor::nanoseconds() : a.poll_interval.value,
            *log,
            reactor::event(loop)};
  if (*health_at) {
    reactor::http::server_options o;
    o.at = **health_at;
    o.max_connections = 50;
    o.header_timeout = std::chrono::seconds(5);
    o.header_limit_bytes = 16 * 1024;
    o.body_limit_bytes = 16 * 1024;
    s.health = std::make_unique<reactor::http::server>(
        loop, std::move(o),
        [&s](reactor::http::request, reactor::http::responder& r) -> reactor::awaitable<void> {
          const std::string problem = s.daemon ? s.daemon->host_problem() : std::string();
          reactor::http::response answer;
          answer.status = problem.empty() ? 200 : 503;
          answer.body = (problem.empty() ? "ok" : problem) + "\n";
          (void)co_await r.send(std::move(answer));
        });
  }
  log->info("windlass daemon starts",
            {{"version", WINDLASS_VERSION}, {"node", a.node_name}, {"server", api.server()}});
  reactor::signals signals(loop, {.stop = [&s] { s.stop.set(); }, .reload = {}, .exit_now = {}});
  app::run_to_end(loop, "daemon", serve(s));
  return s.exit_code;
}

}  // namespace bootc
