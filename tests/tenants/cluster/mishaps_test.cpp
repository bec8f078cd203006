// What goes wrong around releases that are kept, and what is left of it.
// One file although it is long: each mishap on the one stage of servers and charts.
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <algorithm>

namespace helm::tenants::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TenantMishaps : public TenantStage {
protected:
  /// acme installed by a process that has ended since.
  awaitable<void> installed(std::string version = "1.2.0") {
    auto windlass = start(of_version(version));
    for (auto& [name, m] : members) {
      const bool came = co_await ready(name);
      EXPECT_TRUE(came) << name;
    }
    co_await l.sleep_for(5s);
    co_await windlass->stop();
  }
  static void remove(member& m, const std::string& name) {
    const k8s::sim::request gone = k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/" + name);
    (void)m.api.handle(gone);
  }
  const std::string release = "tenant-acme-a";
};

TEST_F(TenantMishaps, O2_AFailedUpgradeKeepsTheOldFingerprintAndIsTriedAgainWithPauses) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    co_await installed();
    const std::string before = a.fingerprint("acme", "a");
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "PATCH" && r.path.ends_with("/configmaps/web");
    };
    auto windlass = start(of_version("1.3.0"));
    const bool failed = co_await until([&] { return a.phase("acme") == "Error"; });
    EXPECT_TRUE(failed);
    EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Ready=False/UpgradeFailed"));
    EXPECT_EQ(a.fingerprint("acme", "a"), before);
    // At once, after 30 s, 60 s, 120 s, 240 s.
    co_await l.sleep_for(8min);
    EXPECT_EQ(windlass->lines->count("helm upgrade failed"), 5u);
    EXPECT_EQ(a.told("HelmUpgradeFailed"), 1u) << "the others are counted in it";
    a.forbids = {};
    const bool cured = co_await ready("a", "acme", 9min);
    EXPECT_TRUE(cured);
    EXPECT_EQ(a.value("acme"), "standard 1.3.0");
    EXPECT_NE(a.fingerprint("acme", "a"), before);
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, AnInstallWhoseEndIsNotOnRecordIsNoSuccess) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "PUT" && r.path.find("/secrets/sh.helm.release") != std::string::npos;
    };
    auto windlass = start(of_version("1.2.0"));
    const bool failed = co_await until([&] { return a.phase("acme") == "Error"; });
    EXPECT_TRUE(failed);
    EXPECT_EQ(a.records("acme", release), "1:pending-install");
    EXPECT_EQ(a.fingerprint("acme", "a"), "");
    EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Ready=False/InstallFailed"));
    a.forbids = {};
    const bool cured = co_await ready("a", "acme", 5min);  // recovered, and upgraded
    EXPECT_TRUE(cured);
    EXPECT_THAT(a.records("acme", release), HasSubstr("2:deployed"));
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, O4_WhatIsForbiddenInANamespaceNamesVerbAndResource) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    a.put_tenant("other");
    // In the words of a real API server, which the message has to keep.
    a.answers = [](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method != "POST" || r.path != "/api/v1/namespaces/acme/configmaps") return std::nullopt;
      k8s::sim::answer no;
      no.status = 403;
      no.body =
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"configmaps is forbidden: User \"windlass\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"acme\"","code":403})";
      return no;
    };
    auto windlass = start(of_version("1.2.0"));
    const bool fine = co_await ready("a", "other");
    EXPECT_TRUE(fine);
    const bool failed = co_await until([&] { return a.phase("acme") == "Error"; });
    EXPECT_TRUE(failed);
    const std::string status = json::serialize(a.tenant("acme").at("status"));
    EXPECT_THAT(status, HasSubstr("cannot create resource"));
    EXPECT_THAT(status, HasSubstr("configmaps"));
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, O5_AClusterThatIsDownUpgradesOnceWhenItIsBack) {
  play([&]() -> awaitable<void> {
    member &a = cluster("a"), &b = cluster("b");
    a.put_tenant("acme");
    b.put_tenant("acme");
    co_await installed();
    b.dead = true;
    auto windlass = start(of_version("1.3.0"));
    const bool came = co_await until([&] { return a.value("acme") == "standard 1.3.0"; });
    EXPECT_TRUE(came);
    co_await l.sleep_for(5min);
    EXPECT_EQ(b.value("acme"), "standard 1.2.0");
    b.dead = false;
    const bool back = co_await until([&] { return b.value("acme") == "standard 1.3.0"; }, 3min);
    EXPECT_TRUE(back);
    co_await l.sleep_for(5min);
    EXPECT_EQ(b.records("acme", "tenant-acme-b"), "1:superseded 2:deployed") << "exactly once";
    EXPECT_EQ(a.records("acme", release), "1:superseded 2:deployed");
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, O6_AClusterThatDiesDuringAnInstallIsFinishedWhenItIsBack) {
  play([&]() -> awaitable<void> {
    member &a = cluster("a"), &b = cluster("b");
    a.put_tenant("acme");
    a.last_write = 6;  // in the middle of the install
    auto windlass = start(of_version("1.2.0"));
    const bool died = co_await until([&] { return a.dead; });
    EXPECT_TRUE(died);
    b.put_tenant("acme");
    const bool other = co_await ready("b", "acme", 30s);
    EXPECT_TRUE(other) << "nobody else waits for it";
    co_await l.sleep_for(3min);
    a.last_write = 0;
    a.dead = false;
    const bool back = co_await ready("a", "acme", 10min);
    EXPECT_TRUE(back);
    EXPECT_EQ(a.value("acme"), "standard 1.2.0");
    EXPECT_THAT(a.records("acme", release), Not(HasSubstr("pending")));
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, W1_AFingerprintWhosePatchMeetsConflictsIsNotedAndToldOnce) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    int conflicts = 0, patches = 0, with_version = 0;
    a.answers = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method != "PATCH" || r.body.find("fingerprint-") == std::string::npos)
        return std::nullopt;
      ++patches;
      with_version += r.body.find("\"resourceVersion\":\"") != std::string::npos;
      if (conflicts == 3) return std::nullopt;
      ++conflicts;
      k8s::sim::answer no;
      no.status = 409;
      no.body =
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","message":"changed","code":409})";
      return no;
    };
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(5s);
    EXPECT_EQ(conflicts, 3);
    EXPECT_EQ(patches, 4);
    EXPECT_EQ(with_version, 4) << "each names the version that it was decided on";
    EXPECT_FALSE(a.fingerprint("acme", "a").empty());
    EXPECT_EQ(a.told("FingerprintUpdated"), 1u);
    EXPECT_EQ(a.told("FingerprintUpdateFailed"), 0u);
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, W3_W4_WhatOthersWriteMeanwhileSurvives) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    const auto edit = [&] {
      a.api.edit(names::group, "tenants", "default", "acme", [](json::object& o) {
        json::object& meta = o["metadata"].as_object();
        json::value& labels = meta["labels"];
        if (!labels.is_object()) labels.emplace_object();
        labels.get_object()["team"] = "shop";
        json::value& status = o["status"];
        if (!status.is_object()) status.emplace_object();
        json::value& all = status.get_object()["conditions"];
        if (!all.is_array()) all.emplace_array();
        for (const json::value& c : all.get_array())
          if (c.at("type") == "ClusterReady/b") return;
        all.get_array().push_back(json::object{{"type", "ClusterReady/b"},
                                               {"status", "True"},
                                               {"reason", "Installed"},
                                               {"message", "of another process"},
                                               {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
      });
    };
    // Just before each write of ours to the object somebody else writes it.
    int edits = 0;
    a.answers = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method == "PATCH" && r.path.find("/tenants/acme") != std::string::npos && edits < 4) {
        ++edits;
        edit();
      }
      return std::nullopt;
    };
    cluster("b");
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(1min);
    const json::object o = a.tenant("acme");
    EXPECT_EQ(o.at("metadata").at("labels").at("team"), "shop");
    EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Ready=True/Installed"));
    EXPECT_THAT(a.conditions("acme", "b"), HasSubstr("Ready=True/Installed"));
    EXPECT_FALSE(a.fingerprint("acme", "a").empty());
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, R3_AFailingHookKeepsTheTenantUntilSomebodyGivesUp) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    charts->offer("2.0.0",
                  archive_of("2.0.0", {{"templates/hook.yaml",
                                        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bye\n "
                                        " annotations: {helm.sh/hook: pre-delete}\n"}}));
    a.put_tenant("acme");
    co_await installed("2.0.0");
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.ends_with("/configmaps");
    };
    auto windlass = start(of_version("2.0.0"));
    remove(a, "acme");
    const bool told = co_await until([&] { return a.told("HelmUninstallFailed") > 0; });
    EXPECT_TRUE(told);
    co_await l.sleep_for(3min);
    EXPECT_FALSE(a.tenant("acme").empty()) << "the finalizer stays";
    EXPECT_GE(windlass->lines->count("helm uninstall failed"), 2u) << "tried again";
    a.api.edit(names::group, "tenants", "default", "acme", [](json::object& o) {
      o["metadata"].as_object()["annotations"].as_object()[names::skip_uninstall] = "true";
    });
    const bool gone = co_await until([&] { return a.tenant("acme").empty(); });
    EXPECT_TRUE(gone);
    EXPECT_NE(a.records("acme", release), "") << "the release stays";
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, R5_AReleaseThatSomebodyRemovedIsNoHindrance) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    co_await installed();
    const k8s::sim::request gone = k8s::sim::make_request(
        "DELETE", "/api/v1/namespaces/acme/secrets/sh.helm.release.v1.tenant-acme-a.v1");
    (void)a.api.handle(gone);
    EXPECT_EQ(a.records("acme", release), "");
    remove(a, "acme");
    auto windlass = start(of_version("1.2.0"));
    const bool went = co_await until([&] { return a.tenant("acme").empty(); });
    EXPECT_TRUE(went);
    EXPECT_EQ(a.told("HelmUninstallFailed"), 0u);
    EXPECT_FALSE(a.has("namespaces", "", "acme"));
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, N6_R6_ANamespaceThatIsGoingIsWaitedFor) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_namespace("acme");
    const auto set_going = [&](bool going) {
      a.api.edit("", "namespaces", "", "acme", [going](json::object& o) {
        json::value& status = o["status"];
        if (!status.is_object()) status.emplace_object();
        status.get_object()["phase"] = going ? "Terminating" : "Active";
      });
    };
    set_going(true);
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool waits = co_await until([&] { return a.phase("acme") == "Pending"; });
    EXPECT_TRUE(waits);
    co_await l.sleep_for(1min);
    EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Progress=True/NamespaceTerminating"));
    EXPECT_EQ(a.records("acme", release), "");
    const k8s::sim::request gone = k8s::sim::make_request("DELETE", "/api/v1/namespaces/acme");
    (void)a.api.handle(gone);
    const bool came = co_await ready("a", "acme", 30s);
    EXPECT_TRUE(came);
    EXPECT_EQ(a.told("WorkspaceCreated"), 1u) << "made anew";
    co_await windlass->stop();
  });
}

constexpr const char* crd_path =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tenants.mesh.openkcm.io";

void remove_kind(member& m) {
  const k8s::sim::request gone = k8s::sim::make_request("DELETE", crd_path);
  (void)m.api.handle(gone);
}
bool has_kind(const member& m) {
  return m.api
      .get("apiextensions.k8s.io", "customresourcedefinitions", "", "tenants.mesh.openkcm.io")
      .has_value();
}

TEST_F(TenantMishaps, N1_AClusterWithoutTheKindGetsIt) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    remove_kind(a);
    EXPECT_FALSE(has_kind(a));
    auto windlass = start(of_version("1.2.0"), {}, units::mode::act, kind_on_cluster::ensured);
    const bool made = co_await until([&] { return has_kind(a); });
    EXPECT_TRUE(made);
    a.put_tenant("acme");
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, N2_AnOlderKindWithChangesOfPeopleIsNotOverwritten) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.api.edit("apiextensions.k8s.io", "customresourcedefinitions", "", "tenants.mesh.openkcm.io",
               [](json::object& o) {
                 json::object& meta = o["metadata"].as_object();
                 meta.erase("annotations");
                 meta["labels"] = json::object{{"theirs", "yes"}};
               });
    const auto now = [&] {
      return a.api.get("apiextensions.k8s.io", "customresourcedefinitions", "",
                       "tenants.mesh.openkcm.io");
    };
    const json::value before = now()->at("metadata").at("resourceVersion");
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"), {}, units::mode::act, kind_on_cluster::ensured);
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    EXPECT_EQ(now()->at("metadata").at("resourceVersion"), before);
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, N3_WithoutTheRightToTheKindItIsSaidAndTriedAgainAfterAMinute) {
  play([&]() -> awaitable<void> {
    member &a = cluster("a"), &b = cluster("b");
    remove_kind(a);
    b.put_tenant("acme");
    a.forbids = [](const k8s::sim::request& r) {
      return r.path.find("customresourcedefinitions") != std::string::npos;
    };
    auto windlass = start(of_version("1.2.0"), {}, units::mode::act, kind_on_cluster::ensured);
    const bool other = co_await ready("b");
    EXPECT_TRUE(other);
    co_await l.sleep_for(10s);
    EXPECT_EQ(windlass->lines->count("CRD ensure failed"), 1u);
    const tenant_cluster* on = windlass->on("a");
    EXPECT_TRUE(on && on->sync_problem().find("customresourcedefinitions") != std::string::npos);
    const k8s::cluster* of = windlass->fleet().find("a");
    EXPECT_EQ(of->state(), k8s::cluster_state::forbidden);
    EXPECT_THAT(of->last_error(), HasSubstr("customresourcedefinitions"));
    a.forbids = {};
    const bool made = co_await until([&] { return has_kind(a); }, 65s);
    EXPECT_TRUE(made);
    a.put_tenant("acme");
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    EXPECT_EQ(of->state(), k8s::cluster_state::live);
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, D9_DeadClustersDoNotMakeALiveOneWait) {
  reactor::nanoseconds alone{}, among{};
  for (const bool dead : {false, true})
    play([&, dead]() -> awaitable<void> {
      member& a = cluster("a");
      a.put_tenant("acme");
      if (dead)
        for (int i = 0; i < 50; ++i) cluster("dead-" + std::to_string(i)).dead = true;
      const reactor::steady_time began = l.now();
      auto windlass = start(of_version("1.2.0"));
      const bool came = co_await ready("a");
      EXPECT_TRUE(came);
      (dead ? among : alone) = l.now() - began;
      co_await windlass->stop();
    });
  EXPECT_LE(among, alone + alone / 100) << "in virtual time";
}

TEST_F(TenantMishaps, X3_AMissingChartSpoilsThePhaseUnlessThatIsAllowed) {
  for (const chart_skip skip : {chart_skip::allowed, chart_skip::forbidden})
    play([&, skip]() -> awaitable<void> {
      member& a = cluster("a");
      a.put_tenant("acme");
      co_await installed();
      charts->down = true;
      settings s = of_version("1.3.0");
      s.skip = skip;
      auto windlass = start(std::move(s));
      const bool told = co_await until([&] { return a.told("ChartNotLoaded") > 0; });
      EXPECT_TRUE(told);
      co_await l.sleep_for(10s);
      EXPECT_EQ(a.phase("acme"), skip == chart_skip::allowed ? "Ready" : "Error");
      EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Error=True/ChartNotLoaded"));
      EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Ready=True"));
      EXPECT_EQ(a.records("acme", release), "1:deployed");
      charts->down = false;
      const bool cured = co_await until([&] { return a.value("acme") == "standard 1.3.0"; }, 6min);
      EXPECT_TRUE(cured);
      co_await windlass->stop();
    });
}

TEST_F(TenantMishaps, X4_AnotherTextThanTrueLetsNoPhasePass) {
  for (const char* text : {"TRUE", "1", "yes"})
    play([&, text]() -> awaitable<void> {
      told_settings told;
      told.chart_skip = std::string(text);
      member& a = cluster("a");
      a.put_tenant("acme");
      co_await installed();
      charts->down = true;
      settings s = of_version("1.3.0");
      s.skip = settings_from(told)->skip;
      auto windlass = start(std::move(s));
      const bool wrong = co_await until([&] { return a.phase("acme") == "Error"; });
      EXPECT_TRUE(wrong) << text;
      co_await windlass->stop();
    });
}

TEST_F(TenantMishaps, T6_T9_TheOrderOfKeysAndLegacyKeysChangeNothing) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    const k8s::sim::request apply = k8s::sim::make_request(
        "POST", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants",
        R"({"apiVersion":"mesh.openkcm.io/v1alpha1","kind":"Tenant","metadata":{"name":"acme","namespace":"default"},"spec":{"workspace":"w","chart":{"name":"x"}}})");
    const auto made = a.api.handle(apply);
    EXPECT_LT(made.status, 300);
    EXPECT_FALSE(a.tenant("acme").at("spec").as_object().contains("chart")) << "pruned";
    EXPECT_FALSE(a.tenant("acme").at("spec").as_object().contains("workspace"));
    auto one = start(of_version("1.2.0"), "v: x\nb: {y: 1, x: 2}\n");
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(5s);
    co_await one->stop();
    auto two = start(of_version("1.2.0"), "b:\n  x: 2\n  y: 1\nv: x\n");
    co_await l.sleep_for(2min);
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    co_await two->stop();
  });
}

TEST_F(TenantMishaps, T12_ANameOf63CharactersIsAcceptedEverywhere) {
  play([&]() -> awaitable<void> {
    const std::string name(63, 'c');
    member& c = cluster(name);
    c.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready(name);
    EXPECT_TRUE(came);
    co_await l.sleep_for(5s);
    EXPECT_FALSE(c.fingerprint("acme", name).empty());
    EXPECT_EQ(c.records("acme", names::release_name("acme", name)), "1:deployed");
    EXPECT_LE(names::release_name("acme", name).size(), names::release_limit);
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, T13_WhatTheFirstOwnsOnTheWholeClusterTheSecondMayNotTake) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    charts->offer("2.0.0", archive_of("2.0.0", {{"templates/role.yaml",
                                                 "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
                                                 "ClusterRole\nmetadata:\n  name: one\nrules: "
                                                 "[]\n"}}));
    a.put_tenant("acme");
    co_await installed("2.0.0");
    a.put_tenant("beta");
    auto windlass = start(of_version("2.0.0"));
    const bool failed = co_await until([&] { return a.phase("beta") == "Error"; });
    EXPECT_TRUE(failed);
    EXPECT_THAT(a.conditions("beta", "a"), HasSubstr("Error=True/InstallFailed"));
    const std::string status = json::serialize(a.tenant("beta").at("status"));
    EXPECT_THAT(status, HasSubstr("ClusterRole"));
    EXPECT_THAT(status, HasSubstr("tenant-acme-a")) << "the owner is named";
    EXPECT_EQ(a.phase("acme"), "Ready");
    EXPECT_EQ(a.records("acme", release), "1:deployed");
    co_await windlass->stop();
  });
}

TEST_F(TenantMishaps, D12_UnderAnotherNameItIsAnotherReleaseAndOldConditionsGo) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    co_await installed();
    EXPECT_THAT(a.conditions("acme", "a"), HasSubstr("Ready=True"));
    settings s = of_version("1.2.0");
    process renamed(l, std::move(s), {{"z", &a}});
    const bool came = co_await until([&] {
      return a.conditions("acme", "z").find("Error=True") != std::string::npos ||
             a.conditions("acme", "z").find("Ready=True") != std::string::npos;
    });
    EXPECT_TRUE(came);
    EXPECT_EQ(a.conditions("acme", "a"), "") << "of a name that is gone";
    EXPECT_EQ(a.records("acme", release), "1:deployed") << "stays until somebody removes it";
    co_await renamed.stop();
  });
}

TEST_F(TenantMishaps, M1_EachClusterCountsItsPhases) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    for (const char* name : {"one", "two", "three", "four"}) a.put_tenant(name);
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path == "/api/v1/namespaces/four/configmaps";
    };
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await until([&] { return a.phase("four") == "Error"; });
    EXPECT_TRUE(came);
    for (const char* name : {"one", "two", "three"}) {
      const bool well = co_await ready("a", name);
      EXPECT_TRUE(well) << name;
    }
    co_await l.sleep_for(2s);
    const std::string text = windlass->metrics.text();
    EXPECT_THAT(text, HasSubstr("krypton_tenants_ready{cluster=\"a\"} 3"));
    EXPECT_THAT(text, HasSubstr("krypton_tenants_error{cluster=\"a\"} 1"));
    co_await windlass->stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
