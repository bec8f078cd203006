#pragma once

#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace web {

/// How far something was at one moment.
struct progress_point {
  reactor::wall_time at{};
  std::uint32_t total = 0, updated = 0, updating = 0, degraded = 0, held = 0;
  /// The same numbers, whenever.
  bool says_as(const progress_point& o) const noexcept {
    return total == o.total && updated == o.updated && updating == o.updating &&
           degraded == o.degraded && held == o.held;
  }
  friend bool operator==(const progress_point&, const progress_point&) = default;
};

/// A rollout over time, for a plot: a step for each change, in bounded memory. The longer it lasts,
/// the coarser are its steps; the first and the last are exact. What was before the present target
/// is kept roughly.
class progress_history {
public:
  static constexpr std::size_t most_points = 240, most_targets = 8, kept_of_before = 60;

  /// Something was so from now on. Points come in order of time; one from the past (the clock was
  /// set back) is taken for now.
  void add(progress_point p, const std::string& target = {});
  const std::vector<progress_point>& points() const noexcept { return points_; }

  struct retarget {
    reactor::wall_time at{};
    std::string to;
    friend bool operator==(const retarget&, const retarget&) = default;
  };
  const std::vector<retarget>& targets() const noexcept { return targets_; }

  /// {"points":[[second,total,updated,updating,degraded,held],…],"targets":[[second,"sha256:…"],…]}
  std::string json() const;

private:
  void thin_out(std::size_t from, std::size_t to, std::size_t most);

  std::vector<progress_point> points_;
  std::vector<retarget> targets_;
  std::size_t begun_at_ = 0;  // the first point of the present target
  reactor::nanoseconds step_ = std::chrono::seconds(1);
};

}  // namespace web
