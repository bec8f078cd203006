#pragma once

#include "bootc/pool/rollout_plan.hpp"
#include "app/api/plan_row.hpp"

#include <string>

namespace bootc {

/// A pool for `status`, `plan` and `explain`: what the next pass does, and who goes first once
/// every node has the image. Takes what it shows out of the plans; their units stay, and are shown
/// one by one.
units::plan_row shown(std::string pool, rollout_plan& now, rollout_plan& forecast);
units::unit shown(const unit& u);

}  // namespace bootc
