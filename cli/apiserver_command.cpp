#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/service/run_to_end.hpp"
#include "cli/service/stop_guard.hpp"
#include "k8s/sim/fleet_server.hpp"
#include "k8s/sim/workloads.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/signals.hpp"
#include "reactor/task_group.hpp"

#include <unistd.h>

#include <chrono>
#include <list>

namespace cli {
namespace {

constexpr reactor::nanoseconds workloads_ready_after = std::chrono::seconds(1);

reactor::awaitable<void> serve_until(k8s::sim::fleet_server& servers, reactor::event& stop,
                                     reactor::loop& l) {
  co_await stop.wait();
  const stop_guard in_time(l);
  co_await servers.stop();
  l.stop();
}

}  // namespace

int apiserver_command(const apiserver_arguments& a) {
  reactor::loop loop;
  k8s::sim::fleet_options o;
  o.clusters = a.clusters;
  o.port = a.port;
  if (a.one_port) o.layout = k8s::sim::fleet_layout::one_port;
  if (a.tls) o.security = k8s::sim::transport_security::tls;
  if (a.rbac) o.judge = k8s::sim::authorization::rbac;
  k8s::sim::fleet_server servers(loop, std::move(o));
  std::list<k8s::sim::workloads> workloads;
  for (std::size_t i = 0; i < servers.size() && !a.no_workloads; ++i)
    workloads.emplace_back(loop, servers.api(i), workloads_ready_after);
  auto started = servers.start();
  auto written = started ? servers.write(a.dir) : reactor::result<std::string>(started.error());
  reactor::event stop(loop);
  reactor::signals signals(loop, {.stop = [&stop] { stop.set(); }, .reload = {}, .exit_now = {}});
  if (!written) {
    stop.set();
  } else {
    write_bytes(STDOUT_FILENO, *written + "\n");
    write_out(STDERR_FILENO, page(std::to_string(servers.size())) + " API server" +
                                 (servers.size() == 1 ? "" : "s") + " at " + servers.url(0) +
                                 (servers.size() > 1 ? " …" : "") + "; try: kubectl --kubeconfig " +
                                 *written + " get namespaces\nStop with Ctrl-C.\n");
  }
  run_to_end(loop, "serve", serve_until(servers, stop, loop));
  return written ? success : complain(written.error().message());
}

}  // namespace cli
