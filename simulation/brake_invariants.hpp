#pragma once

#include "reactor/plain/time.hpp"
#include "simulation/beginnings.hpp"
#include "simulation/judge.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace simulation {

/// What must never happen while the brake at home is on, from a second after its landing: nothing
/// begins.
class brake_invariants : public beginnings, public judge {
public:
  explicit brake_invariants(std::function<reactor::steady_time()> now) : now_(std::move(now)) {}

  /// The object at home says so from now on.
  void landed() { on_since_ = now_(); }
  void lifted() { on_since_.reset(); }
  bool is_on() const noexcept { return on_since_.has_value(); }

private:
  static constexpr reactor::nanoseconds lands_within = std::chrono::seconds(1);
  void began(const std::string&, std::string what) override {
    if (!on_since_ || now_() < *on_since_ + lands_within) return;
    found(what + " " + reactor::format_duration(now_() - *on_since_) + " after the brake landed");
  }

  std::function<reactor::steady_time()> now_;
  std::optional<reactor::steady_time> on_since_;
};

}  // namespace simulation
