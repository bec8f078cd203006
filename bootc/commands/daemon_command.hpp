#pragma once

#include "app/command.hpp"

#include <vector>

namespace cli {

/// `windlass daemon`: executes windlass-node with the words that were typed.
std::vector<app::command> daemon_commands();

}  // namespace cli
