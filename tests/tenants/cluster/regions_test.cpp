// KryptonDeployments at home, and the release of each on the region cluster that it names.
// One file although it is long: each row of the contract on the one stage of home and regions.
#include "helm/tenants/kinds/events.hpp"
#include "tests/tenants/cluster/home_stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <algorithm>

namespace helm::tenants::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(KryptonAtHome, K1_EachGetsItsReleaseOnTheRegionThatItNames) {
  play([&]() -> awaitable<void> {
    member &eu = cluster("eu"), &us = cluster("us");
    put_way("eu-kubeconfig", "eu");
    put_way("us-kubeconfig", "us");
    home().put_namespace("other");
    int n = 0;
    for (const char* ns : {"default", "other"})
      for (const char* region : {"eu", "us"})
        for (int i = 0; i < 3; ++i) put("shop-" + std::to_string(n++), region, ns);
    auto windlass = run();
    for (int i = 0; i < n; ++i) {
      const std::string name = "shop-" + std::to_string(i), ns = i < 6 ? "default" : "other";
      const bool came = co_await until([&] { return says(name, ns) == "Ready/Deployed"; });
      EXPECT_TRUE(came) << name << " " << says(name, ns);
      member& there = i % 6 < 3 ? eu : us;
      EXPECT_EQ(there.records(name, "ced-" + name), "1:deployed");
      EXPECT_EQ(there.value(name), "standard 1.2.0");
      EXPECT_FALSE((i % 6 < 3 ? us : eu).has("namespaces", "", name));
    }
    // Events are written at a pace.
    const bool told = co_await until(
        [&] { return home().told("HelmDeployed") == 12u && home().told("Ready") == 12u; }, 5min);
    EXPECT_TRUE(told) << home().told("HelmDeployed") << " " << home().told("Ready");
    const json::object o = get("shop-0");
    EXPECT_EQ(text_in(o.if_contains("status"), "lastAppliedChart"), "http://charts/web:1.2.0");
    EXPECT_THAT(json::serialize(o), HasSubstr("mesh.openkcm.io/fingerprint-default.eu-kubeconfig"));
    EXPECT_THAT(windlass->metrics.text(),
                HasSubstr("krypton_kryptondeployments{phase=\"Ready\",region=\"default/"
                          "eu-kubeconfig\"} 6"));
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K2_WithoutAnAccountItIsAnErrorThatCanBeDeleted) {
  play([&]() -> awaitable<void> {
    put("shop", "eu", "default", "");
    auto windlass = run();
    const bool said = co_await until_says("shop", "Error/AccountMissing");
    EXPECT_TRUE(said) << says("shop");
    EXPECT_EQ(home().told("AccountMissing"), 1u);
    remove("shop");
    const bool gone = co_await until([&] { return is_gone("shop"); });
    EXPECT_TRUE(gone);
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K3_TheSecretIsTheNamedOneThenTheDeprecatedThenTheRegions) {
  play([&]() -> awaitable<void> {
    member &a = cluster("a"), &b = cluster("b"), &c = cluster("c");
    home().put_namespace("vault");
    put_way("named", "a", "vault", "one", "default");
    put_way("old", "b");
    put_way("eu-kubeconfig", "c");
    const auto with = [&](const std::string& name, const char* region) {
      json::object o = deployment(name, "default", "eu");
      o["spec"].as_object()["region"] = json::parse(region);
      home().api.put(std::move(o));
    };
    with("first", R"({"name":"eu","kubeconfigSecretName":"old",
      "kubeconfig":{"secret":{"name":"named","namespace":"vault"}}})");
    with("second", R"({"name":"eu","kubeconfigSecretName":"old"})");
    with("third", R"({"name":"eu"})");
    settings s = of_version("1.2.0");
    s.region_secrets_in = {"vault"};
    auto windlass = std::make_unique<home_process>(l, s, home());
    for (const char* name : {"first", "second", "third"}) {
      const bool came = co_await until_says(name, "Ready/Deployed");
      EXPECT_TRUE(came) << name;
    }
    EXPECT_EQ(a.records("first", "ced-first"), "1:deployed");
    EXPECT_EQ(b.records("second", "ced-second"), "1:deployed");
    EXPECT_EQ(c.records("third", "ced-third"), "1:deployed");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K4_ARotatedSecretReconnectsAndDeploysNothing) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    std::string last;
    eu.answers = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      last = r.method;
      return std::nullopt;
    };
    put_way("eu-kubeconfig", "eu", "default", "two");
    co_await l.sleep_for(3min);
    EXPECT_FALSE(last.empty()) << "it goes on asking, with the new one: " << message("shop");
    EXPECT_EQ(eu.records("shop", "ced-shop"), "1:deployed");
    EXPECT_EQ(says("shop"), "Ready/Deployed");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K5_AMissingObjectIsPutBackAndThenItIsReady) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    remove_map(eu, "shop");
    const bool back = co_await until([&] { return eu.has("configmaps", "shop", "web"); }, 70s);
    EXPECT_TRUE(back);
    const bool again = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(again);
    EXPECT_EQ(eu.records("shop", "ced-shop"), "1:superseded 2:deployed");
    EXPECT_EQ(home().told("RepairTriggered"), 2u) << "at the first install, and now";
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K6_AReleaseThatIsGoneIsMissingAndRepaired) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    (void)eu.api.handle(k8s::sim::make_request(
        "DELETE", "/api/v1/namespaces/shop/secrets/sh.helm.release.v1.ced-shop.v1"));
    remove_map(eu, "shop");
    // It is over in some milliseconds.
    bool noticed = false;
    for (const reactor::steady_time end = l.now() + 70s; !noticed && l.now() < end;) {
      co_await l.sleep_for(2ms);
      noticed = says("shop") == "Pending/RepairTriggered";
    }
    EXPECT_TRUE(noticed);
    EXPECT_EQ(home().told("ReleaseMissing"), 1u) << "a second time counts in the first";
    const bool again = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(again);
    EXPECT_EQ(eu.records("shop", "ced-shop"), "1:deployed");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K7_WhatIsNotAvailableIsCounted) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    charts->offer(
        "1.4.0",
        archive_of("1.4.0", {{"templates/web.yaml",
                              "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: "
                              "web\nspec:\n  replicas: 2\n  selector:\n    matchLabels: "
                              "{a: b}\n  template:\n    metadata:\n      labels: {a: b}\n"
                              "    spec:\n      containers: [{name: c, image: none}]\n"}}));
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run("1.4.0");
    const bool said = co_await until_says("shop", "Pending/NotReady");
    EXPECT_TRUE(said) << says("shop");
    EXPECT_THAT(message("shop"), HasSubstr("Deployment/web (0/2 available)"));
    EXPECT_EQ(home().told("NotReady"), 1u);
    auto web = *eu.api.get("apps", "deployments", "shop", "web");
    web["status"] = json::parse(R"({"availableReplicas":2,"replicas":2})");
    eu.api.put(std::move(web));
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came) << says("shop");
    EXPECT_EQ(eu.records("shop", "ced-shop"), "1:deployed");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K8_WhileNothingChangesNothingIsDone) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    co_await l.sleep_for(10s);
    const std::size_t there = eu.writes, here = home().writes;
    co_await l.sleep_for(10min);
    EXPECT_EQ(eu.writes, there);
    EXPECT_EQ(home().writes, here);
    EXPECT_EQ(eu.records("shop", "ced-shop"), "1:deployed");
    co_await windlass->stop();
  });
}

// The original notes no fingerprint, and gives installCRDs to Tenants alone.
TEST_F(KryptonAtHome, WhatTheOriginalLeftIsUpgradedOnceWithTheValuesThatItHad) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto as_it_was = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    co_await as_it_was->stop();
    constexpr const char* fingerprint = "mesh.openkcm.io/fingerprint-default.eu-kubeconfig";
    const json::object before = get("shop");
    const std::string noted =
        text_in(before.at("metadata").as_object().if_contains("annotations"), fingerprint);
    edit("shop", std::string(R"({"metadata":{"annotations":{")") + fingerprint + R"(":null}}})");
    told_settings told;
    told.compat.value = "krypton";
    settings s = *settings_from(told);
    s.chart = {"http://charts", "web", "1.2.0"};
    s.ns = "default";
    home_process windlass(l, s, home());
    const bool again =
        co_await until([&] { return eu.records("shop", "ced-shop") == "1:superseded 2:deployed"; });
    EXPECT_TRUE(again) << eu.records("shop", "ced-shop");
    co_await l.sleep_for(10min);
    EXPECT_EQ(eu.records("shop", "ced-shop"), "1:superseded 2:deployed");
    const json::object now = get("shop");
    EXPECT_EQ(text_in(now.at("metadata").as_object().if_contains("annotations"), fingerprint),
              noted)
        << "the same values";
    co_await windlass.stop();
  });
}

TEST_F(KryptonAtHome, K9_ARegionThatIsDownIsTriedAgainAndAbandonedAfterTenMinutes) {
  play([&]() -> awaitable<void> {
    put_way("eu-kubeconfig", "nowhere");
    put("shop", "eu");
    put("lost", "us");  // no such Secret
    auto windlass = run();
    const bool said = co_await until_says("shop", "Error/EdgeUnavailable");
    EXPECT_TRUE(said) << says("shop");
    const bool missing = co_await until_says("lost", "Error/EdgeUnavailable");
    EXPECT_TRUE(missing) << says("lost");
    EXPECT_THAT(message("lost"), HasSubstr("Secret default/us-kubeconfig: it is not there"));
    EXPECT_EQ(home().told("EdgeUnavailable"), 2u);
    remove("lost");
    const bool at_once = co_await until([&] { return is_gone("lost"); }, 20s);
    EXPECT_TRUE(at_once) << "nobody leads there any more";
    remove("shop");
    co_await l.sleep_for(9min);
    EXPECT_FALSE(is_gone("shop"));
    const bool gone = co_await until([&] { return is_gone("shop"); }, 3min);
    EXPECT_TRUE(gone);
    EXPECT_EQ(home().told("CleanupAbandoned"), 2u);
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, ARegionIsNoAddressWhereCloudsKeepCredentials) {
  play([&]() -> awaitable<void> {
    k8s::sim::server metadata(l, {.at = {"169.254.169.254", 6443}, .tls = nullptr});
    EXPECT_TRUE(metadata.start());
    put_way("eu-kubeconfig", "169.254.169.254");
    put("shop", "eu");
    auto windlass = run();
    const bool said = co_await until_says("shop", "Error/EdgeUnavailable");
    EXPECT_TRUE(said) << says("shop");
    EXPECT_THAT(message("shop"), HasSubstr("is an address where clouds keep credentials"));
    EXPECT_EQ(metadata.connections(), 0u);
    co_await windlass->stop();
    co_await metadata.stop();
  });
}

TEST_F(KryptonAtHome, K9_ARegionThatComesAndGoesIsNothingToTheOthers) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    (void)cluster("us");
    std::size_t asked = 0;
    eu.answers = [&](const k8s::sim::request&) -> std::optional<k8s::sim::answer> {
      ++asked;
      return std::nullopt;
    };
    put_way("eu-kubeconfig", "eu");
    put_way("us-kubeconfig", "us");
    put("shop", "eu");
    put("far", "us");
    auto windlass = run();
    for (const char* name : {"shop", "far"}) {
      const bool came = co_await until_says(name, "Ready/Deployed");
      EXPECT_TRUE(came) << name << " " << says(name);
    }
    asked = 0;
    co_await l.sleep_for(30min);
    const std::size_t in_peace = asked;
    asked = 0;
    constexpr std::size_t changes = 60;
    for (std::size_t i = 0; i < changes; ++i) {
      put_way("us-kubeconfig", i % 2 == 0 ? "nowhere" : "us");
      co_await l.sleep_for(30s);
    }
    EXPECT_LE(asked, in_peace + changes / 5) << "passes over what goes to the other region";
    const bool back = co_await until_says("far", "Ready/Deployed", 3min);
    EXPECT_TRUE(back) << says("far");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, ARepositoryWithoutAnIndexIsAskedForTheArchive) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    charts->instead_of_index = "<html>nothing here</html>";
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came) << says("shop");
    EXPECT_EQ(eu.value("shop"), "standard 1.2.0");
    co_await windlass->stop();
    // Where neither is there it is the index that is missed.
    charts->down = true;
    put("late", "eu");
    auto second = run("1.3.0");
    const bool failed = co_await until_says("late", "Error/HelmFailed");
    EXPECT_TRUE(failed) << says("late");
    EXPECT_THAT(message("late"), HasSubstr("no chart repository"));
    charts->down = false;
    const bool cured = co_await until_says("late", "Ready/Deployed", 3min);
    EXPECT_TRUE(cured) << says("late");
    co_await second->stop();
  });
}

TEST_F(KryptonAtHome, K10_AfterReadyInTheNewRegionTheOldOneIsLeft) {
  play([&]() -> awaitable<void> {
    member &eu = cluster("eu"), &us = cluster("us");
    put_way("eu-kubeconfig", "eu");
    put_way("us-kubeconfig", "us");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    edit("shop", R"({"spec":{"region":{"name":"us"}}})");
    const bool left = co_await until([&] { return eu.records("shop", "ced-shop").empty(); });
    EXPECT_TRUE(left);
    EXPECT_EQ(us.records("shop", "ced-shop"), "1:deployed");
    const bool noted = co_await until([&] {
      return json::serialize(get("shop")).find("fingerprint-default.eu-") == std::string::npos;
    });
    EXPECT_TRUE(noted);
    EXPECT_FALSE(eu.has("namespaces", "", "shop"));
    EXPECT_EQ(home().told("Rerouted"), 1u);
    EXPECT_EQ(says("shop"), "Ready/Deployed");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, K11_ThoseOfOtherNamespacesAreIgnored) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    for (const char* ns : {"a", "b", "c"}) home().put_namespace(ns);
    put_way("eu-kubeconfig", "eu");
    put("in-a", "eu", "a");
    put("in-b", "eu", "b");
    put("in-c", "eu", "c");
    settings s = of_version("1.2.0");
    s.watch_namespaces = {"a", "b"};
    // A Role in each of them is all that it has.
    home().api.access().authorize = [](const std::string&, const k8s::sim::request& r) {
      return !r.path.ends_with("/kryptondeployments") || r.path.starts_with(kinds_path);
    };
    home_process windlass(l, s, home());
    const bool came = co_await until([&] {
      return says("in-a", "a") == "Ready/Deployed" && says("in-b", "b") == "Ready/Deployed";
    });
    EXPECT_TRUE(came);
    co_await l.sleep_for(2min);
    EXPECT_EQ(says("in-c", "c"), "/");
    EXPECT_FALSE(eu.has("namespaces", "", "in-c"));
    EXPECT_EQ(windlass.state(), "Live");
    EXPECT_THAT(windlass.metrics.text(), HasSubstr("krypton_build_info{version="));
    co_await windlass.stop();
  });
}

TEST_F(KryptonAtHome, K12_AReadyOneIsLookedAtAgainAfterTheCheckInterval) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    settings s = of_version("1.2.0");
    s.check_interval = 10s;
    home_process windlass(l, s, home());
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    remove_map(eu, "shop");
    const bool back = co_await until([&] { return eu.has("configmaps", "shop", "web"); }, 12s);
    EXPECT_TRUE(back);
    co_await windlass.stop();
  });
}

TEST_F(KryptonAtHome, DeletionTakesReleaseAndNamespaceWithIt) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    remove("shop");
    const bool gone = co_await until([&] { return is_gone("shop"); });
    EXPECT_TRUE(gone);
    EXPECT_EQ(eu.records("shop", "ced-shop"), "");
    EXPECT_FALSE(eu.has("namespaces", "", "shop"));
    for (const char* reason :
         {"FinalizerAdded", "Routing", "EdgeNamespaceCreated", "DeleteStarted", "HelmUninstalled",
          "EdgeNamespaceDeleteRequested", "FinalizerRemoved"})
      EXPECT_EQ(home().told(reason), 1u) << reason;
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, OfTwoOfOneNameTheOlderHasTheNamespace) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    home().put_namespace("other");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    co_await l.sleep_for(5s);
    put("shop", "eu", "other");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    const bool lost =
        co_await until([&] { return says("shop", "other") == "Error/NamespaceConflict"; });
    EXPECT_TRUE(lost) << says("shop", "other");
    remove("shop");
    const bool next =
        co_await until([&] { return says("shop", "other") == "Ready/Deployed"; }, 2min);
    EXPECT_TRUE(next) << says("shop", "other");
    EXPECT_EQ(eu.records("shop", "ced-shop"), "1:deployed");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, ARegionThatRefusesToSayWhatIsThereIsAnErrorAndNothingIsDone) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    eu.forbids = [](const k8s::sim::request& r) { return r.path.ends_with("/secrets"); };
    auto windlass = run();
    const bool said = co_await until_says("shop", "Error/HealthCheckFailed");
    EXPECT_TRUE(said) << says("shop");
    EXPECT_THAT(message("shop"), HasSubstr("not allowed"));
    eu.forbids = {};
    const bool cured = co_await until_says("shop", "Ready/Deployed", 40s);
    EXPECT_TRUE(cured) << says("shop");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, AnUpgradeThatFailsIsTriedAgainAfterAMinuteAndThenLater) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto first = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    co_await l.sleep_for(5s);
    co_await first->stop();
    eu.forbids = [](const k8s::sim::request& r) {
      return r.method == "PATCH" && r.path.ends_with("/configmaps/web");
    };
    auto windlass = run("1.3.0");
    const bool failed = co_await until_says("shop", "Error/HelmFailed");
    EXPECT_TRUE(failed) << says("shop");
    co_await l.sleep_for(8min);  // at once, after 60, 120 and 240 s
    EXPECT_EQ(windlass->lines->count("helm upgrade failed"), 4u);
    eu.forbids = {};
    const bool cured = co_await until_says("shop", "Ready/Deployed", 9min);
    EXPECT_TRUE(cured);
    EXPECT_EQ(eu.value("shop"), "standard 1.3.0");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, ACrashAfterAnyWriteEndsWithOneReleaseAndNothingPending) {
  // Of the first install; the region's writes and those at home each in turn.
  for (const bool at_region : {true, false}) {
    for (std::size_t write = 1; write <= 6; ++write) {
      play([&]() -> awaitable<void> {
        member& eu = cluster("eu");
        put_way("eu-kubeconfig", "eu");
        put("shop", "eu");
        member& dies = at_region ? eu : home();
        dies.last_write = dies.all_writes + write;
        auto first = run();
        co_await l.sleep_for(20s);
        co_await first->stop();
        dies.last_write = 0;
        dies.dead = false;
        auto second = run();
        const bool came = co_await until_says("shop", "Ready/Deployed", 8min);
        EXPECT_TRUE(came) << at_region << write << says("shop") << eu.records("shop", "ced-shop");
        EXPECT_EQ(eu.value("shop"), "standard 1.2.0");
        EXPECT_EQ(eu.records("shop", "ced-shop").find("pending"), std::string::npos);
        co_await second->stop();
      });
    }
  }
}

TEST_F(KryptonAtHome, WithoutAChartOfItsOwnALookShowsWhatTheServiceAtWorkSays) {
  play([&]() -> awaitable<void> {
    cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    put("lost", "us");
    auto at_work = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    const bool lost = co_await until_says("lost", "Error/EdgeUnavailable");
    EXPECT_TRUE(lost);
    home_process looks(l, default_settings(), home(), units::mode::look);
    const bool up = co_await until([&] { return looks.part() && looks.state() == "Live"; });
    EXPECT_TRUE(up);
    const auto rows = co_await looks.part()->overview();
    EXPECT_EQ(rows.size(), 2u);
    if (rows.size() == 2) {
      EXPECT_EQ(rows[0].target, "http://charts/web:1.2.0");
      EXPECT_EQ(rows[0].updated, 1u) << "no other chart is to come";
      EXPECT_EQ(rows[1].holds.size(), 1u);
      if (!rows[1].holds.empty()) {
        EXPECT_EQ(rows[1].holds[0].code, "region-unavailable");
      }
    }
    co_await looks.stop();
    co_await at_work->stop();
  });
}

TEST_F(KryptonAtHome, WithoutAChartAndAServiceAtWorkALookSaysSo) {
  play([&]() -> awaitable<void> {
    cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    home_process looks(l, default_settings(), home(), units::mode::look);
    const bool up = co_await until([&] { return looks.part() && looks.state() == "Live"; });
    EXPECT_TRUE(up);
    const auto rows = co_await looks.part()->overview();
    EXPECT_EQ(rows.size(), 1u);
    if (rows.size() == 1) {
      EXPECT_EQ(rows[0].target, "") << "what the default chart is, is no plan of a service";
      EXPECT_TRUE(rows[0].start.empty());
      EXPECT_EQ(rows[0].updated, 0u);
      EXPECT_EQ(rows[0].holds.size(), 1u);
      if (!rows[0].holds.empty()) {
        EXPECT_EQ(rows[0].holds[0].code, "chart-unknown");
      }
    }
    co_await looks.stop();
  });
}

TEST_F(KryptonAtHome, WhoOnlyLooksSaysWhatWouldBeDoneAndWritesNothing) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    put("lost", "us");
    home_process looks(l, of_version("1.2.0"), home(), units::mode::look);
    const bool up = co_await until([&] { return looks.part() && looks.state() == "Live"; });
    EXPECT_TRUE(up);
    const std::size_t before = home().writes + eu.writes;
    const auto rows = co_await looks.part()->overview();
    EXPECT_EQ(rows.size(), 2u);
    if (rows.size() == 2) {
      EXPECT_EQ(rows[0].name, "default/eu-kubeconfig");
      EXPECT_EQ(rows[0].start, std::vector<std::string>{"shop"});
      EXPECT_EQ(rows[0].actions, (std::vector<units::planned_action>{{"install", "shop"}}));
      EXPECT_EQ(rows[1].name, "default/us-kubeconfig");
      EXPECT_EQ(rows[1].holds.size(), 1u);
      if (!rows[1].holds.empty()) {
        EXPECT_EQ(rows[1].holds[0].code, "region-unavailable");
      }
    }
    EXPECT_EQ(home().writes + eu.writes, before);
    co_await looks.stop();
  });
}

TEST_F(KryptonAtHome, TheKindIsMadeAtHomeWhereThatIsAskedFor) {
  play([&]() -> awaitable<void> {
    take_the_kind_away();
    home_process absent(l, of_version("1.2.0"), home());
    co_await l.sleep_for(90s);
    EXPECT_EQ(absent.state(), "CRDMissing");
    co_await absent.stop();
    home_process windlass(l, of_version("1.2.0"), home(), units::mode::act,
                          kind_on_cluster::ensured);
    const bool live = co_await until([&] { return windlass.state() == "Live"; });
    EXPECT_TRUE(live) << windlass.state();
    co_await windlass.stop();
  });
}

TEST_F(KryptonAtHome, AKindThatWasAskedForAndCannotBeMadeEndsTheProcess) {
  play([&]() -> awaitable<void> {
    take_the_kind_away();
    home().forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.ends_with("/customresourcedefinitions");
    };
    settings s = of_version("1.2.0");
    for (const bool asked : {false, true}) {
      s.ensure_home_crds = asked;
      home_process windlass(l, s, home(), units::mode::act, kind_on_cluster::ensured);
      co_await l.sleep_for(5min);
      if (asked) {
        // Once: a second failure is none of the start.
        const bool once = windlass.given_up.size() == 1;
        EXPECT_TRUE(once) << windlass.given_up.size();
        if (once) {
          EXPECT_TRUE(windlass.given_up[0].starts_with("--ensure-watch-crds: "));
          EXPECT_NE(windlass.given_up[0].find("not allowed"), std::string::npos);
          EXPECT_NE(windlass.given_up[0].find("customresourcedefinitions"), std::string::npos);
        }
      } else {
        EXPECT_TRUE(windlass.given_up.empty()) << windlass.given_up[0];
        EXPECT_EQ(windlass.state(), "Forbidden");
      }
      co_await windlass.stop();
    }
  });
}

// Who may read nothing cannot read the brake either, which is on then.
TEST_F(KryptonAtHome, AKindThatCannotBeReadEndsTheProcessThoughTheBrakeIsOn) {
  play([&]() -> awaitable<void> {
    take_the_kind_away();
    const units::brake_order on = units::unread_brake("not allowed");
    settings s = of_version("1.2.0");
    s.ensure_home_crds = true;
    {
      home_process braked(l, s, home(), units::mode::act, kind_on_cluster::ensured);
      braked.brake.set(on);
      co_await l.sleep_for(5min);
      EXPECT_TRUE(braked.given_up.empty()) << braked.given_up[0];
      EXPECT_EQ(braked.lines->count("CRD ensure failed"), 0u);
      braked.brake.set({});
      const bool live = co_await until([&] { return braked.state() == "Live"; });
      EXPECT_TRUE(live) << braked.state();
      co_await braked.stop();
    }
    take_the_kind_away();
    home().forbids = [](const k8s::sim::request& r) {
      return r.path.find("customresourcedefinitions") != std::string::npos;
    };
    home_process refused(l, s, home(), units::mode::act, kind_on_cluster::ensured);
    refused.brake.set(on);
    co_await l.sleep_for(5min);
    EXPECT_EQ(refused.given_up.size(), 1u);
    EXPECT_LE(refused.lines->count("CRD ensure failed"), 6u);
    co_await refused.stop();
  });
}

TEST_F(KryptonAtHome, AtHomeOneNeedsNoRightOnNamespaces) {
  play([&]() -> awaitable<void> {
    (void)cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    home().forbids = [](const k8s::sim::request& r) {
      return r.path.starts_with("/api/v1/namespaces/kube-system");
    };
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came) << windlass->state();
    co_await windlass->stop();
  });
}

/// Each author names what he likes, and each Secret that is watched is a connection to home.
TEST_F(KryptonAtHome, ThreeHundredRegionsThatAreNotThereKeepNothingFromTheOthers) {
  play([&]() -> awaitable<void> {
    cluster("eu");
    put_way("eu-kubeconfig", "eu");
    home().put_namespace("other");
    for (int i = 0; i < 300; ++i)
      put("absent-" + std::to_string(i), "r" + std::to_string(i), "other");
    auto windlass = run();
    const bool told = co_await until(
        [&] {
          for (int i = 0; i < 300; ++i)
            if (says("absent-" + std::to_string(i), "other") != "Error/EdgeUnavailable")
              return false;
          return true;
        },
        5min);
    EXPECT_TRUE(told) << says("absent-0", "other") << " " << says("absent-299", "other");
    put("shop", "eu");
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came) << says("shop");
    put_way("r299-kubeconfig", "eu");
    const bool there =
        co_await until([&] { return says("absent-299", "other") == "Ready/Deployed"; }, 5min);
    EXPECT_TRUE(there) << says("absent-299", "other");
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, ARegionThatNobodyNamesAnyMoreIsLetGo) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    put("shop", "eu");
    auto windlass = run();
    const bool came = co_await until_says("shop", "Ready/Deployed");
    EXPECT_TRUE(came);
    remove("shop");
    const bool gone = co_await until([&] { return is_gone("shop"); });
    EXPECT_TRUE(gone);
    co_await l.sleep_for(5s);
    std::size_t asked = 0;
    eu.answers = [&](const k8s::sim::request&) -> std::optional<k8s::sim::answer> {
      ++asked;
      return std::nullopt;
    };
    co_await l.sleep_for(10min);
    EXPECT_EQ(asked, 0u);
    EXPECT_EQ(windlass->metrics.text().find("krypton_kryptondeployments{"), std::string::npos);
    co_await windlass->stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
