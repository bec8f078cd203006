// SQLite's method for memory: in a run that starts, syncs, moves a pool, answers its callers and
// stops, every place that allocates fails at its first, second and a late hit; at the second
// everything after it fails too.
#include "reactor/plain/memory.hpp"

#include "tests/fail_points/allocations.hpp"
#include "tests/fail_points/memory_run.hpp"

#include <gtest/gtest.h>

namespace {

using namespace fail_points;

constexpr unsigned shards = 2;
unsigned shard_now = 0;

class Allocations : public testing::TestWithParam<unsigned> {};

TEST_P(Allocations, EndInOrderOrGoOnWhereverOneFails) {
  reactor::end_when_memory_is_lost();
  shard_now = GetParam();
  std::string refused;
  const std::string wrong =
      run_in_memory({.begin = [] { arm_allocations({.shard = shard_now, .shards = shards}); },
                     .end = [] { disarm_allocations(); }},
                    refused);
  if (in_failing_child()) end_child(wrong, refused);
  EXPECT_EQ(wrong + refused, "") << "without a fault";
  std::printf("places %zu, allocations %zu\n", allocation_places(), allocations_seen());
  report("allocations " + std::to_string(shard_now + 1) + " of " + std::to_string(shards),
         allocation_tally());
}

INSTANTIATE_TEST_SUITE_P(Shards, Allocations, testing::Range(0u, shards));

}  // namespace
