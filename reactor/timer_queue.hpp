#pragma once

#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace reactor {

/// Names one armed callback; 0 names none.
using timer_id = std::uint64_t;

/// All deadlines of a loop, in order of time and then of arming, so that a simulated run is the
/// same twice. The loop fires what is due; callbacks run on the loop and may arm and disarm.
///
/// Cost  most deadlines of a service are far away and are put off before they come. A heap takes
/// such a one in at its end, where a tree walks its whole height through memory that is cold.
/// Memory stays as large as the most that were ever armed at once needed, about 80 bytes each.
class timer_queue {
public:
  /// Calls `fire` once at or after `when`. `never` arms nothing and returns 0.
  timer_id arm(steady_time when, std::function<void()> fire);
  /// Forgets a timer; no effect once it fired or for 0.
  void disarm(timer_id id) noexcept;

  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  /// `never` when empty.
  steady_time next() const noexcept { return heap_.empty() ? never : heap_.front().when; }
  /// Fires the first timer if it is due at `now`; false when none is.
  bool fire_one(steady_time now);

  /// Called when the first deadline changed; the loop re-arms its own timer then.
  std::function<void()> on_next_changed;

private:
  /// What is compared stands beside its neighbours in the heap; what is called stands apart.
  struct place {
    steady_time when;
    std::uint64_t turn;
    std::uint32_t slot;
    bool before(const place& b) const noexcept {
      return when != b.when ? when < b.when : turn < b.turn;
    }
  };
  struct slot {
    std::function<void()> fire;
    std::uint32_t use = 0;  // tells the ids of one slot apart
  };

  /// Both put `p` where its time wants it, from the hole at `at` on.
  void rise(std::size_t at, place p) noexcept;
  void sink(std::size_t at, place p) noexcept;
  void put(std::size_t at, place p) noexcept;
  /// Takes out of the heap what is at `at`, frees its slot and hands over what it was to call.
  std::function<void()> take(std::size_t at) noexcept;

  std::vector<place> heap_;
  std::deque<slot> slots_;  // which do not move
  // Of each slot: its place in the heap; of a free slot the next one that is free. Apart, because
  // a timer that rises or sinks writes it at each level.
  std::vector<std::uint32_t> at_;
  std::uint32_t free_ = none;
  std::uint64_t turns_ = 0;

  static constexpr std::uint32_t none = 0xffff'ffff;
};

}  // namespace reactor
