#pragma once

#include "cli/arguments.hpp"
#include "registry/environment.hpp"
#include "units/api.hpp"

#include <vector>

namespace cli {

/// The same APIs, with what the command line, the environment and values files say about Tenants
/// and KryptonDeployments, where somebody names them with --apis. `said` has all of these
/// settings then, as they count. Blocks on files.
/// Errors: one sentence that names the setting or the file.
reactor::result<std::vector<units::api>> with_tenants(std::vector<units::api> all,
                                                      const fleet_arguments& fleet,
                                                      std::vector<setting>& said,
                                                      const registry::environment& environment);

/// Whether somebody names Tenants.
bool names_tenants(const fleet_arguments& fleet);

}  // namespace cli
