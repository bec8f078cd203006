// Under a speed limit never more changes begin in a minute than it says, over all APIs together,
// and everything ends all the same.
#include "cli/apis.hpp"
#include "simulation/commands/simulate/trial.hpp"
#include "simulation/speed_invariants.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using cli::simulate::trial;
using simulation::trouble;

std::uint64_t seeds() {
  const char* asked = std::getenv("WINDLASS_SPEED_SEEDS");
  return asked ? std::strtoull(asked, nullptr, 10) : 6;
}

trial trial_of(std::uint64_t seed, simulation::lodgers each, simulation::troubles faults) {
  trial t;
  t.apis = cli::apis();
  t.fleet = simulation::usual_fleet(3, 4, each);
  t.fleet.faults = std::move(faults);
  t.fleet.disturbed_for = 4min;
  t.fleet.patience = 6h;
  t.seed = seed;
  return t;
}

/// Other limits with each seed: of the fleet, of its clusters, of both.
units::change_limits limits_of(std::uint64_t seed) {
  switch (seed % 3) {
    case 0: return {.fleet = 12 + seed % 7};
    case 1: return {.cluster = 4 + seed % 5};
    default: return {.fleet = 10 + seed % 7, .cluster = 4 + seed % 5};
  }
}

/// FleetCharts on clusters without nodes.
trial charts_of(std::uint64_t seed, simulation::troubles faults) {
  trial t = trial_of(seed, {}, std::move(faults));
  t.fleet.charts = 3;
  return t;
}

void sweep(const std::function<trial(std::uint64_t seed)>& make, const char* what) {
  std::size_t began = 0, crashes = 0;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    trial t = make(seed);
    t.max_changes = limits_of(seed);
    const auto out = cli::simulate::run(std::move(t));
    began += out.began;
    crashes += out.crashes;
    ASSERT_TRUE(out.is_good()) << what << ", seed " << seed << ": " << out.findings().front()
                               << "\n"
                               << out.tail;
  }
  EXPECT_GT(began, 40 * seeds());
  std::printf("## speed limit %s: %zu changes in %llu fleets, %zu crashes\n", what, began,
              static_cast<unsigned long long>(seeds()), crashes);
}

void sweep(simulation::lodgers each, const simulation::troubles& faults, const char* what) {
  sweep([&](std::uint64_t seed) { return trial_of(seed, each, faults); }, what);
}

TEST(SpeedLimitOfFleets, HoldsPoolsAndLetsThemEnd) {
  sweep({}, {}, "of pools");
}

TEST(SpeedLimitOfFleets, IsNotExceededByAServiceThatStartsAgain) {
  sweep({}, {trouble::crashes}, "of pools with crashes");
}

TEST(SpeedLimitOfFleets, IsOneForAllApis) {
  sweep({.tenants = 2, .trustees = 1}, {}, "of all APIs");
}

TEST(SpeedLimitOfFleets, HoldsAmongFailuresToo) {
  sweep({.tenants = 2, .trustees = 1}, {trouble::failing, trouble::conflict}, "of all that fails");
}

TEST(SpeedLimitOfFleets, HoldsFleetChartsAndLetsThemEnd) {
  sweep([](std::uint64_t seed) { return charts_of(seed, {}); }, "of FleetCharts");
}

TEST(SpeedLimitOfFleets, HoldsFleetChartsAmongCrashesAndFailures) {
  sweep([](std::uint64_t seed) { return charts_of(seed, {trouble::crashes, trouble::failing}); },
        "of FleetCharts with crashes that fail now and then");
}

TEST(SpeedLimitOfFleets, EndsWithALargeClusterBesideSmallOnes) {
  trial t = trial_of(1, {}, {});
  t.fleet.clusters[0].nodes = 60;
  t.max_changes = {.fleet = 30};
  const auto out = cli::simulate::run(std::move(t));
  ASSERT_TRUE(out.is_good()) << out.findings().front() << "\n" << out.tail;
  EXPECT_GT(out.took, 5min);
}

/// The judge counts each span, of the fleet and of each cluster.
TEST(SpeedInvariants, SeeTheOneTooMuch) {
  reactor::steady_time now{1h};
  simulation::speed_invariants judge({.fleet = 3, .cluster = 2}, [&] { return now; });
  const json::object none{{"spec", {{"desiredImage", "a"}}}};
  const auto writes = [&](const char* cluster) {
    const std::size_t before = judge.violation_count();
    judge.saw(cluster, {k8s::sim::write_type::added, "", "bootcnodes", "", "w", 1, nullptr, &none});
    return judge.violation_count() - before;
  };
  EXPECT_EQ(writes("a"), 0u);
  EXPECT_EQ(writes("a"), 0u);
  EXPECT_EQ(writes("a"), 1u) << "of the cluster";
  EXPECT_EQ(writes("b"), 1u) << "of the fleet";
  now += 1min;
  EXPECT_EQ(writes("a"), 0u);
  EXPECT_EQ(judge.seen(), 5u);
}

}  // namespace
