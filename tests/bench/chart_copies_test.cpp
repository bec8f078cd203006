// What is copied for `windlass-bench charts` beside what an install leaves.
#include "bench/charts/chart_copies.hpp"

#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"

#include <set>

namespace fleetwide::testing {
namespace {

class CopiedReleases : public FleetChartsOnClusters {
protected:
  CopiedReleases() : FleetChartsOnClusters({"first", "first", "copied"}) {}

  void choose(const std::string& selector) {
    edit_spec([&](json::object& spec) {
      json::object clusters;
      clusters["selector"] = json::parse(selector);
      spec["clusters"] = std::move(clusters);
    });
  }
  /// Kinds and names of what a cluster has.
  std::set<std::string> objects_on(const std::string& cluster) {
    std::set<std::string> out;
    for (const char* kind : {"namespaces", "serviceaccounts", "services", "secrets", "configmaps"})
      for (const json::object& o : api(cluster).list("", kind)) {
        const json::object& m = o.at("metadata").as_object();
        out.insert(std::string(kind) + " " +
                   (m.contains("namespace") ? std::string(m.at("namespace").as_string()) : "") +
                   "/" + std::string(m.at("name").as_string()));
      }
    return out;
  }
};

TEST_F(CopiedReleases, AreConfirmedAndUpgradedAsInstalledOnesAre) {
  world_->shelf().put("app", "1.0.0", chart_kind::several);
  world_->shelf().put("app", "1.1.0", chart_kind::several);
  home().put(fleet_chart("1.0.0", R"({"maxClusters":"100%"})"));
  choose(R"({"matchLabels":{"ring":"first"}})");
  run([&]() -> awaitable<void> {
    co_await serve(10min);
    EXPECT_EQ(who_has("1.0.0 info"), "c0 c1");
    EXPECT_EQ(bench::copy_releases(api("c0"), api("c2")), 1u);
    EXPECT_EQ(objects_on("c2"), objects_on("c1")) << "as an install leaves them";
    EXPECT_EQ(note_on("c2")->content, note_on("c1")->content);
    EXPECT_EQ(note_on("c2")->is, chart_note::state::done);
    choose("{}");
    moved();
    std::uint64_t written = 0;
    api("c2").on_write = [&](const k8s::sim::written& w) {
      written += w.plural != "events" && w.plural != "leases";
    };
    co_await serve(10min);
    EXPECT_EQ(said("Ready"), "True AllReady 3 of 3 clusters have revision 1");
    EXPECT_EQ(written, 0u) << "confirmed, and not written";
    ask_for("1.1.0");
    co_await serve(10min);
    EXPECT_EQ(who_has("1.1.0 info"), "c0 c1 c2");
    EXPECT_EQ(records("c2"), "1:superseded 2:deployed");
    for (const json::object& e : api("c2").list("", "events"))
      EXPECT_NE(e.at("reason"), "FleetRecordDoubted") << "the record is known by its new UID";
  });
}

}  // namespace
}  // namespace fleetwide::testing
