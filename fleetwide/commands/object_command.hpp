#pragma once

#include "fleetwide/commands/object_arguments.hpp"
#include "fleetwide/kinds/fleet_object.hpp"
#include "service/commands/looking.hpp"

#include <string>
#include <vector>

namespace cli {

/// The objects of that kind in a file; those without a namespace are in `ns`. Errors: a sentence
/// with the file and what is wrong in it.
reactor::result<std::vector<fleetwide::fleet_object>, std::string> objects_in(
    const fleet_kind& kind, const std::string& text, const std::string& file,
    const std::string& ns);

/// `windlass pool` or `chart` on a service that was started in look mode. Returns the exit code.
/// `assumed`: of plan and diff, objects as if they were at home.
reactor::awaitable<int> work_on_objects(reactor::loop& l, service& s, object_arguments a,
                                        std::vector<fleetwide::fleet_object> assumed,
                                        command_output& out);  // borrowed

}  // namespace cli
