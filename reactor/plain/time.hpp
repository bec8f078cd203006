#pragma once

#include "reactor/plain/result.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace reactor {

using namespace std::chrono_literals;

using nanoseconds = std::chrono::nanoseconds;
/// For waiting and measuring. Under simulation both clocks are virtual; no code outside reactor/
/// reads the machine's.
using steady_time = std::chrono::time_point<std::chrono::steady_clock, nanoseconds>;
/// For what people and other machines read. May jump.
using wall_time = std::chrono::time_point<std::chrono::system_clock, nanoseconds>;

/// A deadline that never comes.
inline constexpr steady_time never = steady_time::max();
/// Stands for Go's zero time, "0001-01-01T00:00:00Z", which is how an unset time may be written; a
/// wall_time does not reach back that far. This is 1800-01-01, and a nanosecond that is never
/// written, so that differences to it do not overflow.
inline constexpr wall_time zero_time{std::chrono::seconds(-5'364'662'400) + nanoseconds(1)};

/// RFC 3339 in UTC with whole seconds ("2026-11-21T10:00:00Z"), as Kubernetes writes metav1.Time.
std::string format_rfc3339(wall_time t);
/// The same with six decimals, as Kubernetes writes metav1.MicroTime.
std::string format_rfc3339_micro(wall_time t);
/// Accepts RFC 3339 with any fraction and offset. Errors: errc::malformed.
result<wall_time> parse_rfc3339(std::string_view text);
/// "3m20s", "1.5s", "250ms": what Go's time.Duration prints.
std::string format_duration(nanoseconds d);
/// Go's duration syntax ("1h30m", "500ms"). Errors: errc::malformed.
result<nanoseconds> parse_duration(std::string_view text);

}  // namespace reactor
