#pragma once

#include <string>

namespace helm {

/// A warning about charts and values as Helm's log prints it: behind the place in its sources. What
/// is no line of that log stays as it is.
std::string log_line(const std::string& warning);

}  // namespace helm
