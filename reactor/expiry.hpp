#pragma once

#include "reactor/loop.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <utility>

namespace reactor {

/// The one deadline of a stream: calls `on_expired` when it passes. Moving it further away costs
/// nothing, because the timer that is armed already only looks again when it fires. What is far
/// away is looked at on whole seconds, so that thousands of quiet streams wake the process once.
class expiry {
public:
  expiry(loop& l, std::function<void()> on_expired)
      : loop_(l), on_expired_(std::move(on_expired)) {}
  ~expiry() { clear(); }
  expiry(const expiry&) = delete;
  expiry& operator=(const expiry&) = delete;

  void set(steady_time deadline) {
    deadline_ = deadline;
    expired_ = false;
    if (deadline == never) {
      disarm();
    } else if (deadline <= loop_.now()) {
      disarm();
      expire();
    } else if (timer_ == 0 || armed_for_ > deadline) {
      disarm();
      arm();
    }
  }
  void clear() noexcept {
    deadline_ = never;
    disarm();
  }
  bool expired() const noexcept { return expired_; }

private:
  void arm() {
    constexpr std::chrono::seconds far{2};
    armed_for_ = deadline_ - loop_.now() > far ? std::chrono::floor<std::chrono::seconds>(deadline_)
                                               : deadline_;
    timer_ = loop_.timers().arm(armed_for_, [this] {
      timer_ = 0;
      if (deadline_ > loop_.now()) return arm();
      expire();
    });
  }
  void disarm() noexcept {
    loop_.timers().disarm(timer_);
    timer_ = 0;
  }
  void expire() {
    expired_ = true;
    on_expired_();
  }

  loop& loop_;
  std::function<void()> on_expired_;
  steady_time deadline_ = never;
  steady_time armed_for_ = never;
  timer_id timer_ = 0;
  bool expired_ = false;
};

}  // namespace reactor
