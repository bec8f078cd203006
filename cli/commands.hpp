#pragma once

#include "cli/arguments.hpp"
#include "cli/service/apis.hpp"
#include "units/program/process.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cli {

using program::failure;
using program::success;
using program::wrong_usage;
/// What was asked for may not be done: not before somebody agrees, or not at all.
inline constexpr int needs_approval = 3, denied = 4;

/// One function per command; each returns the exit code and has written what a person should see.
int run_command(const run_arguments& a, const std::vector<setting>& settings,
                const std::vector<units::api>& known);
/// `windlass daemon` is windlass-node with the same flags, which `settings` holds.
int daemon_command(const std::vector<setting>& settings);
int apiserver_command(const apiserver_arguments& a);
int demo_command(const demo_arguments& a);
int overview_command(const overview_arguments& a, const std::vector<units::api>& known);
int rollout_command(const rollout_arguments& a, const std::vector<units::api>& known);
int simulate_command(const simulate_arguments& a);
int cluster_command(const cluster_arguments& a, const std::vector<units::api>& known);
int policy_command(const policy_arguments& a, const std::vector<units::api>& known = apis());
int release_command(const release_arguments& a);
int train_command(const train_arguments& a);
int trustee_command(const trustee_arguments& a);
int secret_converter_command(const secret_converter_arguments& a);
int tenant_command(const tenant_arguments& a, const std::vector<units::api>& known);
int version_command(const version_arguments& a);
int completion_command(const completion_arguments& a);

/// `windlass helm …`: Helm's own commands, flags, output and exit codes.
int helm_command(const std::vector<std::string>& arguments);
/// Those of them that need a cluster: install, upgrade, list, … Runs `l` until the command ended or
/// was cancelled by a signal.
int helm_release_command(reactor::loop& l, const std::vector<std::string>& arguments);

/// What follows the name of the program, which is also a command where it is called by that name:
/// an image has the link `/secret-converter`.
std::vector<std::string> words_of(const std::vector<std::string>& command_line);

/// Parses and dispatches; `known` are the APIs to choose from. Usage errors go to standard error.
int dispatch(const std::vector<std::string>& arguments,
             const std::vector<units::api>& known = apis());

/// One line on standard error: "windlass: <sentence>". Returns `code`.
int complain(std::string_view sentence, int code = failure);

}  // namespace cli
