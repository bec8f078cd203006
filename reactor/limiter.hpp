#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/timer_queue.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>

namespace reactor {

class loop;

struct limiter_settings {
  double per_second = 50;
  double burst = 100;  // requests that may go at once after a pause
};

/// Spaces requests: a token bucket, first come first served. How fast, and when not at all, its
/// owner decides.
class limiter {
public:
  explicit limiter(loop& l, limiter_settings settings = {});
  ~limiter();
  limiter(const limiter&) = delete;
  limiter& operator=(const limiter&) = delete;

  /// Waits for permission to send one request.
  awaitable<void> acquire();
  /// False when `deadline` came first; then no permission was used up.
  awaitable<bool> acquire_until(steady_time deadline);

  /// From now on; requests that wait already, too.
  void set_rate(double per_second);
  /// Nothing goes before, and no burst of what was saved up goes afterwards.
  void hold_until(steady_time when);

  double rate() const noexcept { return settings_.per_second; }
  std::size_t waiting() const noexcept { return queue_.size(); }

private:
  bool take();
  void refill();
  void arm();
  void arm_again();
  void grant();

  loop& loop_;
  limiter_settings settings_;
  double tokens_;
  steady_time refilled_at_;
  steady_time paused_until_{};
  timer_id timer_ = 0;
  waiters queue_;
};

}  // namespace reactor
