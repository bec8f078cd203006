// FleetCharts on a fleet, in virtual time: embedded clusters, a home, a shelf of charts.
#include "reactor/net/memory_network.hpp"
#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <random>
#include <set>

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

/// While home does not hear that it is halted, and a cluster hears late that it may begin.
TEST_F(FleetChartsOnClusters, AHaltCountsBeforeItIsWritten) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    using reach = reactor::memory_network::reach;
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    net.set_reach("c1", reach::stalled);
    ask_for("2.0.0");
    const auto has_failed = [&] { return note_on("c0")->is == chart_note::state::failed; };
    for (int i = 0; i < 5'000 && !has_failed(); ++i) co_await loop_.sleep_for(1ms);
    EXPECT_TRUE(has_failed());
    net.set_reach("home", reach::stalled);
    co_await loop_.sleep_for(1s);
    net.set_reach("c1", reach::open);
    co_await loop_.sleep_for(2s);
    EXPECT_EQ(note_on("c1")->is, chart_note::state::done) << "of the revision before";
    net.set_reach("home", reach::open);
    co_await loop_.sleep_for(2min);
    EXPECT_EQ(said("Halted").substr(0, 18), "True TooManyFailed");
    EXPECT_EQ(on("c1"), "1.0.0 info");
    co_await w->stop();
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

TEST_F(FleetChartsOnClusters, ValuesAreMergedInTheirOrderAndAnEditTouchesWhomItConcerns) {
  put_config("levels", "eu.yaml", "level: warn\n");
  put_config("levels", "us.yaml", "level: debug\n");
  home().edit("", "configmaps", "default", "levels", [](json::object& o) {
    o["data"] = json::object{{"eu.yaml", "level: warn\n"}, {"us.yaml", "level: debug\n"}};
  });
  home().put(
      fleet_chart("1.0.0", R"({"maxClusters":6})",
                  R"(,"valuesFrom":[{"kind":"ConfigMap","name":"levels","key":"{region}.yaml"},)"
                  R"({"kind":"Secret","name":"token","optional":true}])"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 warn"), "c0 c2 c4") << said("Ready") << holds_in(co_await plan());
    EXPECT_EQ(who_has("1.0.0 debug"), "c1 c3 c5");
    moved();
    const auto before = note_on("c0");
    home().edit("", "configmaps", "default", "levels",
                [](json::object& o) { o["data"].as_object()["us.yaml"] = "level: trace\n"; });
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 trace"), "c1 c3 c5");
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 2");
    EXPECT_EQ(note_on("c0"), before) << "what did not change is not touched";
    edit_spec([](json::object& spec) { spec["values"] = json::object{{"level", "error"}}; });
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 error"), "c0 c1 c2 c3 c4 c5") << "spec.values over ConfigMaps";
    put_secret("token", "values.yaml", "level: secret\n");
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 secret"), "c0 c1 c2 c3 c4 c5") << "Secrets over all";
    for (const json::object& r : home().list("apps", "controllerrevisions"))
      EXPECT_EQ(json::serialize(r).find("level: secret"), std::string::npos)
          << "no revision keeps what a Secret says";
  });
}

TEST_F(FleetChartsOnClusters, WhatCannotBePutTogetherWaitsAndTheOthersGoOn) {
  put_config("levels", "eu.yaml", "level: warn\n");
  home().put(
      fleet_chart("1.0.0", R"({"maxClusters":6})",
                  R"(,"valuesFrom":[{"kind":"ConfigMap","name":"levels","key":"{region}.yaml"}])"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 warn"), "c0 c2 c4");
    const auto rows = co_await plan();
    EXPECT_EQ(holds_in(rows), "c1:values-refused c3:values-refused c5:values-refused");
    EXPECT_EQ(rows.front().holds.front().sentence, "ConfigMap levels has no key us.yaml");
    EXPECT_EQ(said("Degraded"), "True ClustersHeld values-refused: c1, c3, c5");
    home().edit("", "configmaps", "default", "levels",
                [](json::object& o) { o["data"].as_object()["us.yaml"] = "- no\n- map\n"; });
    co_await serve(5min);
    EXPECT_EQ((co_await plan()).front().holds.front().sentence,
              "ConfigMap levels, key us.yaml is no map of values");
    home().edit("", "configmaps", "default", "levels",
                [](json::object& o) { o["data"].as_object()["us.yaml"] = "a: [1\n"; });
    co_await serve(5min);
    EXPECT_EQ((co_await plan()).front().holds.front().code, "values-refused");
    EXPECT_EQ(who_has("1.0.0 warn"), "c0 c2 c4") << "who has it keeps it";
  });
}

TEST_F(FleetChartsOnClusters, WhatAChartNeedsIsReadyOnTheSameClusterFirst) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})", R"(,"dependsOn":["base"])"));
  run([&]() -> awaitable<void> {
    co_await serve(2min);
    EXPECT_EQ(who_has("1.0.0 info"), "");
    auto rows = co_await plan();
    EXPECT_EQ(rows.front().holds.front().code, "depends-on");
    EXPECT_EQ(rows.front().holds.front().sentence, "FleetChart base is not there");
    json::object base = fleet_chart("1.0.0", R"({"maxClusters":6})", "", "base");
    base["spec"].as_object()["clusters"] =
        json::object{{"selector", {{"matchLabels", {{"region", "eu"}}}}}};
    home().put(std::move(base));
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info", "base"), "c0 c2 c4");
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c2 c4");
    rows = co_await plan();
    EXPECT_EQ(holds_in(rows), "c1:depends-on c3:depends-on c5:depends-on");
    edit_spec([](json::object& spec) { spec["dependsOn"] = json::array{"app"}; }, "base");
    co_await serve(2min);
    EXPECT_EQ(said("Ready"), "False NotAvailable spec.dependsOn: app → base → app is a cycle");
    EXPECT_EQ(said("Ready", "base"),
              "False NotAvailable spec.dependsOn: base → app → base is a cycle");
  });
}

TEST_F(FleetChartsOnClusters, HelmUninstallByHandIsDrift) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    const auto uninstall = [&](const std::string& cluster) {
      api(cluster).erase("", "configmaps", "apps", "app");
      api(cluster).erase("", "secrets", "apps", "sh.helm.release.v1.app.v1");
    };
    uninstall("c2");
    co_await serve(5min);
    EXPECT_EQ(on("c2"), "none") << "reported, not mended";
    EXPECT_EQ(holds_in(co_await plan()), "c2:drifted");
    EXPECT_EQ(said("Degraded"), "True ClustersHeld drifted: c2");
    edit_spec([](json::object& spec) { spec["drift"] = "Repair"; });
    co_await serve(5min);
    EXPECT_EQ(on("c2"), "1.0.0 info");
    EXPECT_EQ(said("Degraded"), "False Healthy ");
    edit_spec([](json::object& spec) { spec["drift"] = "Ignore"; });
    uninstall("c3");
    co_await serve(5min);
    EXPECT_EQ(on("c3"), "none");
    EXPECT_EQ(holds_in(co_await plan()), "");
  });
}

TEST_F(FleetChartsOnClusters, AnObjectOfAReleaseThatIsDeletedIsDriftAlsoAfterARestart) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(1min);
    api("c4").erase("", "configmaps", "apps", "app");
    co_await loop_.sleep_for(10s);
    EXPECT_EQ(said("Degraded"), "True ClustersHeld drifted: c4");
    EXPECT_EQ(on("c4"), "none");
    edit_spec([](json::object& spec) { spec["drift"] = "Repair"; });
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(on("c4"), "1.0.0 info");
    EXPECT_EQ(said("Degraded"), "False Healthy ");
    api("c5").erase("", "configmaps", "apps", "app");
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(on("c5"), "1.0.0 info");
    EXPECT_EQ(records("c5"), "1:superseded 2:deployed");
    co_await w->stop();
  });
}

TEST_F(FleetChartsOnClusters, AReleaseThatIsThereIsTakenOverOnlyWhenAPersonSaysSo) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})", "", "app"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    // What another hand installed: the release without our notes.
    for (const char* cluster : {"c0", "c1"}) {
      api(cluster).erase("", "configmaps", "bootc-operator", "windlass-fleet");
      for (char part : std::string("0123456789abcdef"))
        (void)api(cluster).erase("", "configmaps", "bootc-operator",
                                 std::string("windlass-placed-") + part);
    }
    moved();
    ask_for("1.1.0");
    co_await serve(5min);
    EXPECT_EQ(moved(), "c2 c3 c4 c5");
    EXPECT_EQ(holds_in(co_await plan()), "c0:managed-by-other c1:managed-by-other");
    annotate("fleet.windlass.dev/adopt", "c1");
    co_await serve(5min);
    EXPECT_EQ(moved(), "c1");
    EXPECT_EQ(on("c0"), "1.0.0 info");
    annotate("fleet.windlass.dev/adopt", "*");
    co_await serve(5min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(records("c0"), "1:superseded 2:deployed");
  });
}

TEST_F(FleetChartsOnClusters, AClusterThatLeavesIsLeftAsItWasSaid) {
  json::object p = fleet_chart("1.0.0", R"({"maxClusters":6})");
  p["spec"].as_object()["clusters"] =
      json::object{{"selector", {{"matchLabels", {{"region", "eu"}}}}}};
  home().put(std::move(p));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c2 c4");
    const auto move_to = [&](const std::string& cluster, const char* region) {
      home().edit("", "secrets", "default", cluster, [&](json::object& secret) {
        secret["metadata"].as_object()["labels"].as_object()["region"] = region;
      });
    };
    move_to("c0", "us");
    co_await serve(5min);
    EXPECT_EQ(on("c0"), "none") << "uninstalled";
    EXPECT_FALSE(note_on("c0"));
    edit_spec([](json::object& spec) { spec["uninstall"] = "Orphan"; });
    move_to("c2", "us");
    co_await serve(5min);
    EXPECT_EQ(on("c2"), "1.0.0 info") << "left";
    EXPECT_FALSE(note_on("c2"));
    EXPECT_EQ(said("Ready"), "True AllReady 1 of 1 clusters have revision 1");
    move_to("c0", "eu");
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c2 c4") << "one that comes again gets it";
  });
}

TEST_F(FleetChartsOnClusters,
       AnObjectThatIsDeletedTakesItsReleasesAlongAndWaitsForWhomItCannotReach) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    api("c5").freeze(true);
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(2min);
    k8s::client remover(loop_, world_->home(), {});
    k8s::object_key key{"default", "app"};
    auto gone = co_await remover.remove(fleetwide::fleet_charts(), std::move(key));
    EXPECT_TRUE(gone);
    co_await loop_.sleep_for(3min);
    EXPECT_EQ(who_has("1.0.0 info"), "c5");
    EXPECT_TRUE(home().get("fleet.windlass.dev", "fleetcharts", "default", "app"));
    co_await loop_.sleep_for(10min);
    EXPECT_FALSE(home().get("fleet.windlass.dev", "fleetcharts", "default", "app"))
        << "it waits ten minutes and no longer";
    api("c5").freeze(false);
    co_await w->stop();
    co_await remover.stop();
  });
}

TEST_F(FleetChartsOnClusters, OfTwoThatClaimOneReleaseTheOlderHasIt) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    json::object other = fleet_chart("1.1.0", R"({"maxClusters":6})", R"(,"release":"app")");
    other["metadata"].as_object()["name"] = "younger";
    home().put(std::move(other));
    moved();
    co_await serve(5min);
    EXPECT_EQ(moved(), "");
    const auto rows = co_await plan();
    EXPECT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows.back().holds.front().code, "managed-by-other");
    EXPECT_EQ(rows.back().holds.front().sentence,
              "apps/app is claimed by FleetChart/default/app, which is older");
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
  });
}

TEST_F(FleetChartsOnClusters, AnotherNamespaceReachesWhatItIsGrantedAndNothingElse) {
  world_->shelf().put("app", "3.0.0", chart_kind::reaching_out);
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})", "", "app", "team-a"));
  run([&]() -> awaitable<void> {
    co_await serve(3min);
    EXPECT_EQ(who_has("1.0.0 info"), "");
    EXPECT_EQ((co_await plan()).front().holds.front().code, "not-granted");
    const auto grant = [&](const char* targets) {
      home().put(json::parse(std::string(R"({"apiVersion":"fleet.windlass.dev/v1alpha1",
        "kind":"FleetGrant","metadata":{"name":"a","namespace":"default"},"spec":{
        "namespaces":["team-a"],"kinds":["FleetChart"],"clusters":{"names":["c0","c1"]},
        "targetNamespaces":)") +
                             targets + "}}")
                     .as_object());
    };
    grant(R"(["others"])");
    co_await serve(3min);
    EXPECT_EQ(who_has("1.0.0 info"), "");
    grant(R"(["apps"])");
    co_await serve(3min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1");
    home().edit("fleet.windlass.dev", "fleetcharts", "team-a", "app", [](json::object& o) {
      o["spec"].as_object()["chart"].as_object()["version"] = "3.0.0";
    });
    co_await serve(5min);
    EXPECT_FALSE(api("c0").get("", "configmaps", "kube-system", "app-outside"));
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1");
    const auto note = note_on("c0");
    EXPECT_TRUE(note);
    EXPECT_NE(note->why.find("which is all that was granted"), std::string::npos) << note->why;
  });
}

TEST_F(FleetChartsOnClusters, AChartThatIsNotThereIsToldAndARangeMovesByItself) {
  home().put(fleet_chart(">= 1.0.0 < 1.1.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_TRUE(std::string(status().at("history").at(0).at("imageDigest").as_string())
                    .starts_with("1.0.0@sha256:"));
    world_->shelf().put("app", "1.0.5");
    co_await serve(20min);
    EXPECT_EQ(who_has("1.0.5 info"), "c0 c1 c2 c3 c4 c5");
    ask_for("7.x");
    co_await serve(5min);
    EXPECT_EQ(said("Ready"),
              "False NotAvailable chart app has no version 7.x in http://shelf.demo.local");
    EXPECT_EQ(who_has("1.0.5 info"), "c0 c1 c2 c3 c4 c5") << "who has one keeps it";
    edit_spec([](json::object& spec) {
      spec["chart"] = json::object{{"repository", "http://shelf.demo.local"},
                                   {"name", "app"},
                                   {"version", "1.1.0"},
                                   {"digest", "sha256:" + std::string(64, 'a')}};
    });
    co_await serve(5min);
    EXPECT_NE(said("Ready").find("and spec.chart.digest is sha256:aaaa"), std::string::npos)
        << said("Ready");
    edit_spec([](json::object& spec) { spec["chart"].as_object().erase("digest"); });
    co_await serve(5min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetChartsOnClusters, AVersionThatVanishesIsHeldWhereItIsNeededAndNowhereElse) {
  home().put(fleet_chart("1.0.0", rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for("1.1.0");
    co_await serve(90s);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1");
    world_->shelf().take("app", "1.1.0");
    co_await serve(10min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1");
    EXPECT_EQ(who_has("1.0.0 info"), "c2 c3 c4 c5");
    const auto rows = co_await plan();
    EXPECT_NE(holds_in(rows).find("c2:version-not-found"), std::string::npos) << holds_in(rows);
    world_->shelf().put("app", "1.1.0", chart_kind::tested);
    co_await serve(10min);
    EXPECT_EQ(who_has("1.0.0 info"), "c2 c3 c4 c5") << "its digest moved";
    world_->shelf().put("app", "1.1.0");
    co_await serve(30min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetChartsOnClusters, TestsOfTheChartGateTheWave) {
  world_->shelf().put("app", "1.2.0", chart_kind::tested);
  world_->shelf().put("app", "1.3.0", chart_kind::failing_test);
  home().put(fleet_chart("1.2.0", rings, R"(,"test":true)"));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
    moved();
    ask_for("1.3.0");
    co_await serve(20min);
    EXPECT_EQ(who_has("1.2.0 info"), "c2 c3 c4 c5");
    EXPECT_EQ(said("Halted").substr(0, 18), "True TooManyFailed");
    const auto note = note_on("c0");
    EXPECT_TRUE(note);
    EXPECT_EQ(note->why.substr(0, 10), "its tests:") << note->why;
    ask_for("1.2.0");
    co_await serve(30min);
    EXPECT_EQ(who_has("1.2.0 info"), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetChartsOnClusters, WhatFailedIsTriedAgainWhenAPersonAsks) {
  home().put(fleet_chart("2.0.0", R"({"maxClusters":6,"maxFailures":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(3min);
    EXPECT_EQ(status().at("clusters").at("failed"), 6);
    world_->shelf().put("app", "2.0.0");
    edit_spec([](json::object& spec) { spec["values"] = json::object{{"level", "new"}}; });
    co_await serve(2min);
    EXPECT_EQ(who_has("2.0.0 new"), "") << "another archive under that version is refused";
    edit_spec([](json::object& spec) {
      spec["chart"].as_object()["version"] = "2.0.0";
      spec["values"] = json::object{{"level", "newer"}};
    });
    annotate("fleet.windlass.dev/retry", reactor::format_rfc3339(loop_.wall()));
    co_await serve(20min);
    EXPECT_EQ(who_has("2.0.0 newer"), "c0 c1 c2 c3 c4 c5") << said("Ready");
  });
}

TEST_F(FleetChartsOnClusters, NothingBeginsWhileItIsPausedOrTheBrakeIsOn) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  brake_.set(units::read_brake({{"state", "on"}, {"only", "fleetcharts"}}, {"fleetcharts"}));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "");
    EXPECT_EQ((co_await plan()).front().holds.front().code, "braked");
    brake_.set(units::brake_order());
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    edit_spec([](json::object& spec) {
      spec["paused"] = true;
      spec["chart"].as_object()["version"] = "1.1.0";
    });
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ((co_await plan()).front().holds.front().code, "paused");
  });
}

TEST_F(FleetChartsOnClusters, AProcessThatDiesAtAnyWriteIsContinuedByTheNext) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    std::size_t deaths = 0;
    for (std::uint64_t at = 1; at < 200; ++at) {
      const std::string next = at % 2 ? "1.1.0" : "1.0.0";
      ask_for(next);
      const std::uint64_t last = writes_ + at;
      auto w = service(units::mode::act);
      co_await w->start();
      const reactor::steady_time until = loop_.now() + 60s;
      while (writes_ < last && loop_.now() < until) co_await loop_.sleep_for(1ms);
      const bool died = writes_ >= last;
      if (died)
        for (const auto& c : world_->clusters()) c->api().freeze(true);
      co_await w->stop();
      for (const auto& c : world_->clusters()) c->api().freeze(false);
      deaths += died;
      co_await serve(15min);
      EXPECT_EQ(who_has(next + " info"), "c0 c1 c2 c3 c4 c5") << "died at write " << at;
      EXPECT_TRUE(said("Ready").starts_with("True")) << said("Ready");
      if (!died) break;
    }
    EXPECT_GT(deaths, 20u);
    std::printf("## killed at each of %zu writes of an upgrade\n", deaths);
  });
}

TEST_F(FleetChartsOnClusters, APolicyAddsValuesAndHoldsWhomItNames) {
  reactor::temporary_folder folder;
  policies_ = folder.path();
  const auto says = [&](const std::string& body) {
    folder.write("p/policy.lua",
                 "local function values(chart, cluster, now)\n" + body +
                     "\nend\nreturn { name = 'p', version = '1', api = 2, fleet = { values = "
                     "values } }\n");
  };
  says(
      "if cluster.labels.region == 'us' then return { hold = { code = 'NoUs', reason = 'not yet' } "
      "} end\n"
      "return { values = { level = chart.values.level .. '-' .. cluster.name } }");
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})",
                         R"(,"valuesByPolicy":true,"values":{"level":"a"})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(on("c0"), "1.0.0 a-c0");
    EXPECT_EQ(on("c4"), "1.0.0 a-c4");
    auto rows = co_await plan();
    EXPECT_EQ(holds_in(rows), "c1:policy:NoUs c3:policy:NoUs c5:policy:NoUs");
    EXPECT_EQ(rows.front().holds.front().by, "p 1");
    says("error('oops')");
    ask_for("1.1.0");
    co_await serve(5min);
    EXPECT_EQ(on("c0"), "1.0.0 a-c0");
    EXPECT_EQ(status().at("held").at("policy-fault"), 6);
    folder.write("p/policy.lua",
                 "return { name = 'p', version = '2', api = 2, fleet = { revision = "
                 "function() return {} end } }\n");
    co_await serve(5min);
    rows = co_await plan();
    EXPECT_EQ(rows.front().holds.front().sentence,
              "spec.valuesByPolicy is true and no pack answers fleet.values");
    says("return { values = { level = 'all' } }");
    co_await serve(10min);
    EXPECT_EQ(who_has("1.1.0 all"), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetChartsOnClusters, APolicyThatSaysOtherValuesInTheMiddleOfARolloutIsFollowed) {
  reactor::temporary_folder folder;
  policies_ = folder.path();
  const auto says = [&](const std::string& level) {
    folder.write(
        "p/policy.lua",
        "return { name = 'p', version = '1', api = 2, fleet = { values = function() return "
        "{ values = { level = '" +
            level + "' } } end } }\n");
  };
  says("before");
  home().put(fleet_chart("1.0.0", R"({"maxClusters":1})", R"(,"valuesByPolicy":true)"));
  run([&]() -> awaitable<void> {
    world_->on_write = [this](std::size_t cluster, const k8s::sim::written& w) {
      if (cluster == 1 && w.name == notes_object) api("c1").freeze(true);
    };
    co_await serve(10s);
    api("c1").freeze(false);
    world_->on_write = nullptr;
    EXPECT_EQ(on("c0"), "1.0.0 before");
    EXPECT_EQ(note_on("c1")->is, chart_note::state::begun);
    says("after");
    co_await serve(20min);
    EXPECT_EQ(who_has("1.0.0 after"), "c0 c1 c2 c3 c4 c5") << said("Ready");
  });
}

TEST_F(FleetChartsOnClusters, WithAtomicAFailedUpgradeIsTakenBack) {
  world_->shelf().put("app", "1.4.0", chart_kind::failing_hook);
  home().put(fleet_chart("1.0.0", rings, R"(,"atomic":true,"timeout":"30s")"));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for("1.4.0");
    co_await serve(3min);
    EXPECT_EQ(said("Halted").substr(0, 18), "True TooManyFailed");
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5") << "taken back";
    EXPECT_EQ(records("c0"), "1:superseded 2:failed 3:deployed") << "and not tried again";
    ask_for("1.1.0");
    co_await serve(40min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(FleetChartsOnClusters, AClusterThatGoesAwayInTheMiddleIsGoneOnWithWhenItIsBack) {
  home().put(fleet_chart("1.0.0", rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for("1.1.0");
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(1min);
    api("c2").freeze(true);
    api("c4").freeze(true);
    co_await loop_.sleep_for(30min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c3 c5") << "who is away holds up no one for ever";
    EXPECT_EQ(said("Degraded"), "True ClustersHeld cluster-away: c2, c4");
    api("c2").freeze(false);
    api("c4").freeze(false);
    co_await loop_.sleep_for(20min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 2");
    co_await w->stop();
  });
}

TEST_F(FleetChartsOnClusters, AClusterThatRefusesIsHeldAndTheOthersGoOn) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  bool refuses = true;
  const auto no = [&](const k8s::sim::request& r, const char* what) {
    std::optional<k8s::sim::answer> out;
    if (!refuses || r.method == "GET" || r.path.find(what) == std::string::npos) return out;
    out.emplace();
    out->status = 403;
    out->body =
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"not for you"})";
    return out;
  };
  api("c3").before = [&](const k8s::sim::request& r) { return no(r, "configmaps/windlass-fleet"); };
  api("c5").before = [&](const k8s::sim::request& r) { return no(r, "/api/v1/namespaces"); };
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c4");
    EXPECT_TRUE(said("Degraded").starts_with("True ClustersHeld cluster-refused: c3"))
        << said("Degraded");
    refuses = false;
    co_await serve(10min);
    EXPECT_EQ(said("Ready").substr(0, 13), "True AllReady");
  });
}

class SeededFleetCharts : public FleetChartsOnClusters,
                          public ::testing::WithParamInterface<int> {};

TEST_P(SeededFleetCharts, WhatAFileIsPlannedToDoIsWhatThenHappens) {
  std::mt19937 r(static_cast<unsigned>(GetParam()));
  const auto rollout = [&] {
    std::string out = R"({"maxClusters":)" + std::to_string(1 + r() % 6);
    if (r() % 2) out += R"(,"waves":{"label":"ring","values":["canary","early"]})";
    return out + "}";
  };
  json::object first = fleet_chart(r() % 2 ? "1.0.0" : "1.1.0", rollout());
  if (r() % 3 == 0) first["spec"].as_object()["clusters"] = json::parse(R"({"names":["c1","c3"]})");
  home().put(first);
  run([&]() -> awaitable<void> {
    co_await serve(15min);
    json::object next = fleet_chart(r() % 2 ? "1.0.0" : "1.1.0", rollout(),
                                    r() % 3 ? "" : R"(,"values":{"level":"new"})");
    if (r() % 4 == 0)
      next["spec"].as_object()["clusters"] = json::parse(R"({"names":["c0","c1"]})");
    std::vector<json::object> file{next};
    const auto rows = co_await plan(std::move(file));
    std::set<std::string> said;
    for (const units::planned_action& a : rows.front().actions)
      if (a.action.starts_with("write")) said.insert(a.unit);
    began_.clear();
    one_is_done_ = false;
    edit_spec([&](json::object& spec) { spec = next["spec"].as_object(); });
    co_await serve(30s);
    EXPECT_EQ(said, began_);
  });
}
INSTANTIATE_TEST_SUITE_P(Seeds, SeededFleetCharts, ::testing::Range(1, 101));

}  // namespace
}  // namespace fleetwide::testing
