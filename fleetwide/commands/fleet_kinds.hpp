#pragma once

#include "fleetwide/commands/object_arguments.hpp"

namespace cli {

const fleet_kind& pools_for_commands();
const fleet_kind& charts_for_commands();

}  // namespace cli
