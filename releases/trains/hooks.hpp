#pragma once

#include "policies/host/hook.hpp"

#include <vector>

namespace policies::trains {

/// The questions about trains. Their fields are not described; what is taken of an answer is.
std::vector<policies::hook> train_hooks();

}  // namespace policies::trains
