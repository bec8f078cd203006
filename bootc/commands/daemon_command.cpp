#include "bootc/commands/daemon_command.hpp"

#include "app/process.hpp"
#include "bootc/daemon/flags.hpp"

namespace cli {

std::vector<app::command> daemon_commands() {
  return {app::command_of<bootc::daemon_arguments>(
      "daemon", bootc::about_daemon,
      [](app::flags& f, bootc::daemon_arguments& to) {
        bootc::declare_daemon(f, to);
        f.footer(
            "Example:\n  NODE_NAME=worker-1 windlass daemon --kubeconfig "
            "/etc/kubernetes/kubelet.conf --host direct");
      },
      [](const bootc::daemon_arguments&, const app::invocation& i) {
        return app::execute_sibling("windlass-node", i.words);
      })};
}

}  // namespace cli
