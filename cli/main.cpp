#include "app/process.hpp"
#include "cli/commands.hpp"
#include "helm/tenants/chart_children.hpp"

int main(int argc, char** argv) {
  return app::main_of("windlass", argc, argv, [&](const std::vector<std::string>& command_line) {
    helm::tenants::chart_child_main(argc, argv);
    return cli::dispatch(cli::words_of(command_line));
  });
}
