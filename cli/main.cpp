#include "cli/commands.hpp"

int main(int argc, char** argv) {
  reactor::end_when_memory_is_lost();
  // a reader that is gone is a failed write, not the end of the process
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return cli::dispatch(cli::words_of({argv, argv + argc}));
  } catch (const std::bad_alloc&) {
    reactor::memory_lost();
  } catch (const std::exception& e) {
    return app::complain(std::string("internal error: ") + e.what());
  }
}
