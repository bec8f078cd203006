#include "reactor/plain/thread_time.hpp"

#include <time.h>

namespace reactor {

nanoseconds thread_cpu() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec);
}

}  // namespace reactor
