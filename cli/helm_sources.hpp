#pragma once

#include "helm/chart_flags.hpp"
#include "helm/commands.hpp"

#include <string>
#include <vector>

namespace cli {

/// Finds charts in repositories and registries for commands that render: each call runs a loop of its own to the end.
helm::chart_locator chart_locator();

/// `windlass helm repo|registry|pull|push|package|dependency|search|verify …`
helm::command_result run_source_command(const std::vector<std::string>& arguments,
                                        const helm::surroundings& around);

}  // namespace cli
