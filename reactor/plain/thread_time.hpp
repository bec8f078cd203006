#pragma once

#include "reactor/plain/time.hpp"

namespace reactor {

/// Processor time of this thread. The machine's also under simulation: for bounds, never for
/// decisions.
nanoseconds thread_cpu() noexcept;

}  // namespace reactor
