#pragma once

#include "reactor/waiters.hpp"

namespace reactor {

/// Counts the coroutines that are inside, so that stop() can wait until the last one has left.
/// Lifetime  the gate outlives its visits.
class gate {
public:
  explicit gate(loop& l) noexcept : empty_(l) {}

  /// Is inside for as long as it lives.
  class visit {
  public:
    explicit visit(gate& through) noexcept : gate_(through) { ++gate_.inside_; }
    ~visit() {
      if (--gate_.inside_ == 0) gate_.empty_.wake_all();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

  private:
    gate& gate_;
  };

  awaitable<void> empty() {
    while (inside_ > 0) (void)co_await empty_.wait();
  }

private:
  std::size_t inside_ = 0;
  waiters empty_;
};

}  // namespace reactor
