#pragma once

#include "reactor/plain/time.hpp"

#include <string>

namespace formats {

/// "7m2s", "3d4h": how tables of Kubernetes print ages.
std::string human_duration(reactor::nanoseconds d);

}  // namespace formats
