// Whole fleets in virtual time: one seed decides every delay, cut and crash, so a failing seed
// replays bit for bit.
#include "k8s/informer/intern.hpp"
#include "reactor/plain/keyed_hash.hpp"
#include "tests/simulation/fleet_run.hpp"

#include <gtest/gtest.h>

namespace {

using simulation::run_fleet;
using simulation::run_outcome;

constexpr simulation::disturbances calm{}, everything{true, true, true};

void expect_good(const run_outcome& r, std::uint64_t seed) {
  EXPECT_EQ(r.updated, r.nodes) << "seed " << seed << "\n" << r.log;
  EXPECT_TRUE(r.violations.empty()) << "seed " << seed << ": " << r.violations.front() << "\n"
                                    << r.log;
  EXPECT_TRUE(r.cache_differences.empty())
      << "seed " << seed << ": " << r.cache_differences.front() << "\n"
      << r.log;
  EXPECT_EQ(r.left_alive, 0u) << "seed " << seed;
  EXPECT_GE(r.reboots, r.nodes) << "seed " << seed;
}

TEST(FleetSimulation, ACalmFleetIsUpdatedWithOneRebootEach) {
  const run_outcome r = run_fleet(1, calm);
  expect_good(r, 1);
  EXPECT_EQ(r.reboots, r.nodes);
}

TEST(FleetSimulation, TheSameSeedGivesTheSameTrace) {
  for (const std::uint64_t seed : {7u, 8u, 9u}) {
    const run_outcome first = run_fleet(seed, everything), second = run_fleet(seed, everything);
    EXPECT_EQ(first.trace, second.trace) << "seed " << seed;
    EXPECT_EQ(first.writes, second.writes) << "seed " << seed;
  }
  EXPECT_NE(run_fleet(7, everything).trace, run_fleet(8, everything).trace);
}

TEST(FleetSimulation, TheTraceDoesNotDependOnTheHashKey) {
  const run_outcome here = run_fleet(7, everything);
  const reactor::hash_key before = reactor::set_hash_key({0x1234, 0x5678});
  k8s::interned::hash_again();
  const run_outcome elsewhere = run_fleet(7, everything);
  reactor::set_hash_key(before);
  k8s::interned::hash_again();
  EXPECT_EQ(here.trace, elsewhere.trace);
  EXPECT_EQ(here.writes, elsewhere.writes);
}

/// 200 seeds with everything that may go wrong, 25 a test so that they share the cores.
class DisturbedFleet : public testing::TestWithParam<int> {};

TEST_P(DisturbedFleet, KeepsItsInvariantsAndEndsUpdated) {
  std::size_t crashes = 0, answers = 0;
  for (int i = 0; i < 25; ++i) {
    const auto seed = static_cast<std::uint64_t>(1'000 + GetParam() * 25 + i);
    const run_outcome r = run_fleet(seed, everything);
    expect_good(r, seed);
    if (HasFailure()) break;
    crashes += r.crashes;
    answers += r.disturbed_answers;
  }
  EXPECT_GT(crashes, 50u) << "the disturbances do not disturb";
  EXPECT_GT(answers, 600u) << "the disturbances do not disturb";
}

INSTANTIATE_TEST_SUITE_P(Seeds, DisturbedFleet, testing::Range(0, 8));

}  // namespace
