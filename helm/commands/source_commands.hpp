#pragma once

#include "helm/commands/commands.hpp"
#include "helm/commands/flags/chart_flags.hpp"
#include "helm/sources/locate.hpp"
#include "helm/sources/settings.hpp"
#include "helm/template/executor.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/secret.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

using reactor::awaitable;

using ::registry::environment;

/// What a command gets from its caller.
struct command_context {
  reactor::loop& loop;  // outlives the command
  settings where;
  environment env;
  /// Everything on standard input.
  std::function<std::string()> read_input;
  /// Asks a person; what is typed shows only for names.
  std::function<std::string(const std::string& prompt)> ask_name;
  std::function<outcome<reactor::secret>(const std::string& prompt)> ask_secret;
  render_runtime runtime;
  /// Told after each of several charts. May be empty.
  std::function<void(std::size_t done, std::size_t of)> at_chart = {};
};

/// Runs a verb of verb_family::source with Helm's flags, output and exit code; arguments[0] is its
/// name.
awaitable<command_result> run_source_command(command_context context,
                                             std::vector<std::string> arguments);

/// The flags as a source understands them, and the files they name.
chart_origin origin_of(const chart_flags& flags);
settings settings_of(settings where, const chart_flags& flags);

}  // namespace helm::sources
