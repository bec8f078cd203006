// The brake, and the speed limit, in the middle of a rollout that was said once at home for all
// clusters: from a second later on no pool is written and no node moves, and once it is off all of
// them go on.
#include "reactor/loop.hpp"
#include "tests/simulation/fleet_pool_rollout.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

TEST(BrakeAtEveryMoment, StopsFleetPoolsAndLetsThemGoOn) {
  simulation::sweep_brake([](reactor::loop&) { return simulation::fleet_pool_rollout(); },
                          "of FleetPools");
}

/// The pool that is written on a cluster counts as much as what its nodes do then.
TEST(SpeedLimitOfFleets, HoldsFleetPoolsAndLetsThemEnd) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    reactor::loop l{reactor::loop::mode::simulated, seed};
    const simulation::rollout_outcome r =
        simulation::run_limited(l, simulation::fleet_pool_rollout(), {.fleet = 1 + seed});
    ASSERT_TRUE(r.violations.empty()) << "seed " << seed << ": " << r.violations.front();
    EXPECT_TRUE(r.has_arrived) << "seed " << seed;
    EXPECT_GE(r.began, 3 + 3 + 3 * 2u) << "pools made and changed, and a slot for each node";
  }
}

}  // namespace
