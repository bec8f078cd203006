#pragma once

#include "policies/host/hook.hpp"

#include <vector>

namespace policies::trains {

/// The questions about trains.
std::vector<policies::hook> train_hooks();

}  // namespace policies::trains
