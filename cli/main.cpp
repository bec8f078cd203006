#include "cli/commands.hpp"
#include "helm/tenants/chart_children.hpp"
#include "reactor/plain/memory.hpp"

#include <csignal>
#include <exception>
#include <new>

/// jemalloc's settings: one thread does nearly everything, and none of its turns gives memory back
/// to the kernel. CMakeLists.txt says why it is used.
extern "C" const char* malloc_conf;
const char* malloc_conf = "narenas:1,background_thread:true,max_background_threads:1";

int main(int argc, char** argv) {
  reactor::end_when_memory_is_lost();
  // a reader that is gone is a failed write, not the end of the process
  std::signal(SIGPIPE, SIG_IGN);
  try {
    helm::tenants::chart_child_main(argc, argv);
    return cli::dispatch(cli::words_of({argv, argv + argc}));
  } catch (const std::bad_alloc&) {
    reactor::memory_lost();
  } catch (const std::exception& e) {
    return cli::complain(std::string("internal error: ") + e.what());
  }
}
