#include "bootc/daemon/serve.hpp"
#include "units/program/flags.hpp"
#include "units/program/process.hpp"

#include <CLI/CLI.hpp>

#include <sstream>

namespace {

using program::complain;
using words = std::vector<std::string>;

/// The daemon alone, as it runs on each node: its flags are those of `windlass daemon`.
int run_node(const words& command_line) {
  const std::string name(bootc::program_name);
  words given(command_line.begin() + 1, command_line.end());
  // Once more with what the file of --config says.
  for (bool from_file = false;; from_file = true) {
    CLI::App app(bootc::about_daemon, name);
    app.set_version_flag("--version", "windlass-node " WINDLASS_VERSION);
    app.get_formatter()->column_width(30);
    bootc::daemon_arguments a;
    std::string config;
    bootc::declare_daemon(app, a, config);
    try {
      app.parse(words(given.rbegin(), given.rend()));
    } catch (const CLI::ParseError& e) {
      std::ostringstream out, ignored;
      if (app.exit(e, out, ignored) == 0) {
        std::fputs(out.str().c_str(), stdout);
        return program::success;
      }
      return complain(name, std::string(e.what()) + "; `" + name + " --help` shows what it takes",
                      program::wrong_usage);
    }
    if (config.empty() || from_file) return bootc::serve_daemon(a);
    program::with_file all = program::with_settings(given, 0, app, config);
    if (!all.problem.empty()) return complain(name, all.problem, program::wrong_usage);
    // A file may serve the other programs as well.
    for (const std::string& entry : all.left_out)
      complain(name, config + ": \"" + entry + "\" is not a setting of windlass-node");
    given = std::move(all.words);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return program::run(bootc::program_name, argc, argv, run_node);
}
