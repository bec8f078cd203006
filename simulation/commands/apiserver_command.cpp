#include "app/run_to_end.hpp"
#include "app/stop_guard.hpp"
#include "k8s/sim/fleet_server.hpp"
#include "k8s/sim/workloads.hpp"
#include "k8s/skew/skew_policy.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/signals.hpp"
#include "reactor/task_group.hpp"
#include "simulation/commands/commands.hpp"

#include <unistd.h>

#include <chrono>
#include <list>

namespace cli {

using namespace app;

namespace {

struct apiserver_arguments {
  std::size_t clusters = 1;
  std::string dir;  // where the kubeconfig goes
  std::uint16_t port = 0;
  std::string kubernetes;  // the version that they say they are; empty: the newest
  bool one_port = false, tls = false, no_workloads = false, rbac = false;
};

constexpr reactor::nanoseconds workloads_ready_after = std::chrono::seconds(1);

reactor::awaitable<void> serve_until(k8s::sim::fleet_server& servers, reactor::event& stop,
                                     reactor::loop& l) {
  co_await stop.wait();
  const stop_guard in_time(l);
  co_await servers.stop();
  l.stop();
}

int apiserver_command(const apiserver_arguments& a, const invocation&) {
  reactor::loop loop;
  k8s::sim::fleet_options o;
  o.clusters = a.clusters;
  o.port = a.port;
  if (a.one_port) o.layout = k8s::sim::fleet_layout::one_port;
  if (a.tls) o.security = k8s::sim::transport_security::tls;
  if (a.rbac) o.judge = k8s::sim::authorization::rbac;
  if (!a.kubernetes.empty())
    o.adjust = [&a](std::size_t, k8s::sim::api_options& of) { of.version = a.kubernetes; };
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

void declare_apiserver(flags& f, apiserver_arguments& to) {
  f.value("--clusters", to.clusters, "how many").from_to(1, 10'000).shows_default();
  f.value("--dir", to.dir, "folder for the kubeconfig (made if absent)").required().takes("DIR");
  f.value("--port", to.port, "first port; 0 = any free ones").shows_default();
  f.on("--one-port", to.one_port, "one port for all, one path prefix each");
  f.on("--tls", to.tls, "TLS with a CA made at start");
  f.read(
       "--authorization",
       [&to](const std::string& how) {
         to.rbac = how == "rbac";
         return std::string();
       },
       "who may do what: everybody everything, or what Roles and bindings allow")
      .one_of({"always-allow", "rbac"})
      .takes("always-allow|rbac");
  f.read(
       "--kubernetes",
       [&to](const std::string& version) {
         if (!k8s::skew::parse_version(version))
           return "\"" + version + "\" is no version of Kubernetes";
         to.kubernetes = version.starts_with("v") ? version : "v" + version;
         return std::string();
       },
       "the version that they say they are; before v1.25 they serve PodSecurityPolicies, all else "
       "is as in the newest")
      .takes("v1.N.P");
  f.on("--no-workloads", to.no_workloads,
       "leave Deployments, Jobs and other workloads as they are put; without it they are ready a "
       "second later");
  f.footer(
      "Example:\n  windlass apiserver --clusters 3 --dir /tmp/fleet &\n  kubectl --kubeconfig "
      "/tmp/fleet/kubeconfig --context cluster-001 get nodes");
}

}  // namespace

std::vector<app::command> apiserver_commands() {
  return {command_of<apiserver_arguments>(
      "apiserver", "Serve embedded Kubernetes API servers for trying things out", declare_apiserver,
      apiserver_command)};
}

}  // namespace cli
