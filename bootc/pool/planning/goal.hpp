#pragma once

#include "bootc/pool/pool_status.hpp"
#include "bootc/pool/rollout_plan.hpp"
#include "registry/image_ref.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bootc::planning {

/// Why a pool is not rolled out, as each of its nodes is told.
struct refusal {
  hold_code::hold_kind kind;
  std::string sentence, released_by;
};

/// What the pool asks for.
struct goal {
  registry::image_ref target;
  std::string pinned;  // the image that all members should run
  staging_mode staging = staging_mode::locked;
  reactor::nanoseconds stuck_after{};
  std::size_t stages_at_once = 0;  // 0 = as many as there are
  failure_answer on_failure = failure_answer::halt;
  way_back back;
  bool returning = false;  // the target is the image before
  tag_findings tag;
};

/// Fills `out` from the pool, what it was resolved to and what its status remembers; values that
/// are written wrongly and count as none go to `warnings`. Checked as a whole before anything is
/// touched: answers the first value that a user must correct or a registry has yet to answer.
std::optional<refusal> read_goal(const pool_world& world, goal& out,
                                 std::vector<warning>& warnings);

}  // namespace bootc::planning
