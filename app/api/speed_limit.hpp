#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace units {

/// How many changes may begin in any minute; 0: any number.
struct change_limits {
  std::size_t fleet = 0, cluster = 0;  // of all clusters together; of each cluster
  bool any() const noexcept { return fleet > 0 || cluster > 0; }
  friend bool operator==(const change_limits&, const change_limits&) = default;
};

/// "30/minute" as a number from 1 to speed_limit::most.
/// Errors: a sentence about what is expected instead.
reactor::result<std::size_t> read_changes_a_minute(std::string_view text);

/// At most so many beginnings in any 60 seconds, in the whole fleet and on each cluster. Plain: the
/// caller says what time it is.
/// Start    nothing is known of what a process before this one began, so nothing begins for a
///          minute after starts_empty().
/// Fairness a unit that was refused waits in its cluster's queue. While units of several clusters
///          wait, the clusters take turns, and within a cluster its units do.
/// Bounds   as many times as the limits say, for clusters with a beginning in the last minute;
///          most_waiting units in all queues. One more is refused and has no place.
/// Absence  a unit that does not come within `grace` of its time loses its place.
class speed_limit {
public:
  using steady_time = reactor::steady_time;
  static constexpr reactor::nanoseconds window = std::chrono::seconds(60),
                                        grace = std::chrono::seconds(15);
  static constexpr std::size_t most = 10'000, most_waiting = 10'000;

  explicit speed_limit(change_limits limits) : limits_(limits) {}
  const change_limits& limits() const noexcept { return limits_; }

  void starts_empty(steady_time now) { closed_until_ = now + window; }

  struct wait {
    enum class of { fleet, cluster } by = of::fleet;  // the limit that lets it wait longer
    std::size_t limit = 0;
    reactor::nanoseconds left{};  // until it may begin, as far as is known; more than 0
  };
  /// Why a unit that was refused before does not begin yet. None: it may try. Takes nothing.
  std::optional<wait> waits(const std::string& cluster, const std::string& unit, steady_time now);
  /// Counts a beginning, or refuses it; then the unit waits in its queue.
  std::optional<wait> begins(const std::string& cluster, const std::string& unit, steady_time now);
  /// Counts a beginning that no limit may refuse.
  void began(const std::string& cluster, const std::string& unit, steady_time now);
  std::size_t waiting() const noexcept { return waiting_count_; }

private:
  using times = std::deque<steady_time>;  // of the last beginnings, as many as the limit says
  struct place {
    std::string unit;
    steady_time due;  // when it was told to come
  };
  struct queue {
    std::uint64_t order = 0;  // lower: its turn is earlier
    std::vector<place> units;
  };

  void forget_old(steady_time now);
  steady_time due_of(const std::string& cluster, const std::string& unit, steady_time now,
                     wait::of& by) const;
  bool is_full(const std::string& cluster) const;
  void leave(const std::string& cluster, const std::string& unit);
  wait left_until(steady_time due, wait::of by, steady_time now) const;

  change_limits limits_;
  steady_time closed_until_{}, looked_{};
  times fleet_;
  std::map<std::string, times> clusters_;
  std::map<std::string, queue> queues_;  // by cluster; none of them empty
  std::size_t waiting_count_ = 0;
  std::uint64_t orders_ = 0;
};

}  // namespace units
