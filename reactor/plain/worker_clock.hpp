#pragma once

#include "reactor/plain/time.hpp"

#include <chrono>
#include <optional>

namespace reactor {

/// The machine's clock for a job on a worker, or a moment that stands still.
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
