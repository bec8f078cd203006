#pragma once

#include "reactor/plain/time.hpp"

#include <chrono>
#include <optional>

namespace reactor {

/// The machine's clock for a job on a worker, or a moment that stands still.
/// Cost     steady_clock is read through the vDSO: some 50 ns and no system call, where the
///          processor time of a thread takes one. A render looks once in many actions and before
///          work that may be long, so it needs no coarser clock and no timer of its own.
class worker_clock {
public:
  worker_clock() = default;
  explicit worker_clock(nanoseconds still) : still_(still) {}
  nanoseconds now() const noexcept {
    return still_ ? *still_ : nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
  }
  static std::chrono::system_clock::time_point wall() noexcept {
    return std::chrono::system_clock::now();
  }

private:
  std::optional<nanoseconds> still_;
};

}  // namespace reactor
