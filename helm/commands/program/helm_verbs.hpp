#pragma once

#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/verbs.hpp"

#include <vector>

namespace cli {

/// The flags of one of Helm's verbs, as the code that parses them declares them.
std::vector<helm::flag_info> helm_flags(const helm::verb& v);

}  // namespace cli
