#pragma once

#include "bootc/pool/rollout_plan.hpp"

#include <string>
#include <vector>

namespace bootc {

/// Makes the pool of `world` one that asks for `ref`, as the API server would after that edit.
void assume_image(pool_world& world, const std::string& ref);

/// Sentences about a rollout that has not begun: what a tag names, how many nodes fetch the image,
/// and in how many steps they boot it. Both plans are of the pool with the new image.
std::vector<std::string> rollout_notes(const std::string& ref, const rollout_plan& now,
                                       const rollout_plan& forecast);

}  // namespace bootc
