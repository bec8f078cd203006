#include "cli/commands.hpp"

#include "cli/completion.hpp"
#include "cli/output.hpp"
#include "cli/service/tenant_settings.hpp"

#include <unistd.h>

#include <cstdlib>

namespace cli {
namespace {

struct runner {
  const std::vector<setting>& settings;
  const std::vector<units::api>& known;
  int operator()(const run_arguments& a) const { return run_command(a, settings, known); }
  int operator()(const daemon_arguments&) const { return daemon_command(settings); }
  int operator()(const apiserver_arguments& a) const { return apiserver_command(a); }
  int operator()(const demo_arguments& a) const { return demo_command(a); }
  int operator()(const overview_arguments& a) const { return overview_command(a, known); }
  int operator()(const rollout_arguments& a) const { return rollout_command(a, known); }
  int operator()(const simulate_arguments& a) const { return simulate_command(a); }
  int operator()(const cluster_arguments& a) const { return cluster_command(a, known); }
  int operator()(const policy_arguments& a) const { return policy_command(a, known); }
  int operator()(const release_arguments& a) const { return release_command(a); }
  int operator()(const train_arguments& a) const { return train_command(a); }
  int operator()(const trustee_arguments& a) const { return trustee_command(a); }
  int operator()(const secret_converter_arguments& a) const { return secret_converter_command(a); }
  int operator()(const tenant_arguments& a) const { return tenant_command(a, known); }
  int operator()(const version_arguments& a) const { return version_command(a); }
  int operator()(const completion_arguments& a) const { return completion_command(a); }
};

/// What the command says about clusters, if it is about some.
const fleet_arguments* fleet_of(const command& c) {
  return std::visit(
      [](const auto& a) -> const fleet_arguments* {
        if constexpr (requires { a.fleet.apis; })
          return &a.fleet;
        else
          return nullptr;
      },
      c);
}

}  // namespace

std::vector<std::string> words_of(const std::vector<std::string>& command_line) {
  if (command_line.empty()) return {};
  std::vector<std::string> words(command_line.begin() + 1, command_line.end());
  const std::string& called = command_line.front();
  if (called.substr(called.rfind('/') + 1) == "secret-converter")
    words.insert(words.begin(), "secret-converter");
  return words;
}

int dispatch(const std::vector<std::string>& arguments, const std::vector<units::api>& known) {
  // Helm's flags are Helm's: the chart engine reads them itself.
  if (!arguments.empty() && arguments.front() == "helm")
    return helm_command({arguments.begin() + 1, arguments.end()});
  // Benches are a program of their own, which is not shipped; its --help says what they are.
  const bool flag = arguments.size() > 1 && arguments[1].starts_with('-');
  if (!arguments.empty() && arguments.front() == "bench" && !flag)
    return program::execute_sibling("windlass-bench", {arguments.begin() + 1, arguments.end()});
  const auto environment = [](std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return std::string(value ? value : "");
  };
  parse_outcome outcome = parse_arguments(arguments, environment, names_of(known));
  write_bytes(STDOUT_FILENO, outcome.out);
  write_bytes(STDERR_FILENO, outcome.err);
  if (!outcome.parsed) return outcome.exit_code;
  const fleet_arguments* fleet = fleet_of(*outcome.parsed);
  if (!fleet) return std::visit(runner{outcome.settings, known}, *outcome.parsed);
  if (const auto idle = setting_of_nobody(*fleet, outcome.settings))
    return complain(*idle, wrong_usage);
  const auto furnished = with_tenants(known, *fleet, outcome.settings, environment);
  if (!furnished) return complain(furnished.error().message());
  return std::visit(runner{outcome.settings, *furnished}, *outcome.parsed);
}

int complain(std::string_view sentence, int code) {
  return program::complain("windlass", sentence, code);
}

int completion_command(const completion_arguments& a) {
  return write_bytes(STDOUT_FILENO, completion_script(a.shell)) ? success : failure;
}

}  // namespace cli
