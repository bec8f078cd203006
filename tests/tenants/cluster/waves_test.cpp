// A changed state goes through the fleet wave by wave, by the labels of the clusters' Secrets.
#include "tests/reactor/temporary_folder.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace helm::tenants::testing {
namespace {

using ::testing::HasSubstr;

class TenantWaves : public DiscoveredStage {
protected:
  /// Clusters zero, one and two in the waves 0 (without a label), 1 and 2, each with a Tenant acme.
  void three() {
    for (const char* name : {"zero", "one", "two"}) cluster(name).put_tenant("acme");
    put_way("zero", "zero");
    put_way("one", "one", "t", "1");
    put_way("two", "two", "t", "2");
  }
  std::string version_on(const std::string& name) {
    const std::string v = cluster(name).value("acme");
    return v.substr(v.rfind(' ') + 1);
  }
  std::string versions() {
    return version_on("zero") + " " + version_on("one") + " " + version_on("two");
  }
  awaitable<void> installed(std::string version) {
    three();
    auto first = discover(of_version(version));
    const bool came = co_await until([&] { return versions() == "1.2.0 1.2.0 1.2.0"; });
    EXPECT_TRUE(came) << versions();
    co_await l.sleep_for(10s);
    co_await end(*first);
  }
  /// Why the Tenant waits, as its conditions and as `plan` and `explain` have it.
  awaitable<std::string> hold_on(process& p, std::string name) {
    tenant_cluster* on = p.on(name);
    if (!on) co_return "no cluster";
    const auto rows = co_await on->overview();
    for (const units::plan_row& row : rows)
      for (const units::hold& h : row.forecast) co_return h.code + ": " + h.sentence;
    co_return "-";
  }
  static std::vector<chart_file> broken() {
    return {{"templates/door.yaml",
             "apiVersion: v1\nkind: Service\nmetadata:\n  name: door\nspec:\n  type: LoadBalancer\n"
             "  ports: [{port: 80}]\n"}};
  }
};

TEST_F(TenantWaves, EachBeginsWhenTheOneBeforeIsSettledAndWatched) {
  play([&]() -> awaitable<void> {
    co_await installed("1.2.0");
    settings s = of_version("1.3.0");
    s.wave_soak = 10min;
    auto windlass = discover(s);
    const bool first = co_await until([&] { return version_on("zero") == "1.3.0"; });
    EXPECT_TRUE(first);
    co_await l.sleep_for(9min);
    EXPECT_EQ(versions(), "1.3.0 1.2.0 1.2.0");
    EXPECT_EQ(cluster("one").conditions("acme", "one"), "Ready=True/Installed Progress=False/Held");
    const std::string soaking = co_await hold_on(*windlass, "one");
    EXPECT_THAT(soaking, HasSubstr("policy:WaveSoak"));
    const std::string waiting = co_await hold_on(*windlass, "two");
    EXPECT_THAT(waiting, HasSubstr("policy:EarlierWave: waits for one of an earlier wave"));
    const bool second = co_await until([&] { return version_on("one") == "1.3.0"; }, 2min);
    EXPECT_TRUE(second);
    co_await l.sleep_for(9min);
    EXPECT_EQ(versions(), "1.3.0 1.3.0 1.2.0");
    const bool third = co_await until([&] { return version_on("two") == "1.3.0"; }, 2min);
    EXPECT_TRUE(third);
    co_await l.sleep_for(10s);
    EXPECT_THAT(cluster("two").conditions("acme", "two"), HasSubstr("Ready=True/Upgraded"));
    co_await end(*windlass);
  });
}

TEST_F(TenantWaves, FirstInstallsAndWhatIsUnchangedAreNotHeld) {
  play([&]() -> awaitable<void> {
    charts->offer("2.0.0", archive_of("2.0.0", broken()));
    three();
    auto windlass = discover(of_version("1.2.0"));
    const bool came = co_await until([&] { return versions() == "1.2.0 1.2.0 1.2.0"; }, 10s);
    EXPECT_TRUE(came) << versions();
    cluster("two").put_tenant("later");
    const bool later = co_await ready("two", "later", 10s);
    EXPECT_TRUE(later);
    co_await end(*windlass);
  });
}

TEST_F(TenantWaves, V1_AWaveInErrorKeepsTheNextOnesOnTheirOldRelease) {
  play([&]() -> awaitable<void> {
    charts->offer("2.0.0", archive_of("2.0.0", broken()));
    co_await installed("1.2.0");
    auto windlass = discover(of_version("2.0.0"));
    const bool failed =
        co_await until([&] { return cluster("zero").phase("acme") == "Error"; }, 5min);
    EXPECT_TRUE(failed);
    co_await l.sleep_for(30min);
    EXPECT_EQ(cluster("one").records("acme", "tenant-acme-one"), "1:deployed");
    EXPECT_EQ(cluster("two").records("acme", "tenant-acme-two"), "1:deployed");
    const std::string why = co_await hold_on(*windlass, "two");
    EXPECT_EQ(why, "policy:WaveFailed: the waves before report 1 failures, 0 are allowed");
    EXPECT_EQ(cluster("two").phase("acme"), "Ready") << "what it has serves on";
    co_await end(*windlass);
    // Another version cures it.
    auto cured = discover(of_version("1.3.0"));
    const bool all = co_await until([&] { return versions() == "1.3.0 1.3.0 1.3.0"; }, 5min);
    EXPECT_TRUE(all) << versions();
    co_await end(*cured);
  });
}

TEST_F(TenantWaves, V1_FailuresAreBorneAsTheFlagSays) {
  play([&]() -> awaitable<void> {
    charts->offer("2.0.0", archive_of("2.0.0", broken()));
    co_await installed("1.2.0");
    settings s = of_version("2.0.0");
    s.max_failures = "100%";
    auto windlass = discover(s);
    const bool reached = co_await until(
        [&] { return cluster("two").records("acme", "tenant-acme-two") != "1:deployed"; }, 20min);
    EXPECT_TRUE(reached);
    co_await end(*windlass);
  });
}

TEST_F(TenantWaves, V2_AClusterThatIsDownNeitherBlocksNorCountsAndCatchesUp) {
  play([&]() -> awaitable<void> {
    co_await installed("1.2.0");
    cluster("zero").dead = true;
    auto windlass = discover(of_version("1.3.0"));
    const bool others = co_await until(
        [&] { return version_on("one") == "1.3.0" && version_on("two") == "1.3.0"; }, 3min);
    EXPECT_TRUE(others) << versions();
    EXPECT_EQ(version_on("zero"), "1.2.0");
    cluster("zero").dead = false;
    const bool back = co_await until([&] { return version_on("zero") == "1.3.0"; }, 3min);
    EXPECT_TRUE(back);
    co_await end(*windlass);
  });
}

TEST_F(TenantWaves, V3_WhoIsReadyWithTheOldStateOpensNoWave) {
  play([&]() -> awaitable<void> {
    co_await installed("1.2.0");
    charts->down = true;  // so that nobody can move
    auto windlass = discover(of_version("1.3.0"));
    co_await l.sleep_for(25s);
    EXPECT_EQ(cluster("zero").phase("acme"), "Error");
    co_await end(*windlass);
    // Where the chart is to be had but the change is slow, Ready of before says nothing either.
    charts->down = false;
    member& zero = cluster("zero");
    zero.answers = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method != "PATCH" || !r.path.ends_with("/configmaps/web")) return std::nullopt;
      k8s::sim::answer later;
      later.status = 429;
      later.fields.emplace_back("Retry-After", "20");
      later.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":429})";
      return later;
    };
    auto again = discover(of_version("1.3.0"));
    co_await l.sleep_for(15s);
    EXPECT_EQ(versions(), "1.2.0 1.2.0 1.2.0");
    EXPECT_EQ(cluster("one").records("acme", "tenant-acme-one"), "1:deployed");
    const std::string why = co_await hold_on(*again, "one");
    EXPECT_THAT(why, HasSubstr("policy:EarlierWave: waits for zero of an earlier wave (0 of 1"));
    zero.answers = {};
    const bool all = co_await until([&] { return versions() == "1.3.0 1.3.0 1.3.0"; }, 5min);
    EXPECT_TRUE(all) << versions();
    co_await end(*again);
  });
}

TEST_F(TenantWaves, V3_AfterAReloadNobodyIsAheadOfTheWaveBefore) {
  const reactor::temporary_folder dir;
  play([&]() -> awaitable<void> {
    three();
    settings s = of_version("1.2.0");
    s.values_files = {dir.write("values.yaml", "v: standard\n")};
    auto windlass = discover(s);
    const bool came = co_await until([&] { return versions() == "1.2.0 1.2.0 1.2.0"; });
    EXPECT_TRUE(came);
    // Passes after a reload come in no order: in one of these rounds a later wave asks first.
    for (int round = 1; round <= 12; ++round) {
      const std::string wanted = "v" + std::to_string(round);
      dir.write("values.yaml", "v: " + wanted + "\n");
      co_await windlass->reload();
      const auto has = [&](const char* name) {
        return cluster(name).value("acme") == wanted + " 1.2.0";
      };
      const reactor::steady_time end = l.now() + 2min;
      while (!has("two") && l.now() < end) {
        EXPECT_TRUE(has("zero") || !has("one")) << wanted;
        EXPECT_TRUE(has("one") || !has("two")) << wanted;
        co_await l.sleep_for(20ms);
      }
      EXPECT_TRUE(has("zero") && has("one") && has("two")) << wanted;
      co_await l.sleep_for(5s);
    }
    co_await end(*windlass);
  });
}

TEST_F(TenantWaves, WhoHasNotHeardOfAllClustersLetsNobodyMove) {
  play([&]() -> awaitable<void> {
    cluster("first").put_tenant("acme");
    put_way("first", "first", "t", "0");
    co_await installed("1.2.0");
    // Its first answer takes twelve seconds: longer than the others need.
    reactor::memory_network::of(l).faults("zero").latency = 4s;
    auto windlass = discover(of_version("1.3.0"));
    co_await l.sleep_for(5s);
    const std::string why = co_await hold_on(*windlass, "two");
    EXPECT_THAT(why, HasSubstr("fleet-loading: 1 clusters have not answered yet, zero among them"));
    EXPECT_EQ(versions(), "1.2.0 1.2.0 1.2.0");
    EXPECT_EQ(version_on("first"), "1.3.0") << "whoever waits for nobody";
    reactor::memory_network::of(l).faults("zero").latency = 1ms;
    const bool all = co_await until([&] { return versions() == "1.3.0 1.3.0 1.3.0"; }, 5min);
    EXPECT_TRUE(all) << versions();
    co_await end(*windlass);
  });
}

TEST_F(TenantWaves, WhatOneIsToldWakesTheOthers) {
  play([&]() -> awaitable<void> {
    co_await installed("1.2.0");
    cluster("zero").forbids = [](const k8s::sim::request& r) {
      return r.method == "PATCH" && r.path.ends_with("/configmaps/web");
    };
    auto windlass = discover(of_version("1.3.0"));
    cluster("one").put_tenant("other");  // its first install waits for nobody
    const bool other = co_await ready("one", "other");
    EXPECT_TRUE(other);
    co_await l.sleep_for(10s);
    EXPECT_EQ(versions(), "1.2.0 1.2.0 1.2.0");
    cluster("zero").forbids = {};
    const bool first =
        co_await until([&] { return cluster("zero").phase("acme") == "Ready"; }, 5min);
    EXPECT_TRUE(first);
    co_await l.sleep_for(1100ms);  // what is known of the fleet serves for a second
    // Another one asks before the cluster looks again, and the answer is for all.
    cluster("one").api.edit("mesh.openkcm.io", "tenants", "default", "other", [](json::object& o) {
      json::object& notes = o["metadata"].as_object()["annotations"].as_object();
      notes["mesh.openkcm.io/fingerprint-one"] = "of something else";
    });
    const bool second = co_await until([&] { return version_on("one") == "1.3.0"; }, 2min);
    EXPECT_TRUE(second) << versions();
    co_await end(*windlass);
  });
}

TEST_F(TenantWaves, WhoLooksSaysWhoWouldWait) {
  play([&]() -> awaitable<void> {
    co_await installed("1.2.0");
    auto looks = discover(of_version("1.3.0"), units::mode::look);
    co_await l.sleep_for(3s);
    const std::string zero = co_await hold_on(*looks, "zero"),
                      one = co_await hold_on(*looks, "one");
    EXPECT_EQ(zero, "-");
    EXPECT_EQ(one, "policy:EarlierWave: waits for zero of an earlier wave (0 of 1 are settled)");
    co_await end(*looks);
  });
}

}  // namespace
}  // namespace helm::tenants::testing
