#pragma once

#include "reactor/plain/thread_time.hpp"

namespace reactor {

/// Keeps the processor busy until this thread has used that much of it, however long others take
/// it away.
inline void spend(nanoseconds amount) {
  for (const nanoseconds until = thread_cpu() + amount; thread_cpu() < until;) {
  }
}

}  // namespace reactor
