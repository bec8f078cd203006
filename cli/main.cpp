#include "cli/commands.hpp"

int main(int argc, char** argv) {
  return program::run("windlass", argc, argv, [](const std::vector<std::string>& command_line) {
    return cli::dispatch(cli::words_of(command_line));
  });
}
