#include "reactor/limiter.hpp"

#include "reactor/loop.hpp"

#include <algorithm>

namespace reactor {

limiter::limiter(loop& l, limiter_settings settings)
    : loop_(l), settings_(settings), tokens_(settings.burst), refilled_at_(l.now()), queue_(l) {}

limiter::~limiter() {
  loop_.timers().disarm(timer_);
}

awaitable<void> limiter::acquire() {
  (void)co_await acquire_until(never);
}

awaitable<bool> limiter::acquire_until(steady_time deadline) {
  if (queue_.size() == 0 && take()) co_return true;
  arm();
  const woken how = co_await queue_.wait(deadline);
  co_return how == woken::by_call;
}

void limiter::refill() {
  const steady_time now = loop_.now();
  if (now <= refilled_at_) return;
  const double seconds = std::chrono::duration<double>(now - refilled_at_).count();
  tokens_ = std::min(settings_.burst, tokens_ + seconds * settings_.per_second);
  refilled_at_ = now;
}

bool limiter::take() {
  if (loop_.now() < paused_until_) return false;
  refill();
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void limiter::arm() {
  if (timer_ != 0) return;
  refill();
  steady_time when = loop_.now();
  if (tokens_ < 1) {
    // A nanosecond more than the exact moment, so that rounding never leaves a fraction of a token
    // missing.
    const double seconds = (1 - tokens_) / settings_.per_second;
    when = std::max(when, refilled_at_) + nanoseconds(static_cast<std::int64_t>(seconds * 1e9) + 1);
  }
  when = std::max(when, paused_until_);
  timer_ = loop_.timers().arm(when, [this] {
    timer_ = 0;
    grant();
  });
}

void limiter::grant() {
  while (queue_.size() > 0) {
    if (!take()) return arm();
    queue_.wake_one();
  }
}

void limiter::arm_again() {
  loop_.timers().disarm(timer_);
  timer_ = 0;
  if (queue_.size() > 0) arm();
}

void limiter::set_rate(double per_second) {
  if (per_second == settings_.per_second) return;
  refill();
  settings_.per_second = per_second;
  arm_again();
}

void limiter::hold_until(steady_time when) {
  if (when <= paused_until_) return;
  paused_until_ = when;
  tokens_ = std::min(tokens_, 1.0);
  refilled_at_ = std::max(refilled_at_, paused_until_);
  arm_again();
}

}  // namespace reactor
