#pragma once

#include "reactor/plain/time.hpp"

#include <algorithm>

namespace reactor {

/// What one peer may take of the loop's thread ahead of the others: a fiftieth of the processor
/// time that the loop spends, and a little at once. A peer that has used it up is served all the
/// same, but after everybody who is ready (loop_slice::yield), so a peer that is never silent, on
/// however many connections, makes the others wait no longer than that. All streams to one peer
/// share one; a peer with little to say never notices.
class allowance {
public:
  static constexpr nanoseconds at_once = 500us;
  static constexpr int one_of = 50;
  static constexpr nanoseconds deepest_debt = 5ms;  // one callback is not held against it for ever

  /// `spent`: what the loop has spent so far.
  bool is_left(nanoseconds spent) noexcept {
    left_ = std::min(at_once, left_ + (spent - seen_) / one_of);
    seen_ = spent;
    return left_ > nanoseconds(0);
  }
  void use(nanoseconds took) noexcept { left_ = std::max(left_ - took, -deepest_debt); }

private:
  nanoseconds left_ = at_once, seen_{0};
};

}  // namespace reactor
