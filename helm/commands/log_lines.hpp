#pragma once

#include "reactor/plain/time.hpp"

#include <string>

namespace helm {

/// A warning about charts and values as Helm's log prints it: behind the place in its sources. What
/// is no line of that log stays as it is.
std::string log_line(const std::string& warning);

/// A warning of an API server as client-go's log prints it, in UTC.
std::string warning_line(reactor::wall_time at, int process, const std::string& text);

}  // namespace helm
