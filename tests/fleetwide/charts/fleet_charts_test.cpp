// FleetCharts on a fleet, in virtual time: embedded clusters, a home, a shelf of charts.
#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"

namespace fleetwide::testing {
namespace {

TEST_F(FleetChartsOnClusters, WavesFollowOneAnotherAndASettledFleetCostsNoWrites) {
  home().put(fleet_chart("1.0.0", rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
    EXPECT_EQ(records("c3"), "1:deployed");
    EXPECT_TRUE(note_on("c3")) << "noted";
    moved();
    ask_for("1.1.0");
    const auto before = co_await plan();
    EXPECT_EQ(before.size(), 1u);
    EXPECT_EQ(before.front().start, (std::vector<std::string>{"c0", "c1"}));
    EXPECT_EQ(holds_in(before), "c2:earlier-wave c3:earlier-wave c4:earlier-wave c5:earlier-wave");
    EXPECT_EQ(moved(), "") << "who looks writes nothing";
    co_await serve(40min);
    EXPECT_EQ(moved(), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 2");
    EXPECT_EQ(records("c0"), "1:superseded 2:deployed");
    const std::uint64_t written = writes_;
    const std::size_t given = world_->shelf().given();
    co_await serve(20min);
    EXPECT_EQ(writes_, written) << "a restart confirms without a write";
    EXPECT_LE(world_->shelf().given(), given + 1) << "the chart is looked at once";
  });
}

TEST_F(FleetChartsOnClusters, AFailedCanaryHaltsTheRestUntilAnotherRevisionIsAskedFor) {
  home().put(fleet_chart("1.0.0", rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    moved();
    ask_for("2.0.0");
    co_await serve(30min);
    EXPECT_EQ(moved(), "");
    EXPECT_EQ(said("Halted").substr(0, 31), "True TooManyFailed 2 clusters f") << said("Halted");
    EXPECT_EQ(holds_in(co_await plan()),
              "c0:cluster-failed c1:cluster-failed c2:rollout-halted c3:rollout-halted "
              "c4:rollout-halted c5:rollout-halted");
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    ask_for("1.1.0");
    co_await serve(40min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Halted"), "False Healthy ");
  });
}

TEST_F(FleetChartsOnClusters, AFailedRevisionIsTakenBackWhereThatIsAskedFor) {
  home().put(fleet_chart("1.0.0", rings_and_back));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for("2.0.0");
    co_await serve(30min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Halted").substr(0, 13), "True Returned") << said("Halted");
    EXPECT_EQ(status().at("history").at(1).at("outcome"), "Returned");
    world_->shelf().put("app", "2.0.1");
    ask_for("2.0.1");
    co_await serve(30min);
    EXPECT_EQ(who_has("2.0.1 info"), "c0 c1 c2 c3 c4 c5");
  });
}

}  // namespace
}  // namespace fleetwide::testing
