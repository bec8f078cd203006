// The brake lands after every write of a rollout: from a second later on nothing begins, and once
// it is off the rollout goes on where it was.
#include "cli/apis.hpp"
#include "k8s/sim/server.hpp"
#include "simulation/brake_invariants.hpp"
#include "simulation/commands/simulate/trial.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using cli::simulate::trial;
using simulation::trouble;

/// How many of the 500 moments each test tries: all of them where the variable is set.
std::uint64_t moments() {
  const char* asked = std::getenv("WINDLASS_BRAKE_SEEDS");
  return asked ? std::strtoull(asked, nullptr, 10) : 10;
}

trial trial_of(std::uint64_t seed, simulation::lodgers each, simulation::troubles faults) {
  trial t;
  t.apis = cli::apis();
  t.fleet = simulation::usual_fleet(2, 4, each);
  t.fleet.faults = std::move(faults);
  t.fleet.disturbed_for = 4min;
  t.fleet.patience = 1h;
  t.seed = seed;
  return t;
}

/// FleetCharts on clusters without nodes.
trial charts_of(std::uint64_t seed, simulation::troubles faults) {
  trial t = trial_of(seed, {}, std::move(faults));
  t.fleet.charts = 3;
  return t;
}

/// Lands at moments that lie evenly over the whole rollout.
void sweep(const std::function<trial(std::uint64_t seed)>& make, const char* what) {
  trial first = make(1);
  first.brake_at = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t whole = cli::simulate::run(std::move(first)).rollout_writes;
  ASSERT_GT(whole, 50u);
  std::uint64_t landed = 0, crashes = 0;
  const std::uint64_t n = moments();
  for (std::uint64_t seed = 1; seed <= n; ++seed) {
    trial t = make(seed);
    t.brake_at = 1 + (seed - 1) * whole / n;
    const auto out = cli::simulate::run(std::move(t));
    landed += out.braked;
    crashes += out.crashes;
    ASSERT_TRUE(out.is_good()) << what << ", seed " << seed << ": " << out.findings().front()
                               << "\n"
                               << out.tail;
  }
  EXPECT_GT(landed, n / 2);
  std::printf("## brake %s: %llu of %llu landed in rollouts of %llu writes, %llu crashes\n", what,
              static_cast<unsigned long long>(landed), static_cast<unsigned long long>(n),
              static_cast<unsigned long long>(whole), static_cast<unsigned long long>(crashes));
}

void sweep(simulation::lodgers each, const simulation::troubles& faults, const char* what) {
  sweep([&](std::uint64_t seed) { return trial_of(seed, each, faults); }, what);
}

TEST(BrakeAtEveryMoment, StopsPoolsAndLetsThemGoOn) {
  sweep({}, {}, "of pools");
}

TEST(BrakeAtEveryMoment, IsReadByAServiceThatStartsAgainBeforeItsFirstAct) {
  sweep({}, {trouble::crashes}, "of pools with crashes");
}

TEST(BrakeAtEveryMoment, StopsTenantsAndLetsThemGoOn) {
  sweep({.tenants = 3}, {trouble::failing}, "of tenants that fail now and then");
}

TEST(BrakeAtEveryMoment, StopsCompositionsAndLetsThemGoOn) {
  sweep({.trustees = 2}, {trouble::failing}, "of compositions that fail now and then");
}

TEST(BrakeAtEveryMoment, StopsFleetChartsAndLetsThemGoOn) {
  sweep([](std::uint64_t seed) { return charts_of(seed, {}); }, "of FleetCharts");
}

TEST(BrakeAtEveryMoment, StopsFleetChartsAmongCrashesAndFailures) {
  sweep([](std::uint64_t seed) { return charts_of(seed, {trouble::crashes, trouble::failing}); },
        "of FleetCharts with crashes that fail now and then");
}

/// The judge sees each kind of act, and none of what ends.
TEST(BrakeInvariants, SeeEachKindOfAct) {
  reactor::steady_time now{1h};
  simulation::brake_invariants judge([&] { return now; });
  const json::object none{{"spec", {{"desiredImage", "a"}, {"desiredImageState", "Staged"}}}};
  json::object slotted = none, booted = none, other = none, status = none;
  slotted["metadata"] = {{"annotations", {{"bootc.dev/in-reboot-slot", ""}}}};
  booted["spec"].as_object()["desiredImageState"] = "Booted";
  other["spec"].as_object()["desiredImage"] = "b";
  status["status"] = {{"anything", "new"}};
  const json::object record{{"type", "helm.sh/release.v1"}};
  json::object leaving = record, pool, moved, notes, begun, done;
  leaving["metadata"] = {{"labels", {{"status", "uninstalling"}}}};
  pool["metadata"] = {{"annotations", {{"windlass.dev/fleet-object", "FleetPool/a/b"}}}};
  moved = pool;
  moved["spec"] = {{"image", {{"ref", "b"}}}};
  begun["data"] = {{"shop.web", R"({"object":"FleetChart/a/b","content":"1","state":"begun"})"}};
  done["data"] = {{"shop.web", R"({"object":"FleetChart/a/b","content":"1","state":"done"})"}};
  using k8s::sim::write_type;
  const auto writes = [&] {
    const std::size_t before = judge.violation_count();
    for (const json::object* after : {&slotted, &booted, &other, &status})
      judge.saw("c", {write_type::modified, "", "bootcnodes", "", "w", 1, &none, after});
    judge.saw("c", {write_type::added, "", "bootcnodes", "", "w", 1, nullptr, &none});
    judge.saw("c", {write_type::deleted, "", "bootcnodes", "", "w", 1, &none, &none});
    judge.saw("c", {write_type::added, "", "namespaces", "", "n", 1, nullptr, &none});
    judge.saw("c", {write_type::added, "", "secrets", "n", "r", 1, nullptr, &record});
    judge.saw("c", {write_type::modified, "", "secrets", "n", "r", 1, &record, &record});
    judge.saw("c", {write_type::modified, "", "secrets", "n", "r", 1, &record, &leaving});
    judge.saw("c", {write_type::modified, "", "secrets", "n", "r", 1, &leaving, &leaving});
    judge.saw("c", {write_type::added, "", "bootcnodepools", "", "p", 1, nullptr, &pool});
    judge.saw("c", {write_type::modified, "", "bootcnodepools", "", "p", 1, &pool, &moved});
    judge.saw("c", {write_type::modified, "", "bootcnodepools", "", "p", 1, &moved, &none});
    judge.saw("c", {write_type::deleted, "", "bootcnodepools", "", "p", 1, &moved, &moved});
    judge.saw("c", {write_type::modified, "", "bootcnodepools", "", "p", 1, &none, &status});
    const auto noted = [&](const json::object& before, const json::object& after) {
      judge.saw(
          "c", {write_type::modified, "", "configmaps", "o", "windlass-fleet", 1, &before, &after});
    };
    noted(notes, begun);
    noted(begun, begun);
    noted(begun, done);
    noted(done, begun);
    return judge.violation_count() - before;
  };
  EXPECT_EQ(writes(), 0u) << "it is off";
  judge.landed();
  now += 999ms;
  EXPECT_EQ(writes(), 0u) << "it has just landed";
  now += 1ms;
  EXPECT_EQ(writes(), 14u);
  judge.lifted();
  EXPECT_EQ(writes(), 0u);
}

}  // namespace
