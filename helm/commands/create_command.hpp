#pragma once

#include "helm/commands/commands.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace helm {

/// `windlass helm create NAME`: a folder with a small chart of ours. A file that is there already
/// is overwritten and named, as Helm does.
command_result create_command(std::span<const std::string> arguments);

/// The files of that chart: path below the folder, text.
std::vector<std::pair<std::string, std::string>> first_chart(const std::string& name);

}  // namespace helm
