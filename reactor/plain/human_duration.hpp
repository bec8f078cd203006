#pragma once

#include "reactor/plain/time.hpp"

#include <string>

namespace reactor {

/// "7m2s", "3d4h": how tables of Kubernetes print ages.
std::string human_duration(nanoseconds d);

}  // namespace reactor
