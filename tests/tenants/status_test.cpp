#include "formats/plain/listed.hpp"
#include "helm/placed/plan/drift.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "tests/tenants/builders.hpp"

#include <boost/json.hpp>

namespace helm::tenants {
namespace {

using testing::noon;
using testing::situation;

/// The conditions of a cluster as "Ready=True/Installed Error=False/Resolved", in the order of the
/// table.
std::string shown(const tenant_status& s, const std::string& cluster = "a") {
  std::string out;
  for (const std::string name : {"Ready", "Error", "Progress"})
    if (const auto* c = k8s::find_condition(s.conditions, "Cluster" + name + "/" + cluster))
      out += (out.empty() ? "" : " ") + name + "=" + c->status + "/" + c->reason;
  return out;
}

class story {
public:
  explicit story(chart_skip skip = chart_skip::forbidden) : skip_(skip) {}
  const tenant_status& then(transition what, const std::string& message = "m",
                            const std::string& chart = "", const std::string& cluster = "a") {
    status_change t;
    t.cluster = cluster;
    t.what = what;
    t.message = message;
    t.applied_chart = chart;
    t.skip = skip_;
    s_.object().status = status_after(s_.object(), t, now_);
    now_ += std::chrono::minutes(1);
    return s_.object().status;
  }
  tenant& object() { return s_.object(); }
  const tenant_status& status() { return s_.object().status; }

private:
  situation s_;
  chart_skip skip_;
  reactor::wall_time now_ = noon;
};

TEST(TenantStatus, T1_AnInstallGoesFromPendingToReady) {
  story s;
  EXPECT_EQ(shown(s.then(transition::installing)), "Progress=True/Installing");
  EXPECT_EQ(s.status().phase, "Pending");
  s.then(transition::installed, "tenant-acme-a is installed", "https://charts.example/web:1.2.0");
  EXPECT_EQ(shown(s.status()), "Ready=True/Installed Progress=False/InstallComplete");
  EXPECT_EQ(s.status().phase, "Ready");
  EXPECT_EQ(s.status().last_message, "tenant-acme-a is installed");
  EXPECT_EQ(s.status().last_applied_chart, "https://charts.example/web:1.2.0");
  EXPECT_EQ(s.status().observed_generation, 3);
  EXPECT_EQ(s.status().conditions.front().observed_generation, 3);
}

TEST(TenantStatus, EachHappeningHasItsConditions) {
  const std::pair<transition, const char*> rows[] = {
      {transition::installing, "Progress=True/Installing"},
      {transition::upgrading, "Progress=True/Upgrading"},
      {transition::installed, "Ready=True/Installed Progress=False/InstallComplete"},
      {transition::upgraded, "Ready=True/Upgraded Progress=False/UpgradeComplete"},
      {transition::no_change, "Ready=True/NoChange"},
      {transition::drifted, "Ready=True/Drifted"},
      {transition::install_failed,
       "Ready=False/InstallFailed Error=True/InstallFailed Progress=False/InstallFailed"},
      {transition::upgrade_failed,
       "Ready=False/UpgradeFailed Error=True/UpgradeFailed Progress=False/UpgradeFailed"},
      {transition::uninstall_failed, "Error=True/UninstallFailed"},
      {transition::namespace_failed, "Ready=False/NamespaceFailed Error=True/NamespaceFailed"},
      {transition::namespace_conflict,
       "Ready=False/NamespaceConflict Error=True/NamespaceConflict"},
      {transition::namespace_reserved,
       "Ready=False/NamespaceReserved Error=True/NamespaceReserved"},
      {transition::namespace_terminating, "Progress=True/NamespaceTerminating"},
      {transition::deleting, "Progress=True/Deleting"},
      {transition::chart_not_loaded, "Error=True/ChartNotLoaded"},
      {transition::version_not_found, "Error=True/VersionNotFound"},
      {transition::version_invalid, "Error=True/VersionInvalid"},
      {transition::held, "Progress=False/Held"},
      {transition::waiting, ""},
  };
  EXPECT_EQ(std::size(rows), every_transition.size());
  for (const auto& [what, conditions] : rows) EXPECT_EQ(shown(story().then(what)), conditions);
}

TEST(TenantStatus, EveryReasonStandsInTheTable) {
  for (const transition what : every_transition) {
    story s;
    for (const k8s::condition& c : s.then(what).conditions) {
      const std::string type = c.type.substr(0, c.type.find('/')) + "/<cluster>";
      const auto same = [&](const units::condition_kind& k) {
        return k.type == type && k.status == c.status && k.reason == c.reason;
      };
      EXPECT_TRUE(std::ranges::any_of(tenant_conditions, same)) << c.type << c.status << c.reason;
    }
  }
}

TEST(TenantStatus, O1_AFailureIsNoSuccessAndItsCureResolvesIt) {
  story s;
  s.then(transition::installing);
  s.then(transition::install_failed, "deployment web is not ready");
  EXPECT_EQ(s.status().phase, "Error");
  EXPECT_EQ(s.status().last_message, "deployment web is not ready");
  EXPECT_EQ(s.status().last_applied_chart, "");
  s.then(transition::upgrading);
  EXPECT_EQ(s.status().phase, "Error") << "not cured by trying";
  s.then(transition::upgraded, "done", "c");
  EXPECT_EQ(shown(s.status()),
            "Ready=True/Upgraded Error=False/Resolved Progress=False/UpgradeComplete");
  EXPECT_EQ(s.status().phase, "Ready");
}

TEST(TenantStatus, X3_AMissingChartLeavesReadyAsItWas) {
  story s, allowed(chart_skip::allowed);
  for (story* one : {&s, &allowed}) {
    one->then(transition::installed, "installed", "c");
    one->then(transition::chart_not_loaded, "no index");
    EXPECT_EQ(shown(one->status()),
              "Ready=True/Installed Error=True/ChartNotLoaded Progress=False/InstallComplete");
  }
  EXPECT_EQ(s.status().phase, "Error");
  EXPECT_EQ(allowed.status().phase, "Ready");
  EXPECT_EQ(allowed.status().last_message, "installed");
  allowed.then(transition::upgrade_failed, "fatal");
  EXPECT_EQ(allowed.status().phase, "Error") << "only a missing chart is passed over";
}

TEST(TenantStatus, X1_WithNothingInstalledAMissingChartIsAnErrorOrPending) {
  story s, allowed(chart_skip::allowed);
  EXPECT_EQ(s.then(transition::chart_not_loaded).phase, "Error");
  EXPECT_EQ(allowed.then(transition::chart_not_loaded).phase, "Pending");
}

TEST(TenantStatus, T10_OneClusterDoesNotTouchTheOther) {
  story s;
  s.then(transition::installed, "a is fine", "c");
  const auto before = s.status().conditions;
  s.then(transition::install_failed, "b is not", "", "b");
  EXPECT_EQ(shown(s.status(), "a"), "Ready=True/Installed Progress=False/InstallComplete");
  for (const auto& c : before)
    EXPECT_EQ(*k8s::find_condition(s.status().conditions, c.type), c) << c.type;
  EXPECT_EQ(s.status().phase, "Error") << "the phase is over all clusters";
  EXPECT_EQ(s.status().last_message, "b is not");
}

TEST(TenantStatus, W6_TheSameAgainChangesNothing) {
  for (const transition what : every_transition) {
    story s;
    s.then(transition::installed, "i", "c");
    s.then(what, "m");
    const tenant_status once = s.status();
    EXPECT_EQ(s.then(what, "m"), once) << static_cast<int>(what);
  }
}

TEST(TenantStatus, TheTimeMovesOnlyWithTheStatus) {
  story s;
  s.then(transition::installed);
  const std::string since =
      k8s::find_condition(s.status().conditions, "ClusterReady/a")->last_transition_time;
  s.then(transition::upgrading);
  s.then(transition::upgraded);
  EXPECT_EQ(k8s::find_condition(s.status().conditions, "ClusterReady/a")->last_transition_time,
            since);
  s.then(transition::upgrade_failed);
  EXPECT_NE(k8s::find_condition(s.status().conditions, "ClusterReady/a")->last_transition_time,
            since);
}

TEST(TenantStatus, WhatAProcessLeftUnfinishedIsCompletedByTheNextSkip) {
  story s;
  s.then(transition::installing);
  s.then(transition::no_change, "as it shall be");
  EXPECT_EQ(shown(s.status()), "Ready=True/NoChange Progress=False/InstallComplete");
  story u;
  u.then(transition::upgrade_failed);
  u.then(transition::upgrading);
  u.then(transition::no_change);
  EXPECT_EQ(shown(u.status()),
            "Ready=True/NoChange Error=False/Resolved Progress=False/UpgradeComplete");
}

TEST(TenantStatus, W7_MessagesAreShortAndHoldNoToken) {
  const std::string token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlc2lnbmF0dXJl";
  story s;
  s.then(transition::install_failed,
         "Bearer " + token + " https://u:passw0rdpassw0rd@h/x \x1b[31m" + std::string(3'000, 'x'));
  for (const k8s::condition& c : s.status().conditions) {
    EXPECT_LE(c.message.size(), 1'024u);
    EXPECT_EQ(c.message.find(token), std::string::npos);
    EXPECT_EQ(c.message.find("passw0rd"), std::string::npos);
    EXPECT_EQ(c.message.find('\x1b'), std::string::npos);
  }
  EXPECT_LE(s.status().last_message.size(), 1'024u);
}

TEST(TenantStatus, D12_ConditionsOfNamesThatHaveLeftAreDropped) {
  story s;
  s.then(transition::install_failed, "old", "", "old-name");
  s.then(transition::installed, "i", "c", "b");
  k8s::condition theirs;
  theirs.type = "SomebodyElses";
  theirs.status = "True";
  theirs.reason = "X";
  s.object().status.conditions.push_back(theirs);
  status_change t;
  t.cluster = "new-name";
  t.what = transition::installed;
  t.known = [](std::string_view cluster) { return cluster == "b"; };
  const auto after = status_after(s.object(), t, noon);
  EXPECT_EQ(shown(after, "old-name"), "");
  EXPECT_NE(shown(after, "b"), "");
  EXPECT_NE(shown(after, "new-name"), "");
  EXPECT_TRUE(k8s::find_condition(after.conditions, "SomebodyElses"));
  EXPECT_EQ(after.phase, "Ready");
}

TEST(TenantStatus, W4_AfterAConflictBothClustersConditionsAreKept) {
  story mine, theirs;
  mine.then(transition::installed, "mine", "c");
  theirs.then(transition::install_failed, "theirs", "", "b");
  const auto both = remerged(theirs.status(), mine.status(), "a", chart_skip::forbidden);
  EXPECT_EQ(shown(both, "a"), shown(mine.status(), "a"));
  EXPECT_EQ(shown(both, "b"), shown(theirs.status(), "b"));
  EXPECT_EQ(both.phase, "Error");
  EXPECT_EQ(both.last_message, "theirs");
  EXPECT_EQ(both.last_applied_chart, "c");
}

TEST(TenantStatus, OnlyWhatWasOverIsLogged) {
  EXPECT_EQ(kind_of(transition::installed).log_line, "helm install success");
  EXPECT_EQ(kind_of(transition::upgraded).log_line, "helm upgrade success");
  for (const transition what : every_transition) {
    const transition_kind& k = kind_of(what);
    EXPECT_EQ(k.what, what);
    const bool success = what == transition::installed || what == transition::upgraded;
    EXPECT_EQ(k.log_line.ends_with("success"), success);
    EXPECT_EQ(success || what == transition::no_change || what == transition::drifted,
              k.ready.status == condition_turn::to::true_);
  }
}

boost::json::object manifest(const char* text) {
  return boost::json::parse(text).as_object();
}

TEST(TenantDrift, LooksForWhatTheReleaseMustHaveInItsNamespace) {
  const std::vector<boost::json::object> all{
      manifest(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})"),
      manifest(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"acme"}})"),
      manifest(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"other"}})"),
      manifest(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"s"}})"),
      manifest(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})"),
      manifest(
          R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"}})"),
      manifest(
          R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}]})"),
      manifest(R"({"apiVersion":"v1","kind":"Service","metadata":{}})"),
  };
  std::string found;
  for (const auto& o : checked_objects(all, "acme")) found += o.text() + " ";
  EXPECT_EQ(found, "ConfigMap/acme/c Deployment/acme/d Secret/acme/x ");
}

TEST(TenantDrift, NamesTheFirstTwenty) {
  std::vector<std::string> many;
  for (int i = 0; i < 25; ++i) many.push_back("ConfigMap/acme/c" + std::to_string(i));
  EXPECT_TRUE(
      formats::listed(many, helm::placed::most_named).ends_with("ConfigMap/acme/c19 and 5 more"));
  EXPECT_EQ(formats::listed(std::vector<std::string>{"A/b/c"}, 1), "A/b/c");
  drift_findings f;
  f.missing = {"A/b/c"};
  f.moved = "the release has other values";
  EXPECT_EQ(f.text(), "the release has other values; missing: A/b/c");
}

TEST(TenantDrift, IsLookedForATenthSoonerOrLater) {
  reactor::seeded_entropy random(1);
  for (int i = 0; i < 100; ++i) {
    const auto next = next_check(std::chrono::seconds(60), random);
    EXPECT_GE(next, std::chrono::seconds(54));
    EXPECT_LE(next, std::chrono::seconds(66));
  }
}

}  // namespace
}  // namespace helm::tenants
