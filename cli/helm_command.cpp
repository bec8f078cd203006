#include "cli/commands.hpp"
#include "cli/helm_sources.hpp"
#include "cli/output.hpp"
#include "helm/commands/commands.hpp"
#include "helm/commands/release_command_line.hpp"
#include "helm/commands/source_commands.hpp"
#include "reactor/entropy.hpp"
#include "reactor/loop.hpp"

#include <unistd.h>

namespace cli {

int helm_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    write_bytes(
        STDOUT_FILENO,
        "Render, check, install, fetch and publish Helm charts as Helm v3.21.4 does.\n"
        "Usage: windlass helm COMMAND ARGUMENTS\n\n"
        "  template, show, lint                charts by path, URL, repository or registry\n"
        "  install, upgrade, rollback,         releases on a cluster (--kubeconfig, "
        "--kube-context,\n"
        "  uninstall, test                     --namespace); the records are Helm's own\n"
        "  list, status, history, get          what is installed there\n" +
            std::string(helm::sources::source_commands_help()) +
            "\n"
            "Examples:\n"
            "  windlass helm template NAME cert-manager.tgz -f values.yaml\n"
            "  windlass helm show values ./chart\n"
            "  windlass helm lint ./chart\n"
            "  windlass helm upgrade --install web ./chart --atomic -n shops\n"
            "  windlass helm verify ./chart -f values.yaml\n");
    return arguments.empty() ? wrong_usage : success;
  }
  reactor::loop loop;  // the one of every helm command
  if (helm::release::is_release_command(arguments.front()))
    return helm_release_command(loop, arguments);
  reactor::system_entropy chance;
  helm::surroundings around;
  around.now = [&] {
    return std::chrono::time_point_cast<std::chrono::system_clock::duration>(loop.wall());
  };
  around.steady = [&] { return loop.now().time_since_epoch(); };
  around.random = [&](std::span<unsigned char> bytes) { chance.fill(bytes); };
  const helm::command_result r = helm::sources::is_source_command(arguments.front())
                                     ? run_source_command(loop, arguments, around)
                                     : helm::run_command(arguments, around, chart_locator(loop));
  const bool written = write_bytes(STDOUT_FILENO, r.out) && write_bytes(STDERR_FILENO, r.err);
  return written ? r.exit_code : failure;
}

}  // namespace cli
