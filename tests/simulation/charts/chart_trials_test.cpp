// FleetCharts of a simulated fleet: the judge sees each kind of violation, and the service keeps
// the rules while everything goes wrong.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "simulation/charts/chart_invariants.hpp"
#include "simulation/commands/simulate/campaign.hpp"
#include "simulation/commands/simulate/report.hpp"
#include "simulation/fleet_file.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace simulation;
namespace json = boost::json;
namespace simulate = cli::simulate;

/// A home and three clusters, of which the first is a canary, whose objects a test writes as a
/// service would.
class ChartInvariants : public testing::Test {
protected:
  ChartInvariants() {
    for (const char* ns : {"default", "team"}) put_namespace(home_, ns);
    home_.on_write = [this](const k8s::sim::written& w) { judge_.saw_home(w); };
    for (std::size_t i = 0; i < 3; ++i) {
      servers_.push_back(std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(loop_)));
      for (const char* ns : {"apps", "bootc-operator", "kube-system"})
        put_namespace(*servers_.back(), ns);
      servers_.back()->on_write = [this, i](const k8s::sim::written& w) { judge_.saw(i, w); };
    }
    put_kind("fleetcharts", "FleetChart");
    put_kind("fleetgrants", "FleetGrant");
    put_object("app", "one");
    put_revision("app", "one", "1.0.0");
  }
  ~ChartInvariants() override {
    home_.on_write = nullptr;
    for (const auto& s : servers_) s->on_write = nullptr;
  }

  static void put_namespace(k8s::sim::api_server& on, const std::string& name) {
    on.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  }
  void put_kind(const std::string& plural, const std::string& kind) {
    json::object version{{"name", "v1alpha1"}, {"served", true}, {"storage", true}};
    version["schema"] = json::object{
        {"openAPIV3Schema",
         json::object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}};
    home_.put({{"apiVersion", "apiextensions.k8s.io/v1"},
               {"kind", "CustomResourceDefinition"},
               {"metadata", {{"name", plural + ".fleet.windlass.dev"}}},
               {"spec",
                {{"group", "fleet.windlass.dev"},
                 {"scope", "Namespaced"},
                 {"names", {{"plural", plural}, {"kind", kind}}},
                 {"versions", json::array{std::move(version)}}}}});
  }
  json::object object_of(const std::string& name, const std::string& digest,
                         const std::string& ns) {
    json::object clusters, spec, rollout;
    clusters["selector"] = json::object();
    rollout["waves"] = json::object{{"label", "ring"}, {"values", json::array{"canary"}}};
    spec["clusters"] = std::move(clusters);
    spec["namespace"] = "apps";
    spec["release"] = "app";
    spec["rollout"] = std::move(rollout);
    return {{"apiVersion", "fleet.windlass.dev/v1alpha1"},
            {"kind", "FleetChart"},
            {"metadata", {{"name", name}, {"namespace", ns}}},
            {"spec", std::move(spec)},
            {"status", {{"digest", digest}}}};
  }
  void put_object(const std::string& name, const std::string& digest,
                  const std::string& ns = "default") {
    home_.put(object_of(name, digest, ns));
  }
  void edit(const std::function<void(json::object& o)>& change, const std::string& name = "app") {
    home_.edit("fleet.windlass.dev", "fleetcharts", "default", name, change);
  }
  void ask_for(const std::string& digest, const std::string& version) {
    put_revision("app", digest, version);
    edit([&](json::object& o) { o["status"].as_object()["digest"] = digest; });
  }
  void put_revision(const std::string& object, const std::string& digest,
                    const std::string& version, const std::string& ns = "default") {
    home_.put({{"apiVersion", "apps/v1"},
               {"kind", "ControllerRevision"},
               {"metadata", {{"name", object + "-" + digest}, {"namespace", ns}}},
               {"revision", 1},
               {"data", {{"template", json::object()}, {"imageDigest", version + "@sha256:0"}}}});
  }
  void note(std::size_t cluster, const std::string& state, const std::string& digest = "one",
            const std::string& object = "FleetChart/default/app",
            const std::string& key = "apps.app") {
    json::object data;
    data[key] = json::serialize(json::object{
        {"object", object}, {"digest", digest}, {"content", digest}, {"state", state}});
    json::object o{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", std::move(data)}};
    o["metadata"] = json::object{{"name", "windlass-fleet"}, {"namespace", "bootc-operator"}};
    servers_[cluster]->put(std::move(o));
  }
  void record(std::size_t cluster, const std::string& status, int revision = 1,
              const std::string& release = "app") {
    const std::string number = std::to_string(revision);
    servers_[cluster]->put(
        {{"apiVersion", "v1"},
         {"kind", "Secret"},
         {"metadata",
          {{"name", "sh.helm.release.v1." + release + ".v" + number},
           {"namespace", "apps"},
           {"labels",
            {{"owner", "helm"}, {"name", release}, {"status", status}, {"version", number}}}}}});
  }
  void config(std::size_t cluster, const std::string& version, const std::string& name = "app",
              const std::string& ns = "apps") {
    servers_[cluster]->put({{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"metadata", {{"name", name}, {"namespace", ns}}},
                            {"data", {{"version", version}, {"level", "info"}}}});
  }
  void arrive(std::size_t cluster, const std::string& digest = "one",
              const std::string& version = "1.0.0", int revision = 1) {
    note(cluster, "begun", digest);
    if (revision > 1) record(cluster, "superseded", revision - 1);
    record(cluster, "deployed", revision);
    config(cluster, version);
    note(cluster, "done", digest);
  }
  std::string first() const {
    return judge_.violations().empty() ? "none" : judge_.violations().front();
  }

  reactor::loop loop_{reactor::loop::mode::simulated, 1};
  chart_invariants judge_{{{"a", {{"ring", "canary"}, {"region", "eu"}}}, {"b", {}}, {"c", {}}},
                          [this] { return loop_.now() + late_; }};
  reactor::nanoseconds late_{};  // of the judge's clock
  k8s::sim::api_server home_{k8s::sim::options_on(loop_)};
  std::vector<std::unique_ptr<k8s::sim::api_server>> servers_;
};

TEST_F(ChartInvariants, AnOrderlyRolloutAndAnUndoBreakNothing) {
  EXPECT_EQ(judge_.unfinished(),
            "a default/app is not noted; b default/app is not noted; "
            "c default/app is not noted");
  for (std::size_t i = 0; i < 3; ++i) arrive(i);
  EXPECT_EQ(judge_.unfinished(), "");
  const std::string before = judge_.releases_of("default/app");
  ask_for("two", "1.1.0");
  EXPECT_EQ(judge_.arrived(), 0u);
  judge_.will_begin("default/app", {"a"});
  for (std::size_t i = 0; i < 3; ++i) arrive(i, "two", "1.1.0", 2);
  EXPECT_EQ(judge_.arrived(), 3u);
  ask_for("one", "1.0.0");
  for (std::size_t i = 0; i < 3; ++i) arrive(i, "one", "1.0.0", 3);
  judge_.check_undone("default/app", before);
  judge_.check_planned();
  EXPECT_EQ(first(), "none");
}

TEST_F(ChartInvariants, ALaterWaveThatBeginsFirstIsFound) {
  arrive(1);
  EXPECT_EQ(first(),
            "b: FleetChart default/app begins revision one in wave 1, which a of wave 0 "
            "has not had");
}

TEST_F(ChartInvariants, WhatAClusterHadWhenItWasAskedForBeforeOpensNoWave) {
  for (std::size_t i = 0; i < 3; ++i) arrive(i);
  ask_for("two", "1.1.0");
  for (std::size_t i = 0; i < 3; ++i) arrive(i, "two", "1.1.0", 2);
  ask_for("one", "1.0.0");
  arrive(1, "one", "1.0.0", 3);
  EXPECT_EQ(first(),
            "b: FleetChart default/app begins revision one in wave 1, which a of wave 0 "
            "has not had");
}

TEST_F(ChartInvariants, AWaveNeedNotWaitForAClusterThatIsAwayOrFailed) {
  judge_.loses(0);
  arrive(1);
  judge_.reaches(0);
  note(0, "begun");
  note(0, "failed");
  arrive(2);
  EXPECT_EQ(first(), "none");
}

TEST_F(ChartInvariants, MoreBegunThanMayIsFound) {
  arrive(0);
  note(1, "begun");
  note(2, "begun");
  EXPECT_EQ(first(),
            "c: FleetChart default/app is the 2. cluster that has begun revision one, and "
            "1 may at once");
}

TEST_F(ChartInvariants, TakingAReleaseOverWithoutAdoptionIsFound) {
  arrive(0);
  put_object("other", "one");
  put_revision("other", "one", "1.0.0");
  note(0, "begun", "one", "FleetChart/default/other");
  EXPECT_EQ(first(),
            "a: FleetChart default/other takes over apps.app from FleetChart/default/app "
            "without adoption");
}

TEST_F(ChartInvariants, TakingOverWhatAPersonInstalledIsFoundUnlessItIsAdopted) {
  judge_.by_person([&] { record(0, "deployed"); });
  note(0, "begun");
  EXPECT_EQ(first(),
            "a: FleetChart default/app takes over a release that no FleetChart made "
            "without adoption");
  edit([](json::object& o) {
    o["metadata"].as_object()["annotations"] = json::object{{"fleet.windlass.dev/adopt", "b"}};
  });
  arrive(0);
  judge_.by_person([&] { record(1, "deployed"); });
  note(1, "begun");
  EXPECT_EQ(judge_.violation_count(), 1u);
}

TEST_F(ChartInvariants, AChartThatBeginsBeforeWhatItNeedsIsFound) {
  json::object base = object_of("base", "one", "default");
  base["spec"].as_object()["release"] = "base";
  home_.put(std::move(base));
  edit([](json::object& o) { o["spec"].as_object()["dependsOn"] = json::array{"base"}; });
  note(0, "begun");
  EXPECT_EQ(first(), "a: FleetChart default/app begins before base, which it needs, is done");
}

TEST_F(ChartInvariants, AnObjectOfAnotherNamespaceNeedsAGrant) {
  json::object guest = object_of("app", "one", "team");
  guest["spec"].as_object()["release"] = "guest";
  home_.put(std::move(guest));
  put_revision("app", "one", "1.0.0", "team");
  late_ = 5min;
  note(0, "begun", "one", "FleetChart/team/app", "apps.guest");
  EXPECT_EQ(first(), "a: FleetChart team/app begins without a FleetGrant");
  config(0, "1.0.0", "guest");
  EXPECT_EQ(judge_.violations().back(),
            "a: FleetChart team/app has its objects written without a FleetGrant");
  config(0, "1.0.0", "guest-outside", "kube-system");
  EXPECT_EQ(judge_.violations().back(),
            "a: FleetChart team/app writes kube-system.guest-outside, outside of its namespace");
  EXPECT_EQ(judge_.violation_count(), 3u);
}

TEST_F(ChartInvariants, AGrantLetsItsNamespaceWriteWhereItSays) {
  json::object guest = object_of("app", "one", "team");
  guest["spec"].as_object()["release"] = "guest";
  home_.put(std::move(guest));
  put_revision("app", "one", "1.0.0", "team");
  json::object selector, clusters, spec;
  selector["matchLabels"] = json::object{{"region", "eu"}};
  clusters["selector"] = std::move(selector);
  spec["namespaces"] = json::array{"team"};
  spec["kinds"] = json::array{"FleetChart"};
  spec["targetNamespaces"] = json::array{"apps"};
  spec["clusters"] = std::move(clusters);
  home_.put({{"apiVersion", "fleet.windlass.dev/v1alpha1"},
             {"kind", "FleetGrant"},
             {"metadata", {{"name", "team"}, {"namespace", "default"}}},
             {"spec", std::move(spec)}});
  late_ = 5min;
  note(0, "begun", "one", "FleetChart/team/app", "apps.guest");
  EXPECT_EQ(first(), "none");
  note(1, "begun", "one", "FleetChart/team/app", "apps.guest");
  EXPECT_NE(first().find("without a FleetGrant"), std::string::npos) << first();
}

TEST_F(ChartInvariants, ANamespaceThatNoFleetChartNamesIsFound) {
  edit([](json::object& o) { o["spec"].as_object()["namespace"] = "web"; });
  put_namespace(*servers_[0], "web");
  EXPECT_EQ(first(), "none");
  put_namespace(*servers_[0], "elsewhere");
  EXPECT_EQ(first(), "a: namespace elsewhere is made, which no FleetChart names");
}

TEST_F(ChartInvariants, TwoDeployedRecordsAndOneLeftPendingAreFound) {
  arrive(0);
  record(0, "deployed", 2);
  EXPECT_EQ(first(), "a: release apps.app has two deployed records");
  judge_.saw_start();
  note(1, "begun");
  record(1, "pending-install");
  judge_.saw_start();
  judge_.saw_stop();
  EXPECT_EQ(judge_.violation_count(), 1u) << "a service before left that";
  record(1, "pending-upgrade", 2);
  EXPECT_EQ(judge_.violations().back(), "b: release apps.app has two pending records");
  judge_.saw_stop();
  EXPECT_EQ(judge_.violations().back(),
            "b: release apps.app is left pending-upgrade by a service "
            "that ended in good order");
}

TEST_F(ChartInvariants, AReleaseWithoutANoteAndOneThatIsNotDeployedAreFound) {
  record(0, "pending-install");
  EXPECT_EQ(first(), "a: a release apps.app is written that no note tells of");
  note(1, "done");
  EXPECT_EQ(judge_.violations().back(),
            "b: FleetChart default/app is noted as done while its release is not deployed");
}

TEST_F(ChartInvariants, AnUnknownRevisionIsFoundOnceWhatWasAskedForIsLongGone) {
  for (std::size_t i = 0; i < 3; ++i) arrive(i);
  ask_for("two", "1.1.0");
  late_ = 5min;
  note(0, "begun", "three");
  EXPECT_EQ(
      first(),
      "a: FleetChart default/app begins revision three, which is neither asked for nor proven");
}

TEST_F(ChartInvariants, NothingBeginsWhileTheBrakeIsOnOrTheObjectIsPaused) {
  judge_.brakes(true);
  late_ = 2s;
  note(0, "begun");
  EXPECT_EQ(first(), "a: FleetChart default/app begins while the brake is on");
  judge_.brakes(false);
  edit([](json::object& o) { o["spec"].as_object()["paused"] = true; });
  late_ = 5min;
  ask_for("two", "1.1.0");
  note(0, "begun", "two");
  EXPECT_EQ(judge_.violations().back(), "a: FleetChart default/app begins while it is paused");
  EXPECT_EQ(judge_.violation_count(), 2u);
}

TEST_F(ChartInvariants, AWriteAtRestIsFoundUnlessAPersonMadeIt) {
  judge_.rests(true);
  judge_.by_person([&] { config(0, "1.0.0", "mine"); });
  EXPECT_EQ(first(), "none");
  config(0, "1.1.0", "mine");
  EXPECT_EQ(first(), "a: configmaps apps/mine is written while nothing is asked for");
  edit([](json::object& o) { o["status"].as_object()["wave"] = "canary"; });
  EXPECT_EQ(judge_.violations().back(),
            "home: fleetcharts app is written while nothing is asked for");
}

TEST_F(ChartInvariants, WhatBeginsBesideThePlanOrIsLeftOutIsFound) {
  judge_.will_begin("default/app", {"b"});
  note(0, "begun");
  EXPECT_EQ(first(), "a: FleetChart default/app begins and was not in the plan");
  note(0, "failed");
  EXPECT_EQ(judge_.violations().back(),
            "a: FleetChart default/app has ended before b began, which was in the plan");
  judge_.will_begin("default/app", {"c"});
  judge_.check_planned();
  EXPECT_EQ(judge_.violations().back(),
            "c: FleetChart default/app did not begin, as the plan said it would");
}

TEST_F(ChartInvariants, AnUndoThatLeavesSomethingElseIsFound) {
  arrive(0);
  const std::string before = judge_.releases_of("default/app");
  config(0, "1.1.0");
  judge_.check_undone("default/app", before);
  EXPECT_EQ(first().substr(0, 45), "FleetChart default/app was put back, and its ") << first();
}

simulate::campaign trials(std::uint64_t seeds, std::size_t charts = 5) {
  simulate::campaign c;
  c.apis = cli::apis();
  c.fleet = usual_fleet(5, 20);
  c.fleet.charts = charts;
  c.policies = {""};
  c.seeds = seeds;
  return c;
}

TEST(ChartTrials, EveryFaultAtOnceBreaksNothingAndTheSameSeedsGiveTheSameTrace) {
  simulate::campaign c = trials(2);
  c.first_seed = 6;
  const simulate::campaign_outcome one = run(c), other = run(c);
  EXPECT_TRUE(one.failing_seeds.empty())
      << simulate::report_text(one, {}, cli::colours::none).text();
  EXPECT_EQ(one.trace, other.trace);
  EXPECT_GT(one.crashes, 0u);
  EXPECT_GT(one.disturbed_answers, 0u);
  EXPECT_GT(one.plans_kept, 0u);
  EXPECT_GT(one.undone, 0u);
  EXPECT_GT(one.releases_ready, 2 * 5 * 4u);
  simulate::campaign later = trials(1);
  later.first_seed = 2;
  EXPECT_NE(run(later).trace, one.trace);
}

TEST(ChartTrials, TheReportHasItsFiguresAndAReplayNamesTheCharts) {
  simulate::campaign c = trials(1, 2);
  c.fleet.faults.clear();
  const simulate::campaign_outcome out = run(c);
  const auto report = simulate::report_json(out, {});
  EXPECT_EQ(report.at("violations"), 0u) << report;
  EXPECT_EQ(report.at("chart_releases_ready"), 10u);
  simulate::failure f;
  f.seed = 7;
  f.shrunk = c.fleet;
  EXPECT_EQ(simulate::replay_command(f, {}),
            "windlass simulate --seed 7 --seeds 1 --clusters 5 --charts 2 --faults none");
}

/// Whatever still watches the fleet by then.
TEST(ChartTrials, ATrialThatGivesUpEndsAndSaysWhatIsMissing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    simulate::trial t;
    t.apis = cli::apis();
    t.fleet = usual_fleet(2, 1, {});
    t.fleet.charts = 1;
    t.fleet.faults = {trouble::failing};
    t.fleet.disturbed_for = 1s;
    t.fleet.patience = 1min;
    t.brake_at = 1;
    t.seed = seed;
    const simulate::trial_outcome out = simulate::run(std::move(t));
    ASSERT_TRUE(out.violations.empty()) << out.violations.front();
    if (out.unfinished.empty()) continue;
    EXPECT_TRUE(out.unfinished.starts_with("after the rollout: ")) << out.unfinished;
    EXPECT_EQ(out.left_alive, 0u);
    return;
  }
  FAIL() << "none gave up";
}

TEST(ChartTrials, NodesAndLodgersAreNotBesideThem) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cli::dispatch({"simulate", "--charts", "2", "--tenants", "1"}), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("leave out --nodes"), std::string::npos);
}

}  // namespace
