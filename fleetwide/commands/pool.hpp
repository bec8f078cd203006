#pragma once

#include "fleetwide/commands/pool_arguments.hpp"
#include "fleetwide/kinds/fleet_object.hpp"
#include "service/commands/looking.hpp"

#include <string>
#include <vector>

namespace cli {

/// The FleetPools of a file; those without a namespace are in `ns`. Errors: a sentence with the
/// file and what is wrong in it.
reactor::result<std::vector<fleetwide::fleet_object>, std::string> pools_in(const std::string& text,
                                                                            const std::string& file,
                                                                            const std::string& ns);

/// `windlass pool` on a service that was started in look mode. Returns the exit code. `in_file`:
/// of plan and diff, the keys of what the service assumes.
reactor::awaitable<int> work_on_pools(reactor::loop& l, service& s, pool_arguments a,
                                      std::vector<k8s::object_key> in_file,
                                      command_output& out);  // borrowed

}  // namespace cli
