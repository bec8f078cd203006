#include "reactor/limiter.hpp"

#include "reactor/loop.hpp"

#include <algorithm>

namespace reactor {

limiter::limiter(loop& l, limiter_settings settings)
    : loop_(l),
      settings_(settings),
      rate_(settings.per_second),
      tokens_(settings.burst),
      refilled_at_(l.now()),
      halved_at_(l.now() - 1h),
      raised_at_(l.now()),
      queue_(l) {}

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
  tokens_ = std::min(settings_.burst, tokens_ + seconds * rate_);
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
    const double seconds = (1 - tokens_) / rate_;
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

void limiter::throttled(nanoseconds retry_after) {
  const steady_time now = loop_.now();
  if (now >= halved_at_ + 1s) {
    halved_at_ = now;
    rate_ = std::max(std::min(settings_.floor_per_second, settings_.per_second), rate_ / 2);
  }
  paused_until_ = std::max(paused_until_, now + std::max(retry_after, nanoseconds(0)));
  // What was saved up before the server complained would hit it in one burst afterwards.
  tokens_ = std::min(tokens_, 1.0);
  refilled_at_ = std::max(refilled_at_, paused_until_);
  raised_at_ = paused_until_;
  loop_.timers().disarm(timer_);
  timer_ = 0;
  if (queue_.size() > 0) arm();
}

void limiter::succeeded() {
  const steady_time now = loop_.now();
  if (rate_ >= settings_.per_second || now < raised_at_ + 1s) return;
  refill();
  raised_at_ = now;
  rate_ = std::min(settings_.per_second, rate_ + settings_.per_second / 10);
}

}  // namespace reactor
