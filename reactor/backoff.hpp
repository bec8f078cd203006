#pragma once

#include "reactor/plain/entropy.hpp"
#include "reactor/plain/time.hpp"

#include <algorithm>
#include <cstdint>

namespace reactor {

struct backoff_settings {
  nanoseconds initial = 800ms;  // as client-go's reflector
  nanoseconds cap = 30s;
  double factor = 2;
  double jitter = 0.2;  // ± this share, so that many who failed together do not return together
};

/// How long to wait before the next attempt: grows by `factor` up to `cap`, never above it.
class backoff {
public:
  explicit backoff(backoff_settings settings = {}) : settings_(settings), base_(settings.initial) {}

  /// The next delay; each call is one more failure.
  nanoseconds next(entropy& random) {
    const nanoseconds delay = random.jitter(base_, settings_.jitter);
    ++attempts_;
    const double grown = static_cast<double>(base_.count()) * settings_.factor;
    base_ = grown >= static_cast<double>(settings_.cap.count())
                ? settings_.cap
                : nanoseconds(static_cast<std::int64_t>(grown));
    return std::clamp(delay, nanoseconds(0), settings_.cap);
  }
  /// After a success.
  void reset() noexcept {
    base_ = settings_.initial;
    attempts_ = 0;
  }
  std::uint32_t attempts() const noexcept { return attempts_; }
  const backoff_settings& settings() const noexcept { return settings_; }

private:
  backoff_settings settings_;
  nanoseconds base_;
  std::uint32_t attempts_ = 0;
};

}  // namespace reactor
