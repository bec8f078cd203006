#include "bootc/daemon/flags.hpp"

#include "app/process.hpp"

namespace bootc {

void declare_daemon(app::flags& f, daemon_arguments& to) {
  f.value("--kubeconfig", to.kubeconfig, "else $KUBECONFIG, in-cluster, ~/.kube/config")
      .takes("FILE");
  f.value("--context", to.context, "context of that kubeconfig");
  f.value("--node-name", to.node_name, "this node's name").else_variable("NODE_NAME");
  f.interval("--bootc-poll-interval", to.poll_interval, "5m",
             "between polls of the host: 5m, 1h30m; a plain number is seconds");
  f.read(
       "--host",
       [&to](const std::string& form) {
         using host_form = daemon_arguments::host_form;
         to.host = form == "direct" ? host_form::direct : host_form::nsenter;
         return std::string();
       },
       "how host commands run: nsenter (from the DaemonSet's pod) or direct (on the host itself)")
      .one_of({"nsenter", "direct"});
  f.value("--host-root", to.host_root,
          "where the host's file system is seen (default: /proc/1/root, or / when direct)")
      .takes("DIR");
  f.value("--health-probe-bind-address", to.health_address, "/healthz; 0 = off").shows_default();
  f.config();
  app::declare_logging(f, to.log_level, to.log_format);
}

}  // namespace bootc
