#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "helm/commands.hpp"
#include "reactor/entropy.hpp"
#include "reactor/loop.hpp"

#include <unistd.h>

namespace cli {

int helm_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    write_out(STDOUT_FILENO,
              "Render and check Helm charts as Helm v3.21.4 does.\n"
              "Usage: windlass helm template|show|lint ARGUMENTS\n\n"
              "Examples:\n"
              "  windlass helm template NAME cert-manager.tgz -f values.yaml\n"
              "  windlass helm show values ./chart\n"
              "  windlass helm lint ./chart\n");
    return arguments.empty() ? wrong_usage : success;
  }
  reactor::loop clock;
  reactor::system_entropy chance;
  helm::surroundings around;
  around.now = [&] {
    return std::chrono::time_point_cast<std::chrono::system_clock::duration>(clock.wall());
  };
  around.random = [&](std::span<unsigned char> bytes) { chance.fill(bytes); };
  const helm::command_result r = helm::run_command(arguments, around);
  const bool written = write_out(STDOUT_FILENO, r.out) && write_out(STDERR_FILENO, r.err);
  return written ? r.exit_code : failure;
}

}  // namespace cli
