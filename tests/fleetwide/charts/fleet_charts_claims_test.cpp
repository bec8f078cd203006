// Two FleetCharts that claim one release, and what a start costs, on embedded clusters.
#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"

namespace fleetwide::testing {
namespace {

TEST_F(FleetChartsOnClusters, WhatIsDoneForTheOlderOfTwoThatClaimAReleaseIsNotTheYoungers) {
  home().put(fleet_chart("2.0.0"));  // it fails, so that its order stays
  home().put(fleet_chart("1.0.0", "{}", R"(,"release":"app")", "base"));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    EXPECT_EQ(note_on("c0")->object, "FleetChart/default/app");
    EXPECT_EQ(status("base").at("held"), (json::object{{"managed-by-other", 6}}));
    EXPECT_EQ(status("base").at("clusters").at("moving"), 0);
  });
}

TEST_F(FleetChartsOnClusters, ItIsNotedOnTheClusterWhoseTheReleaseIs) {
  home().put(fleet_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    std::string notes;
    for (const json::object& o : api("c0").list("", "configmaps"))
      if (o.at("metadata").at("name").as_string().starts_with("windlass-placed-"))
        notes += json::serialize(o.at("data"));
    EXPECT_NE(notes.find(R"(\"owner\":\"FleetChart/default/app\")"), std::string::npos) << notes;
  });
}

TEST_F(FleetChartsOnClusters, AStartWritesNothingAtHome) {
  put_config("levels", "values.yaml", "level: warn");
  home().put(fleet_chart("1.0.0", "{}", R"(,"valuesFrom":[{"kind":"ConfigMap","name":"levels"}])"));
  std::string written;
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    EXPECT_EQ(who_has("1.0.0 warn"), "c0 c1 c2 c3 c4 c5");
    home().on_write = [&](const k8s::sim::written& w) {
      if (w.plural != "events") written += std::string(w.plural) + " ";
    };
    co_await serve(20min);
    home().on_write = nullptr;
  });
  EXPECT_EQ(written, "");
}

}  // namespace
}  // namespace fleetwide::testing
