#pragma once

#include "policies/host/signals/declaration.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace signals {

/// What a server said of a signal: a finite number, or why there is none. Never both, never
/// neither.
struct reading {
  std::optional<double> value;
  std::string unknown;
};

/// More than that of an answer is not read.
inline constexpr std::size_t most_answer_bytes = 64 * 1024;

/// How far the server's clock may be ahead of ours.
inline constexpr reactor::nanoseconds most_clock_ahead = std::chrono::seconds(15);

/// Reads the answer to an instant query of Prometheus' HTTP API.
/// Shape    a scalar, or a vector of one sample. Anything else is unknown: an empty vector, several
///          series, a matrix, NaN, an infinity, warnings (the answer is partial), HTML, an error.
///          So is a sample whose time is further back than `stale_after`, or ahead of `now`.
/// Source   Prometheus, "HTTP API", instant queries and the format overview.
reading read_prometheus(int status, std::string_view body, reactor::wall_time now,
                        reactor::nanoseconds stale_after);

/// Reads a JSON number, or an object whose member `value` is one. Other members count for nothing.
reading read_number(int status, std::string_view body);

}  // namespace signals
