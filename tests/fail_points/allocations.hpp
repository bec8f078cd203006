#pragma once

#include "tests/fail_points/outcome.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace fail_points {

/// Which allocations of this thread fail, while armed. Places are told apart by the functions on
/// their stack. At the chosen hits of a place the process forks: the child's allocation fails and
/// the child lives on with that; the parent waits for it, notes how it ended, and goes on as if
/// nothing were.
struct allocation_plan {
  unsigned shard = 0, shards = 1;  // every shards-th place
  std::size_t most_points = 100'000;
  unsigned patience_seconds = 60;  // of a child
};

void arm_allocations(const allocation_plan& plan);
void disarm_allocations();
/// What was tried since arm_allocations().
tally& allocation_tally();
std::size_t allocation_places();
std::size_t allocations_seen();
/// True in a child whose allocation failed: it ends with end_child() rather than with a test's end.
bool in_failing_child();
/// `wrong` is empty when everything is as it would have been; `refused` is the sentence of an
/// orderly end.
[[noreturn]] void end_child(const std::string& wrong, const std::string& refused);

}  // namespace fail_points
