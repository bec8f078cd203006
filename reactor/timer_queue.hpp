#pragma once

#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace reactor {

/// Names one armed callback; 0 names none.
using timer_id = std::uint64_t;

/// All deadlines of a loop, in order of time and then of arming, so that a simulated run is the
/// same twice. The loop fires what is due; callbacks run on the loop and may arm and disarm.
class timer_queue {
public:
  /// Calls `fire` once at or after `when`. `never` arms nothing and returns 0.
  timer_id arm(steady_time when, std::function<void()> fire);
  /// Forgets a timer; no effect once it fired or for 0.
  void disarm(timer_id id) noexcept;

  bool empty() const noexcept { return by_time_.empty(); }
  std::size_t size() const noexcept { return by_time_.size(); }
  /// `never` when empty.
  steady_time next() const noexcept;
  /// Fires the first timer if it is due at `now`; false when none is.
  bool fire_one(steady_time now);

  /// Called when the first deadline changed; the loop re-arms its own timer then.
  std::function<void()> on_next_changed;

private:
  using key = std::pair<steady_time, timer_id>;
  std::map<key, std::function<void()>> by_time_;
  std::map<timer_id, steady_time> when_;
  timer_id last_ = 0;
};

}  // namespace reactor
