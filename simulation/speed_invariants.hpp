#pragma once

#include "app/api/speed_limit.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/beginnings.hpp"
#include "simulation/judge.hpp"

#include <deque>
#include <functional>
#include <map>
#include <string>

namespace simulation {

/// What must never happen under a speed limit: more beginnings in a minute than the fleet, or one
/// of its clusters, may have. A write lands later than it was allowed, at most by `late`, so that
/// as many may be seen in a span that is shorter by that.
class speed_invariants : public beginnings, public judge {
public:
  speed_invariants(units::change_limits limits, std::function<reactor::steady_time()> now)
      : limits_(limits), now_(std::move(now)) {}
  std::size_t seen() const noexcept { return seen_; }
  std::size_t most_at_once() const noexcept { return most_; }  // in such a span, of the fleet

private:
  static constexpr reactor::nanoseconds late = std::chrono::seconds(15);
  using times = std::deque<reactor::steady_time>;
  void began(const std::string& cluster, std::string what) override;
  void count(times& all, std::size_t limit, const std::string& of, const std::string& what);

  units::change_limits limits_;
  std::function<reactor::steady_time()> now_;
  times fleet_;
  std::map<std::string, times> clusters_;
  std::size_t seen_ = 0, most_ = 0;
};

}  // namespace simulation
