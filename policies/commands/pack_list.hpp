#pragma once

#include "policies/commands/policy_arguments.hpp"
#include "policies/host/host.hpp"

#include <string>
#include <vector>

namespace cli {

/// "rollout.plan, disruption.admit"
std::string joined_hooks(const policies::pack_status& p);
/// What `policy list` prints of these packs. Returns the exit code.
int show_packs(const std::vector<policies::pack_status>& all, const policy_arguments& a);

}  // namespace cli
