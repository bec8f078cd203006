#pragma once

#include "policies/host/hook.hpp"

#include <vector>

namespace policies::releases {

/// The questions about Releases.
hook map_hook();
hook diff_hook();
std::vector<hook> planning_hooks();  // gate, bump, path, lifecycle
std::vector<hook> offering_hooks();  // folder, pin, join, publish

}  // namespace policies::releases
