#pragma once

#include "cli/arguments.hpp"
#include "registry/environment.hpp"
#include "units/api.hpp"

#include <optional>
#include <string>
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

/// A flag whose API does not run, as a sentence: what would be done with it otherwise is nothing,
/// and nobody would say so. None: there is no such flag.
std::optional<std::string> setting_of_nobody(const fleet_arguments& fleet,
                                             const std::vector<setting>& said);

/// Whether somebody names Tenants.
bool names_tenants(const fleet_arguments& fleet);

}  // namespace cli
