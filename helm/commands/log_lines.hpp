#pragma once

#include "reactor/plain/time.hpp"

#include <chrono>
#include <string>

namespace helm {

/// A warning about charts and values as Helm's log prints it: behind the place in its sources. What
/// is no line of that log stays as it is. Ends in one line break, whether the text has one or not.
std::string log_line(const std::string& warning);

/// A line of --debug as Helm's log prints it: the place in Helm's sources that says the same, the
/// time (UTC) and how long the program has run. What Helm never says has no place. Ends in a line
/// break of its own.
std::string debug_line(const std::string& text, reactor::wall_time at,
                       std::chrono::nanoseconds running);

/// A warning of an API server as client-go's log prints it, in UTC.
std::string warning_line(reactor::wall_time at, int process, const std::string& text);

}  // namespace helm
