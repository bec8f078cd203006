#include "k8s/pace/pace.hpp"

#include <algorithm>
#include <utility>

namespace k8s {
namespace {

using namespace std::chrono_literals;
using reactor::nanoseconds;

constexpr nanoseconds period = 1s, idle_limit = 1min;
constexpr nanoseconds pause_without_retry_after = 1s;
constexpr nanoseconds always_good = 250ms;
constexpr int slow_factor = 2;
constexpr std::size_t enough_samples = 8;
/// The usual time rises by this in each second, so that a server that moved farther away is not
/// slow for ever: three times in a minute.
constexpr double usual_rises = 1.02;

}  // namespace

pace::pace(steady_time now, pace_settings s)
    : settings_(s), rate_(s.first), halved_at_(now - period), answered_at_(now), began_(now) {}

void pace::answered(const paced_answer& a, steady_time now) {
  if (now - std::exchange(answered_at_, now) >= idle_limit) {
    rate_ = std::min(rate_, settings_.first);
    began_ = now;
    held_others_ = false;
    sampled_ = 0;
  }
  if (a.throttled) return throttled(a, now);
  if (a.took) sample(*a.took);
  held_others_ = held_others_ || a.held_others;
  fairness_ = fairness_ || a.fairness;
  if (now - began_ >= period) end_second(now);
}

void pace::throttled(const paced_answer& a, steady_time now) {
  const nanoseconds pause = a.retry_after.value_or(pause_without_retry_after);
  halve(settings_.least, now);
  paused_until_ = std::max(paused_until_, now + std::max(pause, nanoseconds(0)));
  began_ = paused_until_;  // what comes meanwhile was sent before
  held_others_ = false;
  sampled_ = 0;
}

void pace::sample(nanoseconds took) {
  samples_[sampled_ % samples_.size()] = took;
  ++sampled_;
}

void pace::end_second(steady_time now) {
  if (is_slow())
    halve(settings_.least_slow, now);
  else
    grow();
  began_ = now;
  held_others_ = false;
  fairness_ = false;
  sampled_ = 0;
}

bool pace::is_slow() {
  if (sampled_ < enough_samples) return false;
  const auto end =
      samples_.begin() + static_cast<std::ptrdiff_t>(std::min(sampled_, samples_.size()));
  const auto middle = samples_.begin() + (end - samples_.begin()) / 2;
  std::nth_element(samples_.begin(), middle, end);
  const nanoseconds median = *middle;
  const auto risen = [&] {
    return nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(usual_->count()) * usual_rises));
  };
  usual_ = usual_ ? std::min(median, risen()) : median;
  return median > slow_factor * *usual_ + always_good;
}

void pace::halve(double least, steady_time now) {
  if (now < halved_at_ + period) return;
  halved_at_ = now;
  had_trouble_ = true;
  // Never up: the rate may be below that already.
  rate_ = std::min(rate_, std::max(std::min(least, settings_.first), rate_ / 2));
}

void pace::grow() {
  if (rate_ < settings_.first)
    rate_ = std::min(settings_.first, rate_ + settings_.first / 10);
  else if (held_others_)
    rate_ = had_trouble_ ? rate_ + settings_.first / 4 : rate_ * 2;
  rate_ = std::min(rate_, fairness_ ? settings_.most : settings_.most_unguarded);
}

}  // namespace k8s
