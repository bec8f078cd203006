#pragma once

#include "fleetwide/plan/rollout_plan.hpp"

#include <optional>
#include <string>

namespace fleetwide {

/// How what is on a member stands to the object that it was said in.
struct member_sight {
  member is;
  std::optional<reactor::wall_time> look_again;  // what it says may count by then
  std::string version;                           // of what is there; empty: nothing is
  std::string since;                             // when what is there was written, as its marks say
};

}  // namespace fleetwide
