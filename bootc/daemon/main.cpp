#include "app/process.hpp"
#include "bootc/daemon/serve.hpp"

/// The daemon alone, as it runs on each node: its flags are those of `windlass daemon`.
int main(int argc, char** argv) {
  const std::string name(bootc::program_name);
  return app::main_of(name, argc, argv, [&](const std::vector<std::string>& command_line) {
    app::program node{name, bootc::about_daemon, {}, {}, WINDLASS_VERSION};
    node.commands = {app::command_of<bootc::daemon_arguments>(
        "", bootc::about_daemon, bootc::declare_daemon,
        [](const bootc::daemon_arguments& a, const app::invocation&) {
          return bootc::serve_daemon(a);
        })};
    return app::run(node, {command_line.begin() + 1, command_line.end()},
                    app::process_environment());
  });
}
