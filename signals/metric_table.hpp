#pragma once

#include "reactor/metrics.hpp"

/// What is counted of signals that are fetched.
namespace signals::signal_metrics {

using enum reactor::metric_type;

inline constexpr auto all = std::to_array<reactor::metric_kind>({
    {"windlass_signal_fetches_total",
     counter,
     "",
     {"result"},
     "Questions to the servers of signals, by what came of them: value, no_value (an answer "
     "without a usable number), no_answer, refused (not asked: a login that is not for the "
     "server)."},
    {"windlass_signals",
     gauge,
     "",
     {"state"},
     "Signals that are fetched, a cluster's each by itself: known, or unknown (no value, or a "
     "stale one)."},
    {"windlass_signal_oldest_seconds",
     gauge,
     "seconds",
     {},
     "Age of the oldest last value among the signals that are fetched and have one."},
});
inline constexpr reactor::metric_kind fetches =
                                          reactor::metric_in(all, "windlass_signal_fetches_total"),
                                      series = reactor::metric_in(all, "windlass_signals"),
                                      oldest =
                                          reactor::metric_in(all, "windlass_signal_oldest_seconds");

}  // namespace signals::signal_metrics
