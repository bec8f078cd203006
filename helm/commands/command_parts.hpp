#pragma once

// What the commands of this folder share; included by them alone.

#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/flags/output_format.hpp"
#include "helm/commands/source_commands.hpp"

#include <string>
#include <utility>
#include <vector>

namespace helm::sources {

using reactor::awaitable;

using words = std::vector<std::string>;

/// Output so far, and how to end.
struct report {
  command_result result;
  void say(const std::string& line) { result.out += line + "\n"; }
  void warn(const std::string& line) { result.err += line + "\n"; }
  command_result failed(const std::string& why, int code = 1) && {
    result.fail(why);
    result.exit_code = code;
    return std::move(result);
  }
  command_result done() && { return std::move(result); }
};

/// A usage error: 2 for a flag of Helm's that we do not have. What was asked to describe itself
/// does.
inline command_result usage(const problem& p) {
  return usage_end(p);
}

/// With --debug, the flags of a cluster, which mean nothing here, and those of where charts are.
struct source_flags : command_flags {
  explicit source_flags(chart_flags& places);
};
/// "\"helm x\" requires 2 arguments", or nothing. `most` below `least` = no limit.
std::string count_problem(const words& rest, std::size_t least, std::size_t most,
                          const std::string& command, const std::string& synopsis);

awaitable<command_result> repo_command(command_context c, words arguments);
awaitable<command_result> registry_command(command_context c, words arguments);
awaitable<command_result> pull_command(command_context c, words arguments);
awaitable<command_result> push_command(command_context c, words arguments);
awaitable<command_result> package_command(command_context c, words arguments);
awaitable<command_result> dependency_command(command_context c, words arguments);
awaitable<command_result> search_command(command_context c, words arguments);
awaitable<command_result> verify_command(command_context c, words arguments);

}  // namespace helm::sources
