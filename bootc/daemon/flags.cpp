#include "bootc/daemon/flags.hpp"

#include "units/program/flags.hpp"

#include <CLI/CLI.hpp>

namespace bootc {

void declare_daemon(CLI::App& command, daemon_arguments& to, std::string& config) {
  using form = daemon_arguments::host_form;
  command.add_option("--kubeconfig", to.kubeconfig, "else $KUBECONFIG, in-cluster, ~/.kube/config")
      ->option_text("FILE");
  command.add_option("--context", to.context, "context of that kubeconfig");
  command.add_option("--node-name", to.node_name, "this node's name")->envname("NODE_NAME");
  program::add_interval(command, "--bootc-poll-interval", to.poll_interval,
                        "between polls of the host: 5m, 1h30m; a plain number is seconds", "5m");
  command
      .add_option_function<std::string>(
          "--host",
          [&to](const std::string& name) {
            to.host = name == "direct" ? form::direct : form::nsenter;
          },
          "how host commands run: nsenter (from the DaemonSet's pod) or direct (on the host "
          "itself)")
      ->check(CLI::IsMember({"nsenter", "direct"}));
  command
      .add_option("--host-root", to.host_root,
                  "where the host's file system is seen (default: /proc/1/root, or / when direct)")
      ->option_text("DIR");
  command.add_option("--health-probe-bind-address", to.health_address, "/healthz; 0 = off")
      ->capture_default_str();
  program::add_config(command, config);
  program::add_logging(command, to.log_level, to.log_format);
}

}  // namespace bootc
