#include "signals/history.hpp"

#include <algorithm>
#include <chrono>

namespace signals {
namespace {

double seconds(reactor::nanoseconds d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

void history::add(const reading& r, reactor::steady_time at) {
  why_ = r.unknown;
  if (!r.value) return values_.clear();
  if (!values_.empty() && at - values_.back().at > stale_after_) values_.clear();
  values_.push_back({at, *r.value});
  while (values_.size() > 1 &&
         (values_[1].at <= at - window_ || values_.size() > policies::signal_limits::samples + 1))
    values_.pop_front();
}

void history::no_answer(std::string why) {
  why_ = std::move(why);
}

std::optional<reactor::steady_time> history::last_value() const {
  if (values_.empty()) return std::nullopt;
  return values_.back().at;
}

policies::signal_fact history::at(reactor::steady_time now) const {
  policies::signal_fact out;
  if (values_.empty()) {
    out.unknown = why_;
    return out;
  }
  const reactor::nanoseconds age = now - values_.back().at;
  out.age = seconds(age);
  if (age > stale_after_) {
    out.unknown = "its last value is " + std::to_string(static_cast<std::int64_t>(out.age)) +
                  " s old" + (why_.empty() ? std::string() : "; since then: " + why_);
    return out;
  }
  out.value = values_.back().value;
  out.covers = seconds(std::min(now - values_.front().at, window_));
  out.lowest = out.highest = out.value;
  for (const sample& s : values_) {
    out.lowest = std::min(*out.lowest, s.value);
    out.highest = std::max(*out.highest, s.value);
  }
  return out;
}

}  // namespace signals
