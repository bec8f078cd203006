#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/timer_queue.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>

namespace reactor {

class loop;

struct limiter_settings {
  double per_second = 50;       // the rate of a healthy server
  double burst = 100;           // requests that may go at once after a pause
  double floor_per_second = 1;  // throttling never goes below this
};

/// Spaces the requests to one server: a token bucket, first come first served.
/// Throttled  429 pauses everybody for the time the server asks for and halves the rate, at most
///            once per second, because one overload answers many requests at once. Successes bring
///            a tenth of the full rate back each second.
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

  void throttled(nanoseconds retry_after);
  void succeeded();

  double rate() const noexcept { return rate_; }
  steady_time paused_until() const noexcept { return paused_until_; }
  std::size_t waiting() const noexcept { return queue_.size(); }

private:
  bool take();
  void refill();
  void arm();
  void grant();

  loop& loop_;
  limiter_settings settings_;
  double rate_;
  double tokens_;
  steady_time refilled_at_;
  steady_time paused_until_{};
  steady_time halved_at_{};
  steady_time raised_at_{};
  timer_id timer_ = 0;
  waiters queue_;
};

}  // namespace reactor
