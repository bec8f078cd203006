#pragma once

#include "app/command.hpp"

#include <vector>

namespace cli {

using namespace app;

std::vector<app::command> apiserver_commands();
std::vector<app::command> demo_commands();
std::vector<app::command> simulate_commands();

}  // namespace cli
