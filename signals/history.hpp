#pragma once

#include "policies/signals.hpp"
#include "reactor/plain/time.hpp"
#include "signals/answer.hpp"

#include <deque>
#include <optional>
#include <string>

namespace signals {

/// The values of one signal over its window, and what hooks are told of them.
/// Shape    at most policies::signal_limits::samples values.
class history {
public:
  history(reactor::nanoseconds window, reactor::nanoseconds stale_after)
      : window_(window), stale_after_(stale_after) {}

  /// What the server said. Without a number the signal is unknown at once, and what was covered
  /// before is over.
  void add(const reading& r, reactor::steady_time at);
  /// It said nothing: the last value stands until it is stale.
  void no_answer(std::string why);
  policies::signal_fact at(reactor::steady_time now) const;
  /// When the last value came; none: there was none.
  std::optional<reactor::steady_time> last_value() const;

private:
  struct sample {
    reactor::steady_time at;
    double value;
  };
  reactor::nanoseconds window_, stale_after_;
  /// Of one stretch without a gap longer than stale_after, oldest first; one before the window
  /// stays, as it held at the window's start.
  std::deque<sample> values_;
  std::string why_ = "it has not been asked for yet";  // of the last question; empty: a value came
};

}  // namespace signals
