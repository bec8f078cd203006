#pragma once

#include "bootc/pool/rollout_plan.hpp"
#include "units/plan_row.hpp"

#include <string>

namespace bootc {

/// A pool for `status`, `plan` and `explain`: what the next pass does, and who goes first once every node has the image.
units::plan_row shown(std::string pool, rollout_plan now, rollout_plan forecast);

}  // namespace bootc
