// Tenants on clusters that come, change and go by their Secrets at home.
#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <algorithm>

namespace helm::tenants::testing {
namespace {

using ::testing::HasSubstr;

using TenantDiscovery = DiscoveredStage;

TEST_F(TenantDiscovery, D1_TheTenantsOfAClusterThatComesAreReconciledWithinSeconds) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto windlass = discover(of_version("1.2.0"));
    co_await l.sleep_for(30s);
    EXPECT_EQ(a.phase("acme"), "");
    put_way("east", "a");
    const bool came = co_await ready("a", "acme", 5s);
    EXPECT_TRUE(came) << a.phase("acme");
    EXPECT_EQ(a.records("acme", "tenant-acme-east"), "1:deployed");
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, N3_AKindThatCannotBeMadeIsToldOnTheSecretOfItsCluster) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    (void)a.api.handle(k8s::sim::make_request(
        "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" +
                      std::string("tenants.mesh.openkcm.io")));
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.ends_with("/customresourcedefinitions");
    };
    put_way("east", "a");
    auto windlass = discover(of_version("1.2.0"), units::mode::act, kind_on_cluster::ensured);
    const bool told = co_await until([&] { return home().told("CRDEnsureFailed") == 1; });
    EXPECT_TRUE(told);
    std::string about;
    for (const json::object& event : home().api.list("", "events"))
      if (event.at("reason") == "CRDEnsureFailed") about = json::serialize(event);
    EXPECT_THAT(about, HasSubstr(R"("kind":"Secret")"));
    EXPECT_THAT(about, HasSubstr(R"("name":"east")"));
    EXPECT_THAT(about, HasSubstr("customresourcedefinitions"));
    EXPECT_EQ(windlass->lines->count("CRD ensure failed"), 1u);
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, D4_RotatedCredentialsReconnectOnceAndOperateOnNothing) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    put_way("east", "a");
    auto windlass = discover(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(5s);
    const std::size_t before = a.writes;
    put_way("east", "a", "two");
    co_await l.sleep_for(3min);
    EXPECT_EQ(windlass->lines->count("cluster reconnects"), 1u);
    EXPECT_EQ(a.writes, before);
    EXPECT_EQ(a.records("acme", "tenant-acme-east"), "1:deployed");
    EXPECT_NE(windlass->on("east"), nullptr);
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, D5_ABadKubeconfigIsItsOwnMatterAndCountsAtOnceWhenItIsMended) {
  play([&]() -> awaitable<void> {
    cluster("good").put_tenant("acme");
    const auto put_text = [&](const std::string& name, const std::string& kubeconfig) {
      cluster(name).put_tenant("acme");
      put_way(name, name);
      home().api.edit("", "secrets", "default", name, [&](json::object& o) {
        o["data"].as_object()["kubeconfig"] = formats::encode_base64(kubeconfig);
      });
    };
    const std::string head =
        "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "
        "'http://x:6443'}}]\ncontexts: [{name: c, context: {cluster: c, user: "
        "u}}]\n";
    put_text("garbage", "\x01{[ no kubeconfig");
    put_text("contextless", head + "current-context: another\nusers: [{name: u, user: {}}]\n");
    put_text("filepath", head +
                             "current-context: c\nusers: [{name: u, user: {tokenFile: "
                             "/etc/shadow}}]\n");
    put_text("execuser", head +
                             "current-context: c\nusers: [{name: u, user: {exec: {apiVersion: "
                             "client.authentication.k8s.io/v1, command: id}}}]\n");
    put_way("good", "good");
    auto windlass = discover(of_version("1.2.0"));
    const bool good = co_await ready("good", "acme", 10s);
    EXPECT_TRUE(good);
    co_await l.sleep_for(1min);
    EXPECT_EQ(windlass->fleet().without_connection().size(), 4u);
    for (const char* name : {"garbage", "contextless", "filepath", "execuser"}) {
      EXPECT_EQ(cluster(name).phase("acme"), "") << name;
      put_way(name, name);
      const bool mended = co_await ready(name, "acme", 5s);
      EXPECT_TRUE(mended) << name;
    }
    EXPECT_TRUE(windlass->fleet().without_connection().empty());
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, D7_ASecretThatGoesMidInstallEndsItInOrderAndBringsItBackLater) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    // A door that nobody opens keeps the install waiting.
    charts->offer("1.4.0", archive_of("1.4.0", {{"templates/door.yaml",
                                                 "apiVersion: v1\nkind: Service\nmetadata:\n  "
                                                 "name: door\nspec:\n  type: LoadBalancer\n  "
                                                 "ports: [{port: 80}]\n"}}));
    a.put_tenant("acme");
    put_way("east", "a");
    auto windlass = discover(of_version("1.4.0"));
    const bool begun = co_await until(
        [&] { return a.records("acme", "tenant-acme-east") == "1:pending-install"; });
    EXPECT_TRUE(begun) << a.records("acme", "tenant-acme-east");
    co_await l.sleep_for(2s);
    take_away("east");
    co_await l.sleep_for(5s);
    EXPECT_EQ(a.records("acme", "tenant-acme-east"), "1:failed");
    const std::size_t before = a.all_writes;
    co_await l.sleep_for(10min);
    EXPECT_EQ(a.all_writes, before) << "nothing is written on a cluster that has left";
    auto door = *a.api.get("", "services", "acme", "door");
    door["status"] = json::parse(R"({"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}})");
    a.api.put(std::move(door));
    put_way("east", "a");
    const bool came = co_await ready("a", "acme", 5min);
    EXPECT_TRUE(came) << a.conditions("acme", "east") << a.records("acme", "tenant-acme-east");
    EXPECT_EQ(a.records("acme", "tenant-acme-east").find("pending"), std::string::npos);
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, O7_ATokenThatEndsStopsItsClusterUntilTheSecretIsRenewed) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    std::string valid = "Bearer one";
    a.answers = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.fields.get("Authorization") == valid) return std::nullopt;
      k8s::sim::answer no;
      no.status = 401;
      no.body =
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401})";
      return no;
    };
    put_way("east", "a");
    auto windlass = discover(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    valid = "Bearer two";
    const bool refused = co_await until(
        [&] { return windlass->fleet().find("east")->state() == k8s::cluster_state::unauthorized; },
        5min);
    EXPECT_TRUE(refused) << name_of(windlass->fleet().find("east")->state());
    a.put_tenant("late");
    co_await l.sleep_for(1min);
    EXPECT_EQ(a.phase("late"), "");
    put_way("east", "a", "two");
    const bool goes_on = co_await ready("a", "late", 30s);
    EXPECT_TRUE(goes_on);
    EXPECT_EQ(a.records("acme", "tenant-acme-east"), "1:deployed");
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, M1_TheSeriesOfAClusterGoWithItsSecret) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    for (const char* name : {"one", "two", "three", "wrong"}) a.put_tenant(name);
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.find("/namespaces/wrong/") != std::string::npos;
    };
    put_way("a", "a");
    auto windlass = discover(of_version("1.2.0"));
    const bool came = co_await until([&] {
      return a.phase("one") == "Ready" && a.phase("two") == "Ready" &&
             a.phase("three") == "Ready" && a.phase("wrong") == "Error";
    });
    EXPECT_TRUE(came);
    EXPECT_THAT(windlass->metrics.text(), HasSubstr("krypton_tenants_ready{cluster=\"a\"} 3\n"));
    EXPECT_THAT(windlass->metrics.text(), HasSubstr("krypton_tenants_error{cluster=\"a\"} 1\n"));
    EXPECT_THAT(windlass->metrics.text(), HasSubstr("krypton_build_info{version="));
    EXPECT_THAT(windlass->metrics.text(),
                HasSubstr("krypton_cluster_state{cluster=\"a\",state=\"Live\"} 1\n"));
    take_away("a");
    co_await l.sleep_for(10s);
    EXPECT_EQ(windlass->metrics.text().find("cluster=\"a\""), std::string::npos);
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, P1_ARestartConfirmsWhatIsUnchangedAndWritesNothing) {
  constexpr int clusters = 8, tenants = 25;
  play([&]() -> awaitable<void> {
    std::vector<member*> all;
    for (int c = 0; c < clusters; ++c) {
      const std::string name = "c" + std::to_string(c);
      all.push_back(&cluster(name));
      for (int t = 0; t < tenants; ++t) all.back()->put_tenant("t" + std::to_string(t));
      put_way(name, name);
    }
    const auto each = [&](const std::function<bool(member&, const std::string&)>& holds) {
      return std::ranges::all_of(all, [&](member* m) {
        for (int t = 0; t < tenants; ++t)
          if (!holds(*m, "t" + std::to_string(t))) return false;
        return true;
      });
    };
    const auto ready = [](member& m, const std::string& t) { return m.phase(t) == "Ready"; };
    auto first = discover(of_version("1.2.0"));
    const bool came = co_await until([&] { return each(ready); }, 10min);
    EXPECT_TRUE(came);
    co_await l.sleep_for(30s);
    co_await end(*first);
    std::vector<std::size_t> writes, confirmed;
    for (member* m : all) {
      writes.push_back(m->writes);
      confirmed.push_back(m->told("HelmSkip"));
    }
    const std::size_t fetched = charts->asked("/web-1.2.0.tgz");
    auto again = discover(of_version("1.2.0"));
    const bool told = co_await until([&] {
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i]->told("HelmSkip") < confirmed[i] + tenants) return false;
      return true;
    });
    EXPECT_TRUE(told) << "each is looked at";
    co_await l.sleep_for(5min);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]->writes, writes[i]) << i;
    EXPECT_EQ(charts->asked("/web-1.2.0.tgz"), fetched);
    EXPECT_TRUE(each(ready));
    co_await end(*again);
  });
}

TEST_F(TenantDiscovery, P3_RotatedCredentialsLeaveNothingBehind) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    put_way("east", "a", "token-0");
    auto windlass = discover(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    std::size_t series = 0;
    reactor::live_counts alive;
    for (int i = 1; i <= 100; ++i) {
      put_way("east", "a", "token-" + std::to_string(i));
      co_await l.sleep_for(10s);
      if (i != 10) continue;
      series = windlass->metrics.text().size();
      alive = l.live();
    }
    EXPECT_EQ(windlass->lines->count("cluster reconnects"), 100u);
    EXPECT_LE(windlass->metrics.text().size(), series + 100) << "digits may grow, series may not";
    EXPECT_LE(l.live().streams, alive.streams);
    EXPECT_LE(l.live().tasks, alive.tasks);
    EXPECT_LE(l.live().waits, alive.waits);
    EXPECT_EQ(a.records("acme", "tenant-acme-east"), "1:deployed");
    co_await end(*windlass);
  });
}

TEST_F(TenantDiscovery, P2_AChangeOfTheChartProgressesOnEveryClusterWithinItsLimits) {
  play([&]() -> awaitable<void> {
    constexpr std::size_t clusters = 20, each = 10;
    std::vector<std::string> all;
    for (std::size_t i = 0; i < clusters; ++i) {
      all.push_back("m" + std::to_string(i));
      member& m = cluster(all.back());
      for (std::size_t t = 0; t < each; ++t) m.put_tenant("t" + std::to_string(t));
      put_way(all.back(), all.back());
    }
    const auto settled = [&](const std::string& chart) {
      std::size_t n = 0;
      for (const std::string& name : all)
        for (std::size_t t = 0; t < each; ++t)
          n += cluster(name).applied_chart("t" + std::to_string(t)) == chart;
      return n;
    };
    auto first = discover(of_version("1.2.0"));
    const bool came = co_await until(
        [&] { return settled("http://charts/web:1.2.0") == clusters * each; }, 10min);
    EXPECT_TRUE(came) << settled("http://charts/web:1.2.0");
    co_await end(*first);
    // One Tenant on one cluster cannot be upgraded.
    cluster("m3").forbids = [](const k8s::sim::request& r) {
      return r.method == "PATCH" && r.path == "/api/v1/namespaces/t5/configmaps/web";
    };
    settings s = of_version("1.3.0");
    s.per_cluster = 2;
    s.in_all = 8;
    auto second = discover(s);
    const reactor::steady_time began = l.now();
    const bool moved = co_await until(
        [&] { return settled("http://charts/web:1.3.0") == clusters * each - 1; }, 5min);
    EXPECT_TRUE(moved) << settled("http://charts/web:1.3.0");
    EXPECT_LT(l.now() - began, 2min) << "nobody waits for the one that fails";
    EXPECT_EQ(cluster("m3").phase("t5"), "Error");
    co_await end(*second);
  });
}

}  // namespace
}  // namespace helm::tenants::testing
