// Tenants on embedded API servers in virtual time, charts from a repository in memory.
// One file although it is long: the life of a release from end to end on that one stage.
#include "helm/tenants/supply/chart_supply.hpp"
#include "tests/reactor/temporary_folder.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <algorithm>

namespace helm::tenants::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string release = "tenant-acme-a";

class TenantOnCluster : public TenantStage {};

/// The reasons among `told` that stand in `of`, in order.
std::string among(const std::vector<std::string>& told, const std::string& of) {
  std::string out;
  for (const std::string& reason : told)
    if ((" " + of + " ").find(" " + reason + " ") != std::string::npos)
      out += (out.empty() ? "" : " ") + reason;
  return out;
}

std::string noted_for(const std::string& version) {
  return fingerprint({"http://charts", "web", version}, value(value::map_type{}));
}

/// A chart whose Service is ready when it is of another type than LoadBalancer.
std::string with_door(const std::string& version, const std::string& type) {
  return archive_of(version, {{"templates/door.yaml",
                               "apiVersion: v1\nkind: Service\nmetadata:\n  name: door\nspec:\n  "
                               "type: " +
                                   type + "\n  ports: [{port: 80}]\n"}});
}

TEST_F(TenantOnCluster, T1_N4_AFreshOneIsInstalledAndSaysSoInOrder) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool came_1 = co_await ready("a");
    EXPECT_TRUE(came_1);
    co_await l.sleep_for(5s);
    EXPECT_EQ(among(a.events,
                    "WorkspaceCreated PhaseSet HelmInstallStart HelmInstalled FingerprintUpdated"),
              "WorkspaceCreated PhaseSet HelmInstallStart HelmInstalled FingerprintUpdated "
              "PhaseSet");
    EXPECT_EQ(a.conditions("acme", "a"), "Ready=True/Installed Progress=False/InstallComplete");
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    EXPECT_EQ(a.value("acme"), "standard 1.2.0");
    EXPECT_EQ(a.fingerprint("acme", "a"), noted_for("1.2.0"));
    EXPECT_EQ(windlass->lines->count("workspace workspace namespace created"), 1u);
    EXPECT_EQ(windlass->lines->count("helm install success"), 1u);
    const auto ns = a.api.get("", "namespaces", "", "acme");
    EXPECT_EQ(ns->at("metadata").at("annotations").at("mesh.openkcm.io/owner"),
              "Tenant/default/acme");
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, T2_X2_W6_WhatIsUnchangedIsNeitherFetchedNorWritten) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto first = start(of_version("1.2.0"));
    const bool came_2 = co_await ready("a");
    EXPECT_TRUE(came_2);
    co_await l.sleep_for(5s);
    co_await first->stop();
    const std::size_t before = a.writes, fetched = charts->asked("/web-1.2.0.tgz");
    const std::size_t skips = a.told("HelmSkip");
    charts->down = true;
    auto second = start(of_version("1.2.0"));
    co_await l.sleep_for(1h);
    EXPECT_EQ(a.writes, before) << "of Tenants, namespaces, releases or their objects";
    EXPECT_EQ(charts->asked("/web-1.2.0.tgz"), fetched);
    EXPECT_EQ(a.told("HelmSkip"), skips + 1) << "once after a start";
    EXPECT_EQ(a.phase("acme"), "Ready");
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    co_await second->stop();
  });
}

TEST_F(TenantOnCluster, T3_T4_T5_AnotherVersionOrValueAndALostAnnotationAreOneUpgradeEach) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto one = start(of_version("1.2.0"));
    const bool came_3 = co_await ready("a");
    EXPECT_TRUE(came_3);
    co_await one->stop();
    auto two = start(of_version("1.3.0"));
    const bool came_4 = co_await until([&] { return a.value("acme") == "standard 1.3.0"; });
    EXPECT_TRUE(came_4);
    co_await l.sleep_for(2min);
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:deployed");
    EXPECT_EQ(a.conditions("acme", "a"), "Ready=True/Upgraded Progress=False/UpgradeComplete");
    co_await two->stop();
    auto three = start(of_version("1.3.0"), "v: other\n");
    const bool came_5 = co_await until([&] { return a.value("acme") == "other 1.3.0"; });
    EXPECT_TRUE(came_5);
    co_await l.sleep_for(2min);
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:superseded 3:deployed");
    a.api.edit(names::group, "tenants", "default", "acme", [](json::object& o) {
      o["metadata"].as_object()["annotations"].as_object().erase("mesh.openkcm.io/fingerprint-a");
    });
    co_await l.sleep_for(2min);
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:superseded 3:superseded 4:deployed");
    EXPECT_FALSE(a.fingerprint("acme", "a").empty());
    co_await three->stop();
  });
}

TEST_F(TenantOnCluster, C6_T4_ValuesAreReadAgainOnSighupAndBadOnesLeaveTheOldOnes) {
  const reactor::temporary_folder dir;
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    settings s = of_version("1.2.0");
    s.values_files = {dir.write("values.yaml", "v: one\n")};
    auto windlass = start(std::move(s), "v: one\n");
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    EXPECT_EQ(a.value("acme"), "one 1.2.0");
    for (const char* bad : {"- a\n- list\n", "v: [\n"}) {
      dir.write("values.yaml", bad);
      co_await windlass->reload();
      co_await l.sleep_for(1min);
      EXPECT_EQ(a.records("acme", release), "1:deployed") << bad;
    }
    EXPECT_EQ(windlass->lines->count("the values of Tenants cannot be read; the old ones stay"),
              2u);
    dir.write("values.yaml", "v: one  # the same\n");
    co_await windlass->reload();
    co_await l.sleep_for(1min);
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    dir.write("values.yaml", "v: two\n");
    co_await windlass->reload();
    const bool upgraded = co_await until([&] { return a.value("acme") == "two 1.2.0"; });
    EXPECT_TRUE(upgraded);
    co_await l.sleep_for(5s);
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:deployed");
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, T7_T8_ATenantOfAnotherClusterIsPassedOverInSilence) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme", "default", "elsewhere");
    a.put_tenant("here", "default", "a");
    auto windlass = start(of_version("1.2.0"));
    const bool came_6 = co_await ready("a", "here");
    EXPECT_TRUE(came_6);
    co_await l.sleep_for(2min);
    EXPECT_EQ(a.phase("acme"), "");
    EXPECT_FALSE(a.has("namespaces", "", "acme"));
    EXPECT_EQ(a.records("here", "tenant-here-a"), "1:deployed");
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, T10_AFailureOnOneClusterIsNoConcernOfAnother) {
  play([&]() -> awaitable<void> {
    member &a = cluster("a"), &b = cluster("b");
    a.put_tenant("acme");
    b.put_tenant("acme");
    b.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.ends_with("/configmaps");
    };
    auto windlass = start(of_version("1.2.0"));
    const bool came_7 = co_await ready("a");
    EXPECT_TRUE(came_7);
    const bool came_8 = co_await until([&] { return b.phase("acme") == "Error"; });
    EXPECT_TRUE(came_8);
    EXPECT_THAT(b.conditions("acme", "b"), HasSubstr("Error=True/InstallFailed"));
    EXPECT_EQ(b.fingerprint("acme", "b"), "");
    EXPECT_EQ(a.conditions("acme", "a"), "Ready=True/Installed Progress=False/InstallComplete");
    EXPECT_EQ(windlass->lines->count("helm install success"), 1u);
    b.forbids = nullptr;
    const bool came_9 = co_await ready("b", "acme", 2min);
    EXPECT_TRUE(came_9) << "tried again";
    EXPECT_EQ(b.conditions("acme", "b"),
              "Ready=True/Upgraded Error=False/Resolved Progress=False/UpgradeComplete");
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, X1_WithoutARepositoryItWaitsAndThenInstalls) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    charts->down = true;
    auto windlass = start(of_version("1.2.0"));
    const bool came_10 = co_await until([&] { return a.phase("acme") == "Error"; });
    EXPECT_TRUE(came_10);
    EXPECT_EQ(a.conditions("acme", "a"), "Error=True/ChartNotLoaded");
    EXPECT_EQ(a.told("ChartNotLoaded"), 1u);
    EXPECT_EQ(a.records("acme", release), "");
    EXPECT_GE(windlass->lines->count("chart not loaded; skipping helm action"), 1u);
    charts->down = false;
    const bool came_11 = co_await ready("a", "acme", 2min);
    EXPECT_TRUE(came_11);
    EXPECT_EQ(a.told("ChartNotLoaded"), 1u) << "not once for each attempt";
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, X5_X6_AVersionThatIsNotThereOrNoneIsNamed) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto one = start(of_version("9.9.9"));
    const bool came_12 = co_await until([&] { return a.phase("acme") == "Error"; });
    EXPECT_TRUE(came_12);
    EXPECT_EQ(a.conditions("acme", "a"), "Error=True/VersionNotFound");
    co_await one->stop();
    const std::size_t asked = charts->asked("/index.yaml");
    auto two = start(of_version("^1.2"));
    EXPECT_TRUE(
        co_await until([&] { return a.conditions("acme", "a") == "Error=True/VersionInvalid"; }));
    co_await l.sleep_for(5min);
    EXPECT_EQ(charts->asked("/index.yaml"), asked) << "nothing is fetched";
    co_await two->stop();
  });
}

TEST_F(TenantOnCluster, X9_ManyWhoNeedOneChartFetchItOnce) {
  play([&]() -> awaitable<void> {
    member &a = cluster("a"), &b = cluster("b");
    for (int i = 0; i < 20; ++i) {
      a.put_tenant("t" + std::to_string(i));
      b.put_tenant("t" + std::to_string(i));
    }
    auto windlass = start(of_version("v1.2"));
    const bool came_13 = co_await until([&] {
      for (int i = 0; i < 20; ++i)
        if (a.phase("t" + std::to_string(i)) != "Ready" ||
            b.phase("t" + std::to_string(i)) != "Ready")
          return false;
      return true;
    });
    EXPECT_TRUE(came_13);
    EXPECT_EQ(charts->asked("/web-1.2.0.tgz"), 1u);
    EXPECT_EQ(charts->asked("/index.yaml"), 1u);
    co_await l.sleep_for(1s);
    json::object entry;
    windlass->on("a")->describe(entry);
    EXPECT_EQ(json::serialize(entry), R"({"tenants":{"Ready":20,"Pending":0,"Error":0}})");
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, O1_WhatIsNeverReadyFailsAfterThreeMinutesAndIsCuredByOtherValues) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    charts->offer("2.0.0", with_door("2.0.0", "{{ .Values.door }}"));
    auto one = start(of_version("2.0.0"), "door: LoadBalancer\n");
    co_await l.sleep_for(170s);
    EXPECT_EQ(a.conditions("acme", "a"), "Progress=True/Installing");
    const bool came_14 = co_await until([&] { return a.phase("acme") == "Error"; }, 30s);
    EXPECT_TRUE(came_14);
    co_await l.sleep_for(1s);  // Events are written at a pace
    EXPECT_EQ(a.told("HelmInstallFailed"), 1u);
    EXPECT_EQ(a.fingerprint("acme", "a"), "");
    EXPECT_EQ(a.records("acme", release), "1:failed");
    EXPECT_EQ(one->lines->count("helm install success"), 0u);
    co_await one->stop();
    auto two = start(of_version("2.0.0"), "door: ClusterIP\n");
    const bool came_15 = co_await ready("a", "acme", 5min);
    EXPECT_TRUE(came_15);
    EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Error=False/Resolved"));
    co_await two->stop();
  });
}

TEST_F(TenantOnCluster, R1_DeletionTakesReleaseAndNamespaceWithIt) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool came_16 = co_await ready("a");
    EXPECT_TRUE(came_16);
    const k8s::sim::request gone = k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme");
    (void)a.api.handle(gone);
    const bool came_17 = co_await until([&] { return a.tenant("acme").empty(); });
    EXPECT_TRUE(came_17);
    EXPECT_FALSE(a.has("namespaces", "", "acme"));
    EXPECT_EQ(a.records("acme", release), "");
    co_await l.sleep_for(2s);
    EXPECT_EQ(
        among(a.events, "DeleteStarted HelmUninstalled WorkspaceDeleteRequested FinalizerRemoved"),
        "DeleteStarted HelmUninstalled WorkspaceDeleteRequested FinalizerRemoved");
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, R2_L2_AnInstallUnderWayIsEndedInOrder) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    charts->offer("2.0.0", with_door("2.0.0", "LoadBalancer"));
    auto one = start(of_version("2.0.0"));
    const bool came_18 =
        co_await until([&] { return a.records("acme", release) == "1:pending-install"; });
    EXPECT_TRUE(came_18);
    co_await l.sleep_for(5s);
    const reactor::steady_time asked = l.now();
    co_await one->stop();
    EXPECT_LT(l.now() - asked, 4s);
    EXPECT_EQ(a.records("acme", release), "1:failed") << "not left pending";
    auto two = start(of_version("2.0.0"));
    const bool came_19 = co_await until(
        [&] { return a.records("acme", release) == "1:failed 2:pending-upgrade"; }, 2min);
    EXPECT_TRUE(came_19);
    (void)a.api.handle(k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme"));
    const bool came_20 = co_await until([&] { return a.tenant("acme").empty(); });
    EXPECT_TRUE(came_20);
    EXPECT_FALSE(a.has("namespaces", "", "acme"));
    co_await two->stop();
  });
}

// The chart is installed, the server is slow to take down that it is, and the Tenant is deleted: a
// pass waits for the operation when everything is told to stop.
TEST_F(TenantOnCluster, AnOperationOutlivesThePassThatEndsIt) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    bool telling = false;
    a.answers = [&](const k8s::sim::request& r) {
      std::optional<k8s::sim::answer> slow;
      const bool of_tenant = r.method == "PATCH" && r.path.ends_with("/tenants/acme");
      if (!of_tenant || r.body.find("fingerprint") == std::string::npos) return slow;
      telling = true;
      slow.emplace().status = 503;
      slow->delay = 1500ms;
      return slow;
    };
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await until([&] { return telling; });
    EXPECT_TRUE(came);
    (void)a.api.handle(k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme"));
    co_await l.sleep_for(500ms);
    const reactor::steady_time asked = l.now();
    co_await windlass->stop();
    EXPECT_LT(l.now() - asked, 3s);
    EXPECT_EQ(a.records("acme", release), "1:deployed");
  });
}

TEST_F(TenantOnCluster, R4_N7_ANamespaceOfOthersStaysAndOfTwoTheOldestActs) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_namespace("acme");
    a.put_namespace("other");
    a.put_tenant("acme");
    co_await l.sleep_for(2s);
    a.put_tenant("acme", "other");
    auto windlass = start(of_version("1.2.0"));
    const bool came_21 = co_await ready("a");
    EXPECT_TRUE(came_21);
    const bool came_22 = co_await until([&] { return a.phase("acme", "other") == "Error"; });
    EXPECT_TRUE(came_22);
    EXPECT_THAT(a.conditions("acme", "a", "other"), HasSubstr("Error=True/NamespaceConflict"));
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    (void)a.api.handle(k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme"));
    const bool came_23 = co_await until([&] { return a.phase("acme", "other") == "Ready"; }, 3min);
    EXPECT_TRUE(came_23);
    EXPECT_TRUE(a.has("namespaces", "", "acme"));
    co_await windlass->stop();
  });
}

TEST_F(TenantOnCluster, N5_W2_WhatIsForbiddenIsSaidAndTheOthersGoOn) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_namespace("fine");
    a.put_tenant("acme");
    a.put_tenant("fine");
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path == "/api/v1/namespaces";
    };
    auto windlass = start(of_version("1.2.0"));
    const bool came_24 = co_await ready("a", "fine");
    EXPECT_TRUE(came_24);
    const bool came_25 = co_await until([&] { return a.phase("acme") == "Error"; });
    EXPECT_TRUE(came_25);
    EXPECT_EQ(a.told("WorkspaceCreateFailed"), 1u);
    a.forbids = nullptr;
    const bool came_26 = co_await ready("a", "acme", 2min);
    EXPECT_TRUE(came_26);
    // Nobody may note the fingerprint: the release stays as it is.
    co_await l.sleep_for(5s);
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "PATCH" && r.body.find("fingerprint-") != std::string::npos;
    };
    co_await windlass->stop();
    auto two = start(of_version("1.3.0"));
    const bool came_27 = co_await until([&] { return a.value("acme") == "standard 1.3.0"; });
    EXPECT_TRUE(came_27);
    co_await l.sleep_for(10min);
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:deployed") << "not upgraded again";
    EXPECT_EQ(a.phase("acme"), "Ready");
    EXPECT_GE(a.told("FingerprintUpdateFailed"), 1u);
    a.forbids = nullptr;
    const bool came_28 =
        co_await until([&] { return a.fingerprint("acme", "a") == noted_for("1.3.0"); });
    EXPECT_TRUE(came_28);
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:deployed");
    co_await two->stop();
  });
}

TEST_F(TenantOnCluster, DriftIsReportedOnce) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool came_29 = co_await ready("a");
    EXPECT_TRUE(came_29);
    co_await l.sleep_for(2min);
    EXPECT_EQ(a.told("DriftDetected"), 0u);
    (void)a.api.erase("", "configmaps", "acme", "web");
    co_await l.sleep_for(5min);
    EXPECT_EQ(a.told("DriftDetected"), 1u);
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    EXPECT_EQ(a.conditions("acme", "a"), "Ready=True/Drifted Progress=False/InstallComplete");
    auto rows = co_await windlass->on("a")->overview();
    EXPECT_EQ(rows.front().holds.front().code, "drifted");
    EXPECT_EQ(rows.front().updated, 0u);
    co_await windlass->stop();
    settings heals = of_version("1.2.0");
    heals.drift = drift_mode::heal;
    auto healer = start(heals);
    const bool came_30 = co_await until([&] { return a.value("acme") == "standard 1.2.0"; }, 5min);
    EXPECT_TRUE(came_30);
    EXPECT_EQ(a.told("RepairTriggered"), 1u);
    co_await l.sleep_for(5min);
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:deployed");
    co_await healer->stop();
  });
}

TEST_F(TenantOnCluster, WithoutAChartAndAServiceAtWorkALookSaysSo) {
  play([&]() -> awaitable<void> {
    cluster("a").put_tenant("acme");
    auto looks = start(default_settings(), {}, units::mode::look);
    co_await l.sleep_for(3s);
    const auto rows = co_await looks->on("a")->overview();
    EXPECT_EQ(rows.size(), 1u);
    if (rows.size() == 1) {
      EXPECT_EQ(rows[0].name, "unknown");
      EXPECT_EQ(rows[0].target, "") << "what the default chart is, is no plan of a service";
      EXPECT_TRUE(rows[0].start.empty());
      EXPECT_EQ(rows[0].updated, 0u);
      EXPECT_EQ(rows[0].holds.size(), 1u);
      if (!rows[0].holds.empty()) {
        EXPECT_EQ(rows[0].holds[0].code, "chart-unknown");
      }
    }
    co_await looks->stop();
  });
}

TEST_F(TenantOnCluster, ARollbackOfSomebodyElseIsDriftForAllWhoLook) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    for (const char* version : {"1.2.0", "1.3.0", "1.2.0"}) {  // the last one as `helm rollback`
      auto windlass = start(of_version(version));
      const bool came =
          co_await until([&] { return a.value("acme") == std::string("standard ") + version; });
      EXPECT_TRUE(came);
      co_await l.sleep_for(5s);
      co_await windlass->stop();
    }
    a.api.edit(names::group, "tenants", "default", "acme", [](json::object& o) {
      o["metadata"].as_object()["annotations"].as_object()[names::fingerprint_annotation("a")] =
          noted_for("1.3.0");
    });
    auto looks = start(of_version("1.3.0"), {}, units::mode::look);
    co_await l.sleep_for(3s);
    auto rows = co_await looks->on("a")->overview();
    EXPECT_EQ(rows.front().forecast.front().code, "drifted");
    EXPECT_EQ(rows.front().forecast.front().sentence,
              "the release has version 1.2.0 instead of 1.3.0");
    co_await looks->stop();
    auto windlass = start(of_version("1.3.0"));
    const bool told = co_await until([&] { return a.told("DriftDetected") == 1; });
    EXPECT_TRUE(told);
    co_await l.sleep_for(5min);
    EXPECT_EQ(a.told("DriftDetected"), 1u);
    EXPECT_THAT(a.conditions("acme", "a"), ::testing::HasSubstr("Ready=True/Drifted"));
    EXPECT_EQ(a.applied_chart("acme"), "http://charts/web:1.2.0") << "what is there";
    co_await windlass->stop();
  });
}

/// A process that dies right after one of its writes, whichever that is, and another one that
/// begins where it ended.
class TenantKilled : public TenantStage {
protected:
  /// False when the work was done before that write.
  bool die_at(std::size_t write, const std::string& before, const std::string& wanted) {
    bool died = false;
    play([&]() -> awaitable<void> {
      member& a = cluster("a");
      a.put_tenant("acme");
      if (!before.empty()) {
        auto first = start(of_version(before));
        const bool came_31 = co_await ready("a");
        EXPECT_TRUE(came_31);
        co_await l.sleep_for(5s);
        co_await first->stop();
      }
      a.last_write = a.all_writes + write;
      auto victim = start(of_version(wanted));
      died = co_await until([&] { return a.dead; }, 90s);
      co_await victim->stop();
      a.last_write = 0;
      a.dead = false;
      const bool pending = a.records("acme", release).find("pending") != std::string::npos;
      const std::size_t recovered = a.told("ReleaseRecovered");
      auto heir = start(of_version(wanted));
      const bool converged = co_await until(
          [&] {
            return a.phase("acme") == "Ready" && a.value("acme") == "standard " + wanted &&
                   a.fingerprint("acme", "a") == noted_for(wanted);
          },
          10min);
      EXPECT_TRUE(converged) << "write " << write << ": " << a.records("acme", release) << " "
                             << a.conditions("acme", "a");
      co_await l.sleep_for(10min);
      const std::string records = a.records("acme", release);
      EXPECT_EQ(records.find("pending"), std::string::npos) << records;
      EXPECT_TRUE(records.ends_with(":deployed")) << records;
      const std::size_t revisions = static_cast<std::size_t>(std::ranges::count(records, ':'));
      EXPECT_LE(revisions, before.empty() ? 2u : 3u) << "write " << write << ": " << records;
      EXPECT_EQ(a.applied_chart("acme"), "http://charts/web:" + wanted) << "write " << write;
      EXPECT_EQ(a.told("ReleaseRecovered"), recovered + pending) << "write " << write;
      co_await heir->stop();
    });
    return died;
  }
};

TEST_F(TenantKilled, O3_AtAnyWriteOfAnInstallTheNextStartConverges) {
  std::size_t write = 1;
  while (die_at(write, "", "1.2.0")) ++write;
  EXPECT_GT(write, 10u);
}

TEST_F(TenantKilled, O3_AtAnyWriteOfAnUpgradeTheNextStartConverges) {
  std::size_t write = 1;
  while (die_at(write, "1.2.0", "1.3.0")) ++write;
  EXPECT_GT(write, 7u);
}

TEST_F(TenantOnCluster, D10_OneServerUnderTwoNamesHasOneRelease) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    std::vector<std::pair<std::string, member*>> names;
    names.emplace_back("b", &a);
    names.emplace_back("a", &a);
    process windlass(l, of_version("1.2.0"), std::move(names));
    const bool came_32 = co_await ready("a");
    EXPECT_TRUE(came_32);
    co_await l.sleep_for(2min);
    EXPECT_EQ(a.records("acme", "tenant-acme-a"), "1:deployed");
    EXPECT_EQ(a.records("acme", "tenant-acme-b"), "");
    co_await windlass.stop();
  });
}

/// The supply alone.
class ChartSupply : public TenantStage {
protected:
  void ask(std::function<awaitable<void>(chart_supply& supply)> body) {
    play([&]() -> awaitable<void> {
      chart_supply::options o;
      o.environment = [](std::string_view) { return std::string(); };
      chart_supply supply(l, std::move(o));
      supply.enter();
      co_await body(supply);
      co_await supply.leave();
    });
  }
  /// "web 1.2.0", or why not.
  awaitable<std::string> get(chart_supply& from, std::string version,  // borrowed
                             std::string name = "web") {
    chart_coordinates c;
    c.repo = "http://charts";
    c.name = std::move(name);
    c.version = std::move(version);
    const supplied_chart got = co_await from.get(std::move(c));
    if (got.chart) co_return got.chart->meta().name + " " + got.chart->meta().version;
    const bool no_version = got.why.is == chart_problem::kind::version_not_found;
    co_return (no_version ? "no version: " : "not loaded: ") + got.why.text;
  }
};

TEST_F(ChartSupply, X7_FindsAVersionWithAndWithoutVAndTheHighestForNone) {
  ask([&](chart_supply& supply) -> awaitable<void> {
    const std::string with = co_await get(supply, "v1.2.0");
    EXPECT_EQ(with, "web 1.2.0");
    const std::string without = co_await get(supply, "1.2.0");
    EXPECT_EQ(without, "web 1.2.0");
    const std::string highest = co_await get(supply, "");
    EXPECT_EQ(highest, "web 1.3.0");
    EXPECT_EQ(charts->asked("/index.yaml"), 1u);
  });
}

TEST_F(ChartSupply, AsksForAnIndexAgainAfterAMinuteAndByItsEtag) {
  ask([&](chart_supply& supply) -> awaitable<void> {
    (void)co_await get(supply, "1.2.0");
    co_await l.sleep_for(61s);
    (void)co_await get(supply, "1.3.0");
    EXPECT_EQ(charts->asked("/index.yaml"), 2u);
    EXPECT_EQ(charts->unchanged, 1u);
    charts->offer("1.4.0", archive_of("1.4.0"));
    const std::string before = co_await get(supply, "1.4.0");
    EXPECT_THAT(before, ::testing::StartsWith("no version: "));
    co_await l.sleep_for(61s);
    const std::string after = co_await get(supply, "1.4.0");
    EXPECT_EQ(after, "web 1.4.0");
  });
}

TEST_F(ChartSupply, X8_WhatIsNoRepositoryOrNoChartIsSaidAndTriedAgainAfterFifteenSeconds) {
  ask([&](chart_supply& supply) -> awaitable<void> {
    charts->instead_of_index = "<html><body>Sign in</body></html>";
    const std::string html = co_await get(supply, "1.2.0");
    EXPECT_THAT(html, ::testing::StartsWith("not loaded: http://charts is no chart repository"));
    charts->instead_of_index.clear();
    const std::string kept = co_await get(supply, "1.2.0");
    EXPECT_EQ(kept, html);
    EXPECT_EQ(charts->asked("/index.yaml"), 1u);
    co_await l.sleep_for(16s);
    const std::string mended = co_await get(supply, "1.2.0");
    EXPECT_EQ(mended, "web 1.2.0");
    const std::string unknown = co_await get(supply, "1.2.0", "nobody");
    EXPECT_EQ(unknown, "not loaded: there is no chart nobody in http://charts");
    charts->offer("1.5.0", archive_of("1.5.0").substr(0, 200));
    charts->offer("1.6.0", archive_of("1.3.0"));
    co_await l.sleep_for(61s);
    const std::string truncated = co_await get(supply, "1.5.0");
    EXPECT_THAT(truncated, ::testing::StartsWith("not loaded: http://charts/web:1.5.0: "));
    const std::string other = co_await get(supply, "1.6.0");
    EXPECT_EQ(other, "not loaded: the archive of web 1.6.0 holds web 1.3.0");
  });
}

}  // namespace
}  // namespace helm::tenants::testing
