// The list of commands. A command is plugged in by its line here (docs/internals/extending.md, "A
// command").
#include "cli/commands.hpp"

#include "app/process.hpp"
#include "bootc/commands/daemon_command.hpp"
#include "compose/commands/secret_converter.hpp"
#include "compose/commands/trustee_arguments.hpp"
#include "fleetwide/commands/object_arguments.hpp"
#include "helm/commands/program/helm_command.hpp"
#include "helm/members/cluster_arguments.hpp"
#include "helm/tenants/commands/tenant_arguments.hpp"
#include "helm/tenants/desired/settings.hpp"
#include "helm/upgrades/upgrade_arguments.hpp"
#include "policies/commands/policy_arguments.hpp"
#include "releases/commands/release_arguments.hpp"
#include "releases/commands/train_arguments.hpp"
#include "service/commands/brake/brake.hpp"
#include "service/commands/events/events.hpp"
#include "service/commands/overview_command.hpp"
#include "service/commands/rollout/rollout_arguments.hpp"
#include "service/commands/run_arguments.hpp"
#include "simulation/commands/commands.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iterator>

namespace cli {

using namespace app;

namespace {

/// Benches are a program of their own, which is in no package.
std::vector<app::command> bench_commands() {
  app::command bench{"bench", "Measure this build on this machine (windlass-bench, not shipped)"};
  bench.raw = [](const std::vector<std::string>& words, const app::invocation&) {
    return execute_sibling("windlass-bench", words);
  };
  return {std::move(bench)};
}

constexpr std::vector<app::command> (*families[])() = {
    run_commands,      daemon_commands,  apiserver_commands, demo_commands,
    overview_commands, events_commands,  simulate_commands,  policy_commands,
    release_commands,  train_commands,   trustee_commands,   secret_converter_commands,
    pool_commands,     chart_commands,   tenant_commands,    rollout_commands,
    brake_commands,    cluster_commands, check_commands,     upgrade_commands,
    helm_commands,     bench_commands,   version_commands,   completion_commands,
};

constexpr const char* footer = R"(Examples:
  windlass demo                  20 embedded clusters move to a new image
  windlass status                what is happening on the fleet
  windlass explain node/worker-3 why this one waits

Exit codes: 0 success, 1 failure, 2 wrong usage; of `release` and `train` also
3 needs approval, 4 denied.)";

}  // namespace

app::program program() {
  app::program out{"windlass",
                   "Windlass moves fleets of Kubernetes clusters from one version to the next.",
                   footer,
                   {}};
  out.engine = apply_go_template;
  for (const auto family : families) {
    std::vector<app::command> some = family();
    out.commands.insert(out.commands.end(), std::make_move_iterator(some.begin()),
                        std::make_move_iterator(some.end()));
  }
  return out;
}

std::vector<std::string> words_of(const std::vector<std::string>& command_line) {
  if (command_line.empty()) return {};
  std::vector<std::string> words(command_line.begin() + 1, command_line.end());
  const std::string& called = command_line.front();
  if (called.substr(called.rfind('/') + 1) == "secret-converter")
    words.insert(words.begin(), "secret-converter");
  return words;
}

int dispatch(const std::vector<std::string>& arguments, const std::vector<units::api>& known) {
  return app::run(program(), helm::tenants::as_krypton_spells(arguments), process_environment(),
                  &known);
}

app::parse_outcome parsed(const std::vector<std::string>& arguments,
                          const std::vector<units::api>& known) {
  return app::parse(
      program(), helm::tenants::as_krypton_spells(arguments),
      [](std::string_view) { return std::string(); }, &known);
}

namespace {

struct completion_arguments {
  std::string shell;
};

}  // namespace

std::vector<app::command> completion_commands() {
  return {command_of<completion_arguments>(
      "completion", "Print a completion script",
      [](flags& f, completion_arguments& to) {
        f.value("SHELL", to.shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
        f.footer("Example:\n  source <(windlass completion bash)");
      },
      [](const completion_arguments& a, const invocation& i) {
        const std::string script = completion_script(described(i.of, i.known), a.shell);
        return write_bytes(STDOUT_FILENO, script) ? success : failure;
      })};
}

}  // namespace cli
