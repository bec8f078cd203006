// What the author of a FleetChart and a writer of ControllerRevisions try against others and
// against the service, on embedded clusters.
#include "fleetwide/charts/chart_home.hpp"
#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"

#include <algorithm>

namespace fleetwide::testing {
namespace {

class ReachingFleetCharts : public FleetChartsOnClusters {
protected:
  json::array needs_of_layer(int layer, int wide) {
    json::array out;
    for (int i = 0; i < wide; ++i)
      out.emplace_back("l" + std::to_string(layer) + "-" + std::to_string(i));
    return out;
  }
  std::size_t revisions_in(const std::string& ns) {
    std::size_t out = 0;
    for (const json::object& o : home().list("apps", "controllerrevisions"))
      out += o.at("metadata").at("namespace") == json::string(ns);
    return out;
  }
  void grant_to_team_a() {
    home().put(json::parse(R"({"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"FleetGrant",
      "metadata":{"name":"a","namespace":"default"},"spec":{"namespaces":["team-a"],
      "kinds":["FleetChart"],"clusters":{"selector":{}},"targetNamespaces":["apps"]}})")
                   .as_object());
  }
  /// What the service keeps of FleetCharts at home, while it runs.
  static awaitable<std::size_t> known_to(simulation::fleet_service& w) {
    auto* part = dynamic_cast<chart_home*>(co_await w.part_at_home("fleetcharts"));
    EXPECT_TRUE(part);
    co_return part ? part->known() : 0;
  }
};

/// Between ten layers of eight that need all of the next one there are 8^9 paths.
TEST_F(ReachingFleetCharts, OfThoseThatNeedEachOtherInLayersEachIsJudgedOnce) {
  constexpr int layers = 10, wide = 8;
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 0; i < wide; ++i) {
      const std::string name = "l" + std::to_string(layer) + "-" + std::to_string(i);
      json::object o = fleet_chart("1.0.0", "{}", R"(,"release":")" + name + "\"", name);
      json::object& spec = o["spec"].as_object();
      spec["chart"].as_object()["name"] = "base";
      spec["paused"] = layer + 1 == layers;
      if (layer + 1 < layers) spec["dependsOn"] = needs_of_layer(layer + 1, wide);
      home().put(std::move(o));
    }
  home().put(fleet_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5") << "the others go on";
    EXPECT_EQ(status("l0-0").at("held"), (json::object{{"depends-on", 6}}));
  });
}

TEST_F(ReachingFleetCharts, WhatIsGoneIsKeptNowhere) {
  put_config("levels", "values.yaml", "level: warn");
  put_secret("more", "values.yaml", "more: 1");
  run([&]() -> awaitable<void> {
    auto w = service(units::mode::act);
    co_await w->start();
    const std::size_t before = co_await known_to(*w);
    for (int i = 0; i < 5; ++i) {
      const std::string name = "app-" + std::to_string(i);
      json::object o = fleet_chart("1.0.0", "{}",
                                   R"(,"uninstall":"Orphan","valuesFrom":[{"kind":"ConfigMap",
                                   "name":"levels"},{"kind":"Secret","name":"more"}])",
                                   name);
      o["spec"].as_object()["chart"].as_object()["name"] = "app";
      home().put(std::move(o));
    }
    co_await loop_.sleep_for(3min);
    const std::size_t with = co_await known_to(*w);
    EXPECT_GT(with, before);
    for (int i = 0; i < 5; ++i)
      home().erase("fleet.windlass.dev", "fleetcharts", "default", "app-" + std::to_string(i));
    co_await loop_.sleep_for(1min);
    const std::size_t after = co_await known_to(*w);
    EXPECT_EQ(after, before);
    co_await w->stop();
  });
}

TEST_F(ReachingFleetCharts, WithoutAGrantNothingIsFetchedReadOrKept) {
  std::string asked;
  home().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.path.find("/namespaces/team-a/secrets") != std::string::npos ||
        r.path.find("/namespaces/team-a/configmaps") != std::string::npos)
      asked += r.path + " ";
    return std::nullopt;
  };
  home().put(fleet_chart("1.0.0", "{}",
                         R"(,"valuesFrom":[{"kind":"ConfigMap","name":"levels"},
                            {"kind":"Secret","name":"more"}])",
                         "app", "team-a"));
  run([&]() -> awaitable<void> {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(3min);
    EXPECT_EQ(asked, "");
    EXPECT_EQ(world_->shelf().given(), 0u);
    EXPECT_EQ(revisions_in("team-a"), 0u);
    const std::size_t known = co_await known_to(*w);
    EXPECT_EQ(known, 0u);
    EXPECT_EQ(said("Degraded", "app", "team-a"),
              "True ClustersHeld not-granted: c0, c1, c2, c3, c4, c5");
    co_await w->stop();
  });
}

TEST_F(ReachingFleetCharts, ARevisionThatAnotherWriterChangedIsNotBelieved) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6,"maxFailures":0,"onFailure":"Return"})"));
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    for (const json::object& o : home().list("apps", "controllerrevisions"))
      home().edit("apps", "controllerrevisions", "default",
                  std::string(o.at("metadata").at("name").as_string()), [](json::object& r) {
                    r["data"].as_object()["template"].as_object()["values"] =
                        json::object{{"level", "stolen"}};
                  });
    ask_for("2.0.0");  // it fails, and the one before is wanted back
    co_await serve(30min);
    EXPECT_EQ(who_has("1.0.0 stolen"), "");
    ask_for("1.0.0");
    co_await serve(30min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5") << "it is made again";
    EXPECT_EQ(said("Ready").substr(0, 13), "True AllReady") << said("Ready");
  });
}

/// Contents are known by their digests, whichever object they are of.
TEST_F(ReachingFleetCharts, ARevisionOfOneNamespaceIsNoneOfAnother) {
  home().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "a-team"}}}});
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    const std::string digest(status().at("digest").as_string()), uid = "5a5a-0000";
    json::object forged = home().list("apps", "controllerrevisions").front();
    json::object metadata;
    metadata["name"] = "app-" + digest;
    metadata["namespace"] = "a-team";
    metadata["labels"] = json::object{{std::string(names::revision_of), uid}};
    forged["metadata"] = std::move(metadata);
    forged["data"].as_object()["template"].as_object()["values"] =
        json::object{{"level", "stolen"}};
    home().put(std::move(forged));
    json::object other = fleet_chart("1.0.0", "{}", "", "app", "a-team");
    other["metadata"].as_object()["uid"] = uid;
    other["metadata"].as_object()["finalizers"] = json::array{std::string(names::cleanup)};
    other["status"] = json::object{{"digest", digest}, {"provenDigest", digest}, {"revision", 1}};
    home().put(std::move(other));
    co_await serve(10min);
    EXPECT_EQ(who_has("1.0.0 stolen"), "");
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
  });
}

/// Authors with a grant who name what is not to be had delay no other author's rollout.
TEST_F(ReachingFleetCharts, ThoseThatWaitForTheirValuesKeepNoOtherWaiting) {
  grant_to_team_a();
  home().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.path.find("/namespaces/team-a/secrets") == std::string::npos) return std::nullopt;
    k8s::sim::answer no;
    no.status = 503;
    return no;
  };
  for (int i = 0; i < 60; ++i) {
    const std::string name = "app-" + std::to_string(i);
    home().put(fleet_chart("1.0.0", "{}",
                           R"(,"release":")" + name + R"(","valuesFrom":[{"kind":"Secret",
                           "name":")" +
                               name + "\"}]",
                           name, "team-a"));
  }
  home().put(fleet_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    co_await serve(3min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5");
    home().before = nullptr;
  });
}

/// Each archive is in memory as it comes, and who names the repository says how slowly.
TEST_F(ReachingFleetCharts, FewChartsOfANamespaceAreFetchedAtATime) {
  grant_to_team_a();
  const auto silent = loop_.net().listen({"slow.example.com", 80});
  ASSERT_TRUE(silent);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "app-" + std::to_string(i);
    json::object o = fleet_chart("1.0.0", "{}", R"(,"release":")" + name + "\"", name, "team-a");
    o["spec"].as_object()["chart"].as_object()["repository"] =
        "http://slow.example.com/" + std::to_string(i);
    home().put(std::move(o));
  }
  home().put(fleet_chart("1.0.0"));
  run([&]() -> awaitable<void> {
    auto w = service(units::mode::act);
    co_await w->start();
    auto* part = dynamic_cast<chart_home*>(co_await w->part_at_home("fleetcharts"));
    EXPECT_TRUE(part);
    std::size_t most = 0;
    for (int i = 0; part && i < 600; ++i) {
      most = std::max(most, part->fetching("team-a"));
      // Who edits his object again and again has no more of them.
      home().edit("fleet.windlass.dev", "fleetcharts", "team-a", "app-" + std::to_string(i % 12),
                  [i](json::object& o) {
                    o["spec"].as_object()["chart"].as_object()["version"] =
                        "1.0." + std::to_string(i);
                  });
      co_await loop_.sleep_for(200ms);
    }
    EXPECT_GT(most, 0u);
    EXPECT_LE(most, 2u);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5") << "the others go on";
    co_await w->stop();
  });
}

}  // namespace
}  // namespace fleetwide::testing
