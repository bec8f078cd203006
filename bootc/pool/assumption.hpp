#pragma once

#include "bootc/pool/rollout_plan.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bootc {

/// Makes the pool of `world` one that asks for `ref`, as the API server would after that edit.
void assume_image(pool_world& world, const std::string& ref);

/// What is said about a rollout that has not begun.
struct assumption {
  std::vector<std::string> notes;  // what a tag names, how many nodes fetch and boot the image
  std::size_t steps = 0;           // that follow one another at least; 0: no node moves, or unknown
  std::string unresolved;          // why the registry did not show the image; empty: it did
  bool is_absent = false;          // since it has no such image
};
/// Both plans are of the pool with the new image; `looked_up`: what the registry said of it.
assumption assumption_of(const std::string& ref, const std::optional<tag_resolution>& looked_up,
                         const rollout_plan& now, const rollout_plan& forecast);

}  // namespace bootc
