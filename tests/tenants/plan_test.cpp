// One file although it is long: table 7.7 and what goes with it, row by row, so that a row that is
// missing is seen.
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/plan/published.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"
#include "tests/tenants/builders.hpp"

#include <set>

namespace helm::tenants {
namespace {

using release::status;
using testing::events_of;
using testing::hold_of;
using testing::noon;
using testing::situation;
using testing::step_of;
using namespace std::chrono_literals;

TEST(TenantPlan, T1_AFreshTenantGoesStepByStep) {
  situation s;
  s.finalizer("");
  s.world.workspace = {};
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "add-finalizer");
  EXPECT_EQ(events_of(p), "FinalizerAdded");
  EXPECT_EQ(p.action, "install") << "what it will come to";
  s.finalizer(names::cleanup);
  p = s.plan();
  EXPECT_EQ(step_of(p), "create-namespace");
  EXPECT_EQ(p.workspace, "acme");
  s.world.workspace = {workspace_facts::state::present, "Tenant/default/acme"};
  p = s.plan();
  EXPECT_EQ(step_of(p), "load-chart");
  EXPECT_EQ(events_of(p), "");
  p = s.loaded().plan();
  EXPECT_EQ(step_of(p), "install");
  EXPECT_EQ(events_of(p), "HelmInstallStart");
  EXPECT_EQ(p.events.front().note, "tenant-acme-a");
  EXPECT_EQ(p.is, transition::installing);
  EXPECT_EQ(p.action, "install");
  s.release(status::deployed);
  s.noted();
  p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(p.is, transition::no_change);
  EXPECT_EQ(p.applied_chart, s.world.wanted.chart.text()) << "nobody may have said it yet";
}

TEST(TenantPlan, WhatIsOnItsWaySaysWhatComesBehindTheWay) {
  situation s;
  s.finalizer("");
  s.world.workspace = {};
  s.world.wanted.version_problem = "\"latest\" is no version";
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "add-finalizer");
  EXPECT_EQ(p.action, "held");
  EXPECT_FALSE(p.hold) << "it does not wait for the finalizer";
  ASSERT_TRUE(p.then_held);
  EXPECT_EQ(p.then_held->code, "version-invalid");
  s.world.wanted.version_problem.clear();
  s.world.workspace.is = workspace_facts::state::present;
  s.release(status::deployed).chart_version = "1.1.0";
  p = s.plan();
  EXPECT_EQ(p.action, "upgrade") << "as the original operator left it";
  EXPECT_EQ(p.from, "web 1.1.0");
  EXPECT_FALSE(p.then_held);
  s.noted();
  EXPECT_EQ(s.plan().then_held->code, "drifted");
  s.world.release->chart_version = "1.2.0";
  EXPECT_EQ(s.plan().action, "skip");
  s.deleted().finalizer(names::cleanup);
  EXPECT_EQ(s.plan().action, "uninstall") << step_of(s.plan());
}

TEST(TenantPlan, N4_ANamespaceThatWasThereIsUsedAndSaidOnce) {
  situation s;
  s.world.workspace.owner = "";
  EXPECT_EQ(events_of(s.loaded().plan()), "WorkspaceExists HelmInstallStart");
  s.release(status::deployed);
  EXPECT_EQ(events_of(s.plan()), "HelmUpgradeStart");
}

TEST(TenantPlan, T2_AnUnchangedReleaseIsSkippedWithoutAChart) {
  situation s;
  s.release(status::deployed);
  s.noted();
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none") << "no chart is asked for";
  EXPECT_EQ(p.action, "skip");
  EXPECT_EQ(events_of(p), "HelmSkip");
  EXPECT_EQ(p.events.front().note, "fingerprint unchanged");
  EXPECT_EQ(hold_of(p), "");
}

TEST(TenantPlan, W6_SkippingIsToldAgainOnlyAfterAChange) {
  situation s;
  s.release(status::deployed);
  s.noted();
  s.world.skip_told = 3;
  EXPECT_EQ(events_of(s.plan()), "");
  s.object().meta.generation = 4;
  EXPECT_EQ(events_of(s.plan()), "HelmSkip");
}

TEST(TenantPlan, X2_ARepositoryThatIsDownDoesNotDisturbWhatIsUnchanged) {
  situation s;
  s.release(status::deployed);
  s.noted();
  s.world.chart = {chart_facts::state::not_loaded, "no index"};
  s.world.retry_in = 30s;
  const auto p = s.plan();
  EXPECT_EQ(p.is, transition::no_change);
  EXPECT_EQ(hold_of(p), "");
}

/// Table 7.7, row by row.
struct decision {
  std::optional<status> state;
  bool noted;
  const char* next;
  const char* action;
};
class Decisions : public ::testing::TestWithParam<decision> {};
TEST_P(Decisions, AreThoseOfTheTable) {
  const decision& d = GetParam();
  situation s;
  s.loaded();
  if (d.state) s.release(*d.state);
  if (d.noted) s.noted();
  const auto p = s.plan();
  EXPECT_EQ(step_of(p), d.next);
  EXPECT_EQ(p.action, d.action);
}
INSTANTIATE_TEST_SUITE_P(
    TenantPlan, Decisions,
    ::testing::Values(decision{std::nullopt, false, "install", "install"},
                      decision{std::nullopt, true, "install", "install"},
                      decision{status::uninstalled, false, "install", "install"},
                      decision{status::uninstalled, true, "install", "install"},
                      decision{status::deployed, true, "none", "skip"},
                      decision{status::deployed, false, "upgrade", "upgrade"},
                      decision{status::failed, true, "upgrade", "upgrade"},
                      decision{status::failed, false, "upgrade", "upgrade"},
                      decision{status::superseded, true, "upgrade", "upgrade"},
                      decision{status::pending_install, true, "recover", "upgrade"},
                      decision{status::pending_upgrade, false, "recover", "upgrade"},
                      decision{status::pending_rollback, false, "recover", "upgrade"},
                      decision{status::uninstalling, true, "finish-uninstall", "install"},
                      decision{status::unknown, true, "upgrade", "upgrade"}));

TEST(TenantPlan, T5_WithoutItsAnnotationItIsUpgradedOnce) {
  situation s;
  s.loaded().release(status::deployed);
  EXPECT_EQ(step_of(s.plan()), "upgrade");
  s.noted();
  EXPECT_EQ(step_of(s.plan()), "none");
}

TEST(TenantPlan, T3_AnotherVersionIsAnUpgradeThatSaysFromWhere) {
  situation s;
  s.loaded().release(status::deployed);
  s.noted();
  s.world.wanted.chart.version = "1.3.0";
  s.world.wanted.fingerprint = fingerprint(s.world.wanted.chart, {});
  const auto p = s.plan();
  EXPECT_EQ(step_of(p), "upgrade");
  EXPECT_EQ(p.from, "web 1.2.0");
  EXPECT_EQ(events_of(p), "HelmUpgradeStart");
}

TEST(TenantPlan, T7_ATenantOfAnotherClusterIsPassedOverInSilence) {
  situation s;
  s.finalizer("");
  s.object().target.secret_name = "b";
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(events_of(p), "");
  EXPECT_FALSE(p.is);
  EXPECT_EQ(hold_of(p), "");
  s.object().target = {"", "elsewhere"};
  EXPECT_EQ(step_of(s.plan()), "none");
  EXPECT_EQ(concern_of(s.object(), s.world), concern::of_another_cluster);
}

TEST(TenantPlan, T8_ATenantThatNamesThisClusterIsOurs) {
  situation s;
  s.object().target = {"a", "fleet"};
  EXPECT_EQ(step_of(s.loaded().plan()), "install");
  s.world.primary = "0";  // it names us, so that we need not be the primary
  s.world.names_here = {"0", "a"};
  EXPECT_EQ(step_of(s.plan()), "install");
}

TEST(TenantPlan, AReleaseThatALaterClusterRefLeavesBehindIsToldOnce) {
  situation s;
  s.noted();
  s.object().target.secret_name = "b";
  EXPECT_EQ(events_of(s.plan()), "ClusterRefMismatch");
  EXPECT_EQ(step_of(s.plan()), "none");
  s.world.mismatch_told = true;
  EXPECT_EQ(events_of(s.plan()), "");
}

TEST(TenantPlan, D10_OfTwoNamesOfOneServerThePrimaryActsAlone) {
  situation s;
  s.loaded();
  s.world.names_here = {"a", "b"};
  int acting = 0;
  for (const std::string name : {"a", "b"}) {
    s.world.cluster = name;
    acting += s.plan().next == step::install;
  }
  EXPECT_EQ(acting, 1);
  EXPECT_EQ(concern_of(s.object(), s.world), concern::of_another_name);
}

TEST(TenantPlan, N6_ATerminatingNamespaceIsWaitedFor) {
  situation s;
  s.world.workspace.is = workspace_facts::state::terminating;
  const auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(p.is, transition::namespace_terminating);
  EXPECT_EQ(p.again_in, 5s);
  EXPECT_EQ(hold_of(p), "namespace-terminating");
}

TEST(TenantPlan, N5_ANamespaceThatCannotBeMadeIsTriedAgain) {
  situation s;
  s.world.workspace = {};
  s.world.retry_in = 20s;
  auto p = s.plan();
  EXPECT_EQ(hold_of(p), "namespace-failed");
  EXPECT_EQ(p.again_in, 20s);
  s.world.retry_in = 0s;
  EXPECT_EQ(step_of(s.plan()), "create-namespace");
}

claimant other(const std::string& ns, reactor::wall_time created) {
  return {{"Tenant", {ns, "acme"}}, created};
}

TEST(TenantPlan, N7_OfTwoTenantsOfOneNameTheOldestActs) {
  situation s;
  s.loaded();
  s.world.workspace.owner = "";
  s.world.others = {other("zeta", noon - 2h)};
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(p.is, transition::namespace_conflict);
  EXPECT_EQ(events_of(p), "NamespaceConflict");
  EXPECT_EQ(p.message, "namespace acme belongs to Tenant/zeta/acme");
  EXPECT_EQ(hold_of(p), "conflict");
  s.world.others.clear();
  EXPECT_EQ(step_of(s.plan()), "install") << "takes over when the owner is gone";
  s.world.others = {other("aaa", noon - 1h)};
  EXPECT_EQ(hold_of(s.plan()), "conflict") << "equally old: the smaller namespace";
  s.world.others = {other("zzz", noon - 1h)};
  EXPECT_EQ(step_of(s.plan()), "install");
}

TEST(TenantPlan, N7_WhoMadeTheNamespaceKeepsItWhateverItsAge) {
  situation s;
  s.loaded();
  s.world.others = {other("older", noon - 5h)};
  s.world.workspace.owner = "Tenant/default/acme";
  EXPECT_EQ(step_of(s.plan()), "install");
  s.world.workspace.owner = "Tenant/older/acme";
  EXPECT_EQ(hold_of(s.plan()), "conflict");
  s.world.workspace.owner = "Tenant/left/acme";  // is gone: the oldest of those who are there
  EXPECT_EQ(hold_of(s.plan()), "conflict");
  s.world.others.clear();
  EXPECT_EQ(step_of(s.plan()), "install");
  s.world.workspace.owner = "KryptonDeployment/home/acme";
  EXPECT_EQ(hold_of(s.plan()), "conflict") << "nobody here knows that it is gone";
}

TEST(TenantPlan, N7_ExactlyOneOfThemActsWhateverTheAnnotationSays) {
  const std::vector<claimant> all{other("default", noon - 1h), other("x", noon - 2h),
                                  other("y", noon - 1h)};
  for (const char* owner : {"", "Tenant/x/acme", "Tenant/y/acme", "Tenant/gone/acme", "nonsense",
                            "Tenant/default/acme"}) {
    int acting = 0;
    for (std::size_t me = 0; me < all.size(); ++me) {
      situation s;
      s.loaded();
      s.world.workspace.owner = owner;
      s.object().meta.ns = all[me].who.key.ns;
      s.object().created = all[me].created;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (i != me) s.world.others.push_back(all[i]);
      acting += s.plan().next == step::install;
    }
    EXPECT_EQ(acting, 1) << owner;
  }
}

TEST(TenantPlan, AConflictThatIsKnownIsNotToldAgain) {
  situation s;
  s.world.workspace.owner = "Tenant/zeta/acme";
  s.world.others = {other("zeta", noon - 2h)};
  auto p = s.plan();
  status_change t;
  t.cluster = "a";
  t.what = *p.is;
  t.message = p.message;
  s.object().status = status_after(s.object(), t, noon);
  p = s.plan();
  EXPECT_EQ(events_of(p), "");
  EXPECT_EQ(hold_of(p), "conflict");
}

TEST(TenantPlan, X6_AVersionThatIsNoneFetchesNothing) {
  situation s;
  s.world.wanted.chart.version = "latest";
  s.world.wanted.version_problem = "no version";
  for (const bool deployed : {false, true}) {
    if (deployed) s.release(status::deployed);
    const auto p = s.plan();
    EXPECT_EQ(step_of(p), "none");
    EXPECT_EQ(p.is, transition::version_invalid);
    EXPECT_EQ(events_of(p), "ChartVersionInvalid");
    EXPECT_EQ(p.events.front().note, "latest");
    EXPECT_FALSE(p.again_in) << "no timer";
  }
}

TEST(TenantPlan, X1_X8_AChartThatCannotBeHadIsTriedAgain) {
  situation s;
  s.world.chart = {chart_facts::state::not_loaded, "no index"};
  s.world.retry_in = 30s;
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(p.is, transition::chart_not_loaded);
  EXPECT_EQ(events_of(p), "ChartNotLoaded");
  EXPECT_EQ(p.events.front().note, "https://charts.example");
  EXPECT_EQ(p.again_in, 30s);
  EXPECT_EQ(hold_of(p), "chart-not-loaded");
  EXPECT_EQ(p.action, "held");
  s.world.retry_in = 0s;
  EXPECT_EQ(step_of(s.plan()), "load-chart");
}

TEST(TenantPlan, X3_WhereItMayBeSkippedAMissingChartIsTriedEveryTwoMinutes) {
  situation s;
  s.world.chart = {chart_facts::state::not_loaded, "no index"};
  s.world.retry_in = 30s;
  s.world.skip = chart_skip::allowed;
  EXPECT_EQ(s.plan().again_in, 120s);
  status_change t;
  t.cluster = "a";
  t.what = transition::installed;
  s.object().status = status_after(s.object(), t, noon);
  EXPECT_EQ(s.plan().again_in, 30s) << "something is ready";
}

TEST(TenantPlan, X5_AVersionThatIsNotThereIsNamed) {
  situation s;
  s.world.chart = {chart_facts::state::version_not_found, "web has no 1.2.0"};
  s.world.retry_in = 60s;
  const auto p = s.plan();
  EXPECT_EQ(p.is, transition::version_not_found);
  EXPECT_EQ(events_of(p), "ChartVersionNotFound");
  EXPECT_EQ(p.events.front().note, "1.2.0");
}

TEST(TenantPlan, X9_WhoeverNeedsTheChartWaitsForTheOneDownload) {
  situation s;
  s.world.chart.is = chart_facts::state::loading;
  const auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(hold_of(p), "chart-loading");
}

TEST(TenantPlan, O2_AfterAFailureItWaitsAndThenTriesAgain) {
  situation s;
  s.loaded().release(status::failed);
  s.world.retry_in = 60s;
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(hold_of(p), "backoff");
  EXPECT_EQ(p.again_in, 60s);
  s.world.retry_in = 0s;
  EXPECT_EQ(step_of(s.plan()), "upgrade");
}

TEST(TenantPlan, O3_APendingReleaseIsRecoveredWhenNobodyCanBeWorkingOnIt) {
  situation s;
  auto& r = s.loaded().release(status::pending_upgrade);
  r.last_deployed = noon - 100s;
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(hold_of(p), "release-pending");
  EXPECT_EQ(p.again_in, 110s) << "180 s and 30 s";
  r.last_deployed = noon - 210s;
  p = s.plan();
  EXPECT_EQ(step_of(p), "recover");
  EXPECT_EQ(events_of(p), "ReleaseRecovered");
  r.state = status::failed;
  EXPECT_EQ(step_of(s.plan()), "upgrade");
}

TEST(TenantPlan, O3_AClockThatRunsAheadDoesNotBlockForEver) {
  situation s;
  auto& r = s.release(status::pending_install);
  r.last_deployed = noon + 24h;
  EXPECT_EQ(s.plan().again_in, 210s);
  s.world.pending_seen = noon - 210s;
  EXPECT_EQ(step_of(s.plan()), "recover");
}

TEST(TenantPlan, AnOperationOfOursIsWaitedFor) {
  situation s;
  s.loaded().release(status::pending_install).last_deployed = noon - 24h;
  s.world.running = operation::install;
  const auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(hold_of(p), "operating");
}

TEST(TenantPlan, W2_AFingerprintThatCouldNotBeNotedIsNoSecondUpgrade) {
  situation s;
  s.loaded().release(status::deployed);
  s.world.applied = s.world.wanted.fingerprint;
  EXPECT_EQ(step_of(s.plan()), "note-fingerprint");
  s.world.retry_in = 45s;
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(hold_of(p), "fingerprint-unsaved");
  s.world.wanted.fingerprint = "another";
  s.world.retry_in = 0s;
  EXPECT_EQ(step_of(s.plan()), "upgrade") << "something else is asked for by now";
}

TEST(TenantPlan, V1_AChangedStateIsHeldAndWhatIsUnchangedIsNot) {
  situation s;
  s.loaded().release(status::deployed);
  s.world.held = units::hold{"default/acme", "policy:Wave", "wave 1 waits for wave 0", "wave 0"};
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(p.action, "held");
  EXPECT_EQ(p.is, transition::held);
  EXPECT_EQ(p.message, "wave 1 waits for wave 0");
  EXPECT_EQ(hold_of(p), "policy:Wave");
  s.noted();
  EXPECT_EQ(s.plan().action, "skip");
}

TEST(TenantDrift, IsReportedOnceAndHealedWhereAsked) {
  situation s;
  s.loaded().release(status::deployed);
  s.noted();
  s.world.drift.missing = {"Deployment/acme/web"};
  s.world.skip_told = 3;
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(events_of(p), "DriftDetected");
  EXPECT_EQ(p.events.front().note, "missing: Deployment/acme/web");
  EXPECT_EQ(hold_of(p), "drifted");
  EXPECT_EQ(p.action, "held");
  EXPECT_EQ(p.is, transition::drifted);
  EXPECT_EQ(p.message, p.events.front().note);
  s.world.drift_told = p.events.front().note;
  EXPECT_EQ(events_of(s.plan()), "");
  s.world.on_drift = drift_mode::heal;
  s.world.held = units::hold{"default/acme", "policy", "no", "never"};
  p = s.plan();
  EXPECT_EQ(step_of(p), "upgrade") << "what was let in is put back without asking";
  EXPECT_EQ(events_of(p), "HelmUpgradeStart RepairTriggered");
  s.world.on_drift = drift_mode::off;
  EXPECT_EQ(events_of(s.plan()), "");
  EXPECT_EQ(s.plan().action, "skip");
}

TEST(TenantDrift, AReleaseThatSomebodyMovedIsDriftAndNoChangeIsNotSaidOfIt) {
  situation s;
  auto& r = s.loaded().release(status::deployed);
  s.noted();
  s.world.skip_told = 3;
  r.chart_version = "1.1.0";
  auto p = s.plan();
  EXPECT_EQ(events_of(p), "DriftDetected");
  EXPECT_EQ(p.events.front().note, "the release has version 1.1.0 instead of 1.2.0");
  EXPECT_EQ(p.applied_chart, "") << "another one is installed";
  EXPECT_EQ(hold_of(p), "drifted");
  EXPECT_EQ(p.reason, p.events.front().note);
  r.chart_version = "v1.2.0";
  EXPECT_EQ(events_of(s.plan()), "") << "the same version";
  r.values = "others";
  EXPECT_EQ(s.plan().events.front().note, "the release has other values");
  s.world.on_drift = drift_mode::heal;
  EXPECT_EQ(step_of(s.plan()), "upgrade");
}

TEST(TenantPlan, AFingerprintOfTheChartAloneCountsWhereTheReleaseHasTheValues) {
  value with_kinds{value::map_type{}};
  with_kinds.entries()["installCRDs"] = value(true).box();
  const chart_coordinates chart{"https://charts.example", "web", "1.2.0"};
  struct row {
    bool of_the_original, same_values;
    std::string_view version, next, action;
  };
  for (const row& r : {row{true, true, "1.2.0", "note-fingerprint", "skip"},
                       row{true, false, "1.2.0", "upgrade", "upgrade"},
                       row{true, true, "1.1.0", "upgrade", "upgrade"},
                       row{false, true, "1.2.0", "upgrade", "upgrade"}}) {
    situation s;
    s.world.wanted.values = values_digest(with_kinds);
    s.world.wanted.fingerprint = fingerprint(chart, with_kinds);
    release_facts& is = s.loaded().release(status::deployed);
    is.chart_version = r.version;
    if (!r.same_values) is.values = values_digest({});
    if (r.of_the_original) s.annotate(names::fingerprint_annotation("a"), fingerprint(chart, {}));
    const tenant_plan p = s.plan();
    EXPECT_EQ(step_of(p), r.next) << r.version << r.same_values << r.of_the_original;
    EXPECT_EQ(p.action, r.action) << r.version << r.same_values << r.of_the_original;
  }
}

TEST(TenantPlan, AnotherWorkspaceIsHeldUntilItIsChosen) {
  for (const auto& [workspace, chosen, where, held] : {std::tuple{"", "", "acme", false},
                                                       {"acme", "", "acme", false},
                                                       {"shop", "", "acme", true},
                                                       {"shop", "shop", "shop", false},
                                                       {"shop", "acme", "acme", false},
                                                       {"shop", "other", "acme", true},
                                                       {"", "shop", "acme", false}}) {
    situation s;
    s.object().workspace = workspace;
    if (*chosen) s.annotate(names::workspace, chosen);
    const tenant_plan p = s.loaded().plan();
    EXPECT_EQ(p.workspace, where) << workspace << " " << chosen;
    EXPECT_EQ(hold_of(p), held ? "workspace-open" : "") << workspace << " " << chosen;
    EXPECT_EQ(p.release, "tenant-acme-a");
    EXPECT_EQ(events_of(p), held ? "WorkspaceOpen" : "HelmInstallStart");
  }
}

TEST(TenantPlan, WhatCannotBeReadActsNowhere) {
  situation s;
  s.object().problem = "spec.clusterRef: must be an object, is a text";
  const auto p = s.loaded().plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(hold_of(p), "invalid-spec");
  EXPECT_FALSE(p.is);
}

TEST(TenantPlan, AnAbsentTenantTouchesNothing) {
  situation s;
  s.release(status::deployed);
  s.world.object.reset();
  const auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(events_of(p), "");
}

TEST(TenantPlan, EveryHoldIsARowOfATable) {
  std::set<std::string_view> known;
  for (const auto& k : units::hold_code::of_every_api) known.insert(k.code);
  for (const auto& k : hold_code::of_tenants) known.insert(k.code);
  for (const auto state : {status::failed, status::pending_install, status::deployed})
    for (const auto chart : {chart_facts::state::not_loaded, chart_facts::state::loading})
      for (const auto ns : {workspace_facts::state::absent, workspace_facts::state::terminating,
                            workspace_facts::state::present}) {
        situation s;
        s.release(state).last_deployed = noon;
        s.world.chart.is = chart;
        s.world.workspace.is = ns;
        s.world.retry_in = 10s;
        const auto p = s.plan();
        EXPECT_TRUE(!p.hold || known.contains(p.hold->code)) << hold_of(p);
        EXPECT_EQ(p, s.plan());
      }
}

TEST(Retries, AreThoseOfTheContract) {
  EXPECT_EQ(pause_after(retry_cause::crd, 9), 60s);
  EXPECT_EQ(pause_after(retry_cause::namespace_, 9), 30s);
  EXPECT_EQ(pause_after(retry_cause::helm_setup, 9), 60s);
  EXPECT_EQ(pause_after(retry_cause::status_write, 9), 45s);
  EXPECT_EQ(pause_after(retry_cause::finalizer, 9), 5s);
  EXPECT_EQ(pause_after(retry_cause::chart_skipped, 9), 120s);
  std::vector<nanoseconds> operations, charts;
  for (std::uint32_t n = 1; n <= 8; ++n) {
    operations.push_back(pause_after(retry_cause::operation, n));
    charts.push_back(pause_after(retry_cause::chart, n));
  }
  EXPECT_EQ(operations, (std::vector<nanoseconds>{30s, 60s, 120s, 240s, 480s, 900s, 900s, 900s}));
  EXPECT_EQ(charts, (std::vector<nanoseconds>{30s, 60s, 120s, 240s, 300s, 300s, 300s, 300s}));
  EXPECT_EQ(pause_after(retry_cause::operation, 4'000'000'000u), 900s);
}

TEST(Retries, BeginAnewWithEveryChange) {
  attempts a;
  attempt_key key{3, "f", "secret", 1, ""};
  const reactor::steady_time start{1h};
  EXPECT_EQ(a.left(key, start), 0s);
  a.failed(retry_cause::operation, key, start);
  a.failed(retry_cause::operation, key, start + 30s);
  EXPECT_EQ(a.left(key, start + 30s), 60s);
  EXPECT_EQ(a.left(key, start + 80s), 10s);
  EXPECT_EQ(a.left(key, start + 90s), 0s);
  EXPECT_EQ(a.failures(key), 2u);
  for (int i = 0; i < 5; ++i) {
    attempt_key other = key;
    if (i == 4) other.asked = "2026-11-23T08:00:00Z";
    if (i == 0) other.generation = 4;
    if (i == 1) other.fingerprint = "g";
    if (i == 2) other.credentials = "renewed";
    if (i == 3) other.connection = 2;
    EXPECT_EQ(a.left(other, start + 30s), 0s) << i;
    EXPECT_EQ(a.failures(other), 0u);
  }
  a.failed(retry_cause::chart, key, start + 90s);
  EXPECT_EQ(a.left(key, start + 90s), 30s) << "another kind of failure counts from one";
  a.failed(retry_cause::version, key, start);
  EXPECT_EQ(a.left(key, start), nanoseconds::max());
  a.succeeded();
  EXPECT_EQ(a.left(key, start), 0s);
}

TEST(Retries, NoRevisionFollowsAFailedOneAtOnceWhateverIsAskedFor) {
  for (const auto& [age, left] : {std::pair{0s, 5s}, {2s, 3s}, {5s, 0s}, {-1s, 0s}}) {
    situation s;
    s.loaded();
    s.release(status::failed).last_deployed = noon - age;
    const tenant_plan p = s.plan();
    EXPECT_EQ(step_of(p), left > 0s ? "none" : "upgrade") << age.count();
    EXPECT_EQ(hold_of(p), left > 0s ? "backoff" : "") << age.count();
    if (left > 0s) {
      EXPECT_EQ(p.again_in, std::optional<nanoseconds>(left)) << age.count();
    }
    s.world.release->state = status::deployed;
    EXPECT_EQ(step_of(s.plan()), "upgrade") << "nothing failed";
  }
}

TEST(PublishedPlan, IsReadBackAsItWasWritten) {
  for (const std::string_view action : {"skip", "install", "upgrade", "uninstall"}) {
    situation s;
    tenant_plan p;
    p.action = action;
    auto c = published(p, s.world.wanted, "a");
    ASSERT_TRUE(c) << action;
    EXPECT_EQ(c->type, "ClusterPlan/a");
    EXPECT_EQ(c->status, action == "skip" ? "True" : "False");
    s.object().status.conditions.push_back(*c);
    const auto seen = plan_published_on(s.object(), "a");
    ASSERT_TRUE(seen) << action;
    EXPECT_EQ(seen->plan.action, action);
    EXPECT_EQ(seen->chart, "https://charts.example/web:1.2.0");
    EXPECT_EQ(seen->plan.release, "tenant-acme-a");
    EXPECT_FALSE(seen->plan.hold);
    EXPECT_FALSE(plan_published_on(s.object(), "b"));
  }
}

TEST(PublishedPlan, HasEveryHoldThatLastsAndNoneThatIsOverInAMoment) {
  for (const units::hold_kind& kind : hold_code::of_tenants) {
    situation s;
    tenant_plan p;
    p.action = "held";
    p.hold = units::hold{"default/acme", std::string(kind.code), "a sentence: with signs; two", ""};
    auto c = published(p, s.world.wanted, "a");
    EXPECT_EQ(c.has_value(), kind.nature != units::hold_nature::progress) << kind.code;
    if (!c) continue;
    c->last_transition_time = "2026-11-27T12:00:00Z";
    s.object().status.conditions.push_back(*c);
    const auto seen = plan_published_on(s.object(), "a");
    ASSERT_TRUE(seen) << kind.code;
    EXPECT_EQ(seen->plan.action, "held");
    EXPECT_EQ(seen->plan.hold->code, kind.code);
    EXPECT_EQ(seen->plan.hold->sentence, p.hold->sentence);
    EXPECT_EQ(seen->plan.hold->released_by, kind.released);
    EXPECT_EQ(seen->plan.hold->since, "2026-11-27T12:00:00Z");
  }
  situation s;
  tenant_plan p;
  p.action = "held";
  p.hold = units::hold{"default/acme", "policy:EarlierWave", "wave 1 waits", ""};
  s.object().status.conditions.push_back(*published(p, s.world.wanted, "a"));
  EXPECT_EQ(plan_published_on(s.object(), "a")->plan.hold->code, "policy:EarlierWave");
  p.action = "none";
  EXPECT_FALSE(published(p, s.world.wanted, "a"));
}

TEST(ReleaseFacts, AreThoseOfTheNewestRecord) {
  std::vector<release::record> history(3);
  for (int i = 0; i < 3; ++i) {
    history[static_cast<std::size_t>(i)].revision = i == 1 ? 7 : i + 1;
    history[static_cast<std::size_t>(i)].state = i == 1 ? status::failed : status::superseded;
  }
  auto of = std::make_shared<chart>();
  of->meta.name = "web";
  of->meta.version = "1.2.0";
  history[1].origin = of;
  history[1].last_deployed = time_at(1'000);
  const auto newest = newest_of(history);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->state, status::failed);
  EXPECT_EQ(newest->revision, 7);
  EXPECT_EQ(newest->chart_name + " " + newest->chart_version, "web 1.2.0");
  EXPECT_EQ(newest->last_deployed, reactor::wall_time(1'000s));
  EXPECT_EQ(newest->values, values_digest({}));
  EXPECT_FALSE(newest_of({}));
}

}  // namespace
}  // namespace helm::tenants
