#include "cli/commands.hpp"

#include <csignal>
#include <exception>

int main(int argc, char** argv) {
  std::signal(SIGPIPE,
              SIG_IGN);  // a reader that is gone is a failed write, not the end of the process
  try {
    return cli::dispatch({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    return cli::complain(std::string("internal error: ") + e.what());
  }
}
