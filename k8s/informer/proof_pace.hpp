#pragma once

#include "reactor/plain/time.hpp"

#include <algorithm>

namespace reactor {
class loop;
}

namespace k8s {

/// How often this process asks API servers for their versions on behalf of callers that attend,
/// over all clusters together. Each such question may be followed by two more requests for each
/// stream that has not come to the version. A cluster takes one place at a time, and places are
/// given in the order in which they were asked for: every cluster gets the same share.
class proof_pace {
public:
  /// 1,000 clusters, each of them every 8 s (watch_limits::attended).
  static constexpr double usual_per_second = 125;
  static constexpr reactor::nanoseconds saved_up = std::chrono::seconds(1);  // may go at once

  explicit proof_pace(const reactor::loop&) noexcept { set_rate(usual_per_second); }

  void set_rate(double per_second) noexcept {
    gap_ = reactor::nanoseconds(static_cast<std::int64_t>(1e9 / per_second));
  }
  /// When the caller may ask: now, or later behind those that took their places before.
  reactor::steady_time take(reactor::steady_time now) noexcept {
    const reactor::steady_time place = std::max(next_, now - saved_up);
    next_ = place + gap_;
    return std::max(place, now);
  }

private:
  reactor::nanoseconds gap_{};
  reactor::steady_time next_{};
};

}  // namespace k8s
