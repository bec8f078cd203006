// What FleetCharts do not do: writes at a restart, failures of a race, more than is carried out.
#include "helm/apart/kept_renders.hpp"
#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"

#include <algorithm>
#include <set>

namespace fleetwide::testing {
namespace {

TEST_F(FleetChartsOnClusters, ARestartSaysNothingBeforeItHasReadTheValues) {
  put_config("levels", "values.yaml", "level: quiet\n");
  home().put(fleet_chart("1.0.0", R"({"maxClusters":"100%"})",
                         R"(,"valuesFrom":[{"kind":"ConfigMap","name":"levels"}])"));
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(who_has("1.0.0 quiet"), "c0 c1 c2 c3 c4 c5");
    // The answers about ConfigMaps are late.
    home().after = [](const k8s::sim::request& r, k8s::sim::answer& a) {
      if (r.path.ends_with("/configmaps")) a.delay = 3s;
    };
    std::size_t written = 0;
    home().on_write = [&](const k8s::sim::written& w) {
      written += w.plural != "events" && w.plural != "leases";
    };
    co_await serve(10min);
    EXPECT_EQ(written, 0u);
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
  });
}

TEST_F(FleetChartsOnClusters, ARevisionTooLargeToBeKeptIsReadWhereItIsNeeded) {
  const std::string large =
      R"(,"drift":"Repair","values":{"padding":")" + std::string(70'000, 'x') + R"("})";
  home().put(fleet_chart("1.0.0", rings_and_back, large));
  std::vector<json::object> kept;
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for("2.0.0");
    co_await serve(30min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1 c2 c3 c4 c5") << "the proven one was written again";
    EXPECT_EQ(said("Halted").substr(0, 13), "True Returned") << said("Halted");
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(1min);
    api("c5").erase("", "configmaps", "apps", "app");
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(on("c5"), "1.0.0 info") << "of what is in force and of what is proven";
    co_await w->stop();
    kept = home().list("apps", "controllerrevisions");
  });
  ASSERT_EQ(kept.size(), 2u);
  for (const json::object& o : kept) {
    const auto view = k8s::parse_view<revision>(json::serialize(o));
    ASSERT_TRUE(view);
    EXPECT_TRUE(view->is_as_named);
    EXPECT_FALSE(view->is_whole);
    EXPECT_EQ(view->content.template_json, "");
    EXPECT_EQ(revision_name("app", content_of(o).digest()),
              std::string(o.at("metadata").at("name").as_string()));
  }
}

TEST_F(FleetChartsOnClusters, AStatusThatAnotherWriterChangedFirstIsWrittenLaterWithoutAFailure) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":"100%"})"));
  int refused = 0;
  home().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.method != "PATCH" || !r.path.ends_with("/status") || refused == 3) return std::nullopt;
    ++refused;
    k8s::sim::answer out;
    out.status = 409;
    out.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict",)"
               R"("message":"the object has been modified","code":409})";
    return out;
  };
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(refused, 3);
    EXPECT_EQ(said("Ready"), "True AllReady 6 of 6 clusters have revision 1");
    EXPECT_EQ(lines_->count("reconcile failed"), 0u);
  });
}

class FleetChartsOnTwentyClusters : public FleetChartsOnClusters {
protected:
  FleetChartsOnTwentyClusters() : FleetChartsOnClusters(std::vector<std::string>(20)) {}
  helm::apart::kept_renders::figures renders() {
    return helm::apart::kept_renders::of(loop_).look();
  }
};

TEST_F(FleetChartsOnTwentyClusters, AreUpgradedWithOneRender) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":"100%"})"));
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(said("Ready"), "True AllReady 20 of 20 clusters have revision 1");
    EXPECT_EQ(renders().made, 1u);
    ask_for("1.1.0");
    co_await serve(10min);
    EXPECT_EQ(said("Ready"), "True AllReady 20 of 20 clusters have revision 2");
    EXPECT_EQ(records("c19"), "1:superseded 2:deployed");
    EXPECT_EQ(renders().made, 2u);
    EXPECT_EQ(renders().saved, 38u);
  });
}

TEST_F(FleetChartsOnTwentyClusters, EachGetItsOwnPasswordAndKey) {
  world_->shelf().put("app", "3.0.0", chart_kind::random);
  home().put(fleet_chart("3.0.0", R"({"maxClusters":"100%"})"));
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(said("Ready"), "True AllReady 20 of 20 clusters have revision 1");
    std::set<std::string> passwords, keys;
    for (int i = 0; i < 20; ++i) {
      const auto o = api("c" + std::to_string(i)).get("", "configmaps", "apps", "app-random");
      EXPECT_TRUE(o) << i;
      if (!o) continue;
      passwords.emplace(o->at("data").at("password").as_string());
      keys.emplace(o->at("data").at("key").as_string());
    }
    EXPECT_EQ(passwords.size(), 20u);
    EXPECT_EQ(keys.size(), 20u);
    EXPECT_EQ(renders().saved, 0u);
  });
}

class FleetChartsOnManyClusters : public FleetChartsOnClusters {
protected:
  FleetChartsOnManyClusters() : FleetChartsOnClusters(std::vector<std::string>(120)) {}
};

TEST_F(FleetChartsOnManyClusters, NoMoreAreBegunThanKeepTheOperationsBusy) {
  home().put(fleet_chart("1.0.0", R"({"maxClusters":"100%"})"));
  std::set<std::size_t> begun;
  std::size_t most = 0;
  world_->on_write = [&](std::size_t cluster, const k8s::sim::written& w) {
    if (w.name != notes_object || !w.after) return;
    const json::object& data = w.after->at("data").as_object();
    const json::value* text = data.if_contains("apps.app");
    const auto note = text ? read_note(std::string_view(text->as_string())) : std::nullopt;
    if (note && note->is == chart_note::state::begun)
      begun.insert(cluster);
    else
      begun.erase(cluster);
    most = std::max(most, begun.size());
  };
  run([&]() -> awaitable<void> {
    // Each operation takes its time.
    for (const auto& c : world_->clusters())
      c->api().after = [](const k8s::sim::request& r, k8s::sim::answer& a) {
        if (r.method == "POST") a.delay = 1s;
      };
    co_await serve(20min);
    EXPECT_EQ(said("Ready"), "True AllReady 120 of 120 clusters have revision 1");
    EXPECT_GE(most, 16u) << "as many as operate at once";
    EXPECT_LE(most, 80u) << "and few that wait";
  });
}

}  // namespace
}  // namespace fleetwide::testing
