#include "formats/yaml/yaml.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/plan/deployment_plan.hpp"
#include "tests/tenants/builders.hpp"

#include <boost/json.hpp>

#include <fstream>
#include <set>
#include <sstream>

namespace helm::tenants {
namespace {

using release::status;
using testing::noon;
using namespace std::chrono_literals;

std::string events_of(const deployment_plan& p) {
  std::string out;
  for (const told& e : p.events) out += (out.empty() ? "" : " ") + std::string(e.what.reason);
  return out;
}
std::string step_of(const deployment_plan& p) {
  return std::string(name_of(p.next));
}
std::string says(const deployment_plan& p) {
  return p.is ? std::string(p.is->phase) + "/" + std::string(p.is->reason) : "";
}

/// `shop` in `team`, for the region `eu`: its Secret is there, and nothing was done yet but what is
/// told once.
struct deployment_situation {
  deployment_situation() {
    krypton_deployment d;
    d.meta.name = "shop";
    d.meta.ns = "team";
    d.meta.generation = 2;
    d.account = "acme";
    d.region = "eu";
    d.created = noon - 1h;
    w.object = std::move(d);
    w.discovery_ns = "fleet";
    w.wanted.chart = {"https://charts.example", "web", "1.2.0"};
    w.wanted.fingerprint = "f";
    w.workspace = {workspace_facts::state::present, "KryptonDeployment/team/shop"};
    w.account_told = "acme";
    w.routing_told = {"fleet", "eu-kubeconfig"};
    w.now = noon;
    finalizer(names::deployment_cleanup);
  }
  krypton_deployment& object() { return *w.object; }
  void finalizer(std::string_view name) {
    std::vector<k8s::interned> all;
    if (!name.empty()) all.emplace_back(name);
    object().meta.finalizers = k8s::shared_array<k8s::interned>(std::span(all));
  }
  void annotate(const std::string& key, const std::string& value) {
    object().meta.annotations = testing::with(object().meta.annotations, key, value);
  }
  void noted(const std::string& value = "f") {
    annotate(names::deployment_fingerprint_annotation("fleet", "eu-kubeconfig"), value);
  }
  release_facts& release(status state) {
    release_facts r;
    r.state = state;
    r.last_deployed = noon - 1h;
    w.release = r;
    return *w.release;
  }
  /// Everything as it shall be.
  void settled() {
    noted();
    release(status::deployed);
    w.workloads = availability{};
  }
  void loaded() { w.chart.is = chart_facts::state::loaded; }
  void deleted() {
    object().meta.deletion_timestamp = noon;
    annotate(std::string(names::deleting), "true");
  }
  deployment_plan plan() const { return plan_deployment(w); }
  /// The plan's verdict becomes the status, as the reconciler writes it.
  void written(const deployment_plan& p) {
    if (p.is) object().status = status_after(object(), *p.is, "", w.now);
  }
  deployment_world w;
};

k8s::result<krypton_deployment> read_deployment(const std::string& spec) {
  return k8s::parse_view<krypton_deployment>(
      R"({"metadata":{"name":"shop","namespace":"team","uid":"u","resourceVersion":"5"},"spec":)" +
      spec + "}");
}

TEST(KryptonView, K3_TheSecretIsTheNamedOneThenTheDeprecatedThenTheRegions) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"region":{"name":"eu","kubeconfig":{"secret":{"name":"s","namespace":"n"}},"kubeconfigSecretName":"d"}})",
       "n/s"},
      {R"({"region":{"name":"eu","kubeconfig":{"secret":{"name":"s"}}}})", "fleet/s"},
      {R"({"region":{"name":"eu","kubeconfig":{"secret":{"namespace":"n"}},"kubeconfigSecretName":"d"}})",
       "fleet/d"},
      {R"({"region":{"name":"eu"}})", "fleet/eu-kubeconfig"},
      {R"({"region":{"name":""}})", ""},
  };
  for (const auto& [spec, target] : rows) {
    const auto d = read_deployment(spec);
    ASSERT_TRUE(d) << spec;
    EXPECT_EQ(target_of(*d, "fleet").text(), target);
  }
}

TEST(KryptonView, WhatCannotBeReadIsNamedByItsPath) {
  const auto d = read_deployment(
      R"({"account":{"name":"a"},"region":{"name":"eu","kubeconfig":{"secret":[]}}})");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->problem, "spec.region.kubeconfig.secret: must be an object, is a list");
}

TEST(KryptonView, ItsFingerprintsNameTheRegions) {
  deployment_situation s;
  EXPECT_TRUE(noted_targets(s.object()).empty());
  s.noted();
  s.annotate(names::deployment_fingerprint_annotation("n", "old"), "g");
  EXPECT_EQ(noted_targets(s.object()), (std::vector<std::string>{"fleet.eu-kubeconfig", "n.old"}));
  EXPECT_EQ(noted_name({"n", "old"}), "n.old");
}

TEST(KryptonPlan, K1_AFreshOneGoesStepByStep) {
  deployment_situation s;
  s.finalizer("");
  s.w.account_told = {};
  s.w.routing_told = {};
  s.w.workspace = {};
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "add-finalizer");
  EXPECT_EQ(events_of(p), "AccountValidated FinalizerAdded");
  s.w.account_told = "acme";
  s.finalizer(names::deployment_cleanup);
  p = s.plan();
  EXPECT_EQ(step_of(p), "create-namespace");
  EXPECT_EQ(events_of(p), "Routing");
  EXPECT_EQ(p.workspace, "shop");
  EXPECT_EQ(p.release, "ced-shop");
  EXPECT_EQ(p.target, (k8s::object_key{"fleet", "eu-kubeconfig"}));
  s.w.routing_told = p.target;
  s.w.workspace = {workspace_facts::state::present, "KryptonDeployment/team/shop"};
  p = s.plan();
  EXPECT_EQ(step_of(p), "load-chart");
  EXPECT_EQ(events_of(p), "ReleaseMissing RepairTriggered");
  EXPECT_EQ(says(p), "Pending/RepairTriggered");
  s.written(p);
  s.loaded();
  p = s.plan();
  EXPECT_EQ(step_of(p), "install");
  EXPECT_EQ(events_of(p), "") << "told already";
  s.settled();
  s.w.workloads.reset();
  EXPECT_EQ(step_of(s.plan()), "look-at-workloads");
  s.w.workloads = availability{};
  p = s.plan();
  EXPECT_EQ(says(p), "Ready/Deployed");
  EXPECT_EQ(events_of(p), "Ready");
  EXPECT_EQ(p.again_in, 60s);
}

TEST(KryptonPlan, K2_WithoutAnAccountItIsAnErrorThatCanBeDeleted) {
  deployment_situation s;
  s.object().account.clear();
  auto p = s.plan();
  EXPECT_EQ(says(p), "Error/AccountMissing");
  EXPECT_EQ(events_of(p), "AccountMissing");
  EXPECT_EQ(p.again_in, 30s);
  s.written(p);
  EXPECT_EQ(events_of(s.plan()), "") << "told once";
  s.deleted();
  s.w.workspace = {};
  EXPECT_EQ(step_of(s.plan()), "remove-finalizer");
}

TEST(KryptonPlan, K4_ARotatedSecretIsNoReasonToDeploy) {
  deployment_situation s;
  s.settled();
  s.loaded();
  EXPECT_EQ(step_of(s.plan()), "none");  // nothing of a plan depends on the credentials
}

TEST(KryptonPlan, K5_AMissingObjectIsPutBackAndThenItIsReady) {
  deployment_situation s;
  s.settled();
  s.loaded();
  s.w.missing = {"Deployment/shop/web"};
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "upgrade");
  EXPECT_EQ(says(p), "Pending/RepairTriggered");
  EXPECT_EQ(events_of(p), "RepairTriggered");
  EXPECT_EQ(p.events.back().note, "missing: Deployment/shop/web");
  EXPECT_EQ(p.again_in, 20s);
  s.written(p);
  s.w.missing.clear();
  EXPECT_EQ(says(s.plan()), "Ready/Deployed");
}

TEST(KryptonPlan, K6_AReleaseThatIsGoneIsMissingAndRepaired) {
  deployment_situation s;
  s.settled();
  s.loaded();
  s.w.release.reset();
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "install");
  EXPECT_EQ(events_of(p), "ReleaseMissing RepairTriggered");
  s.release(status::uninstalled);
  p = s.plan();
  EXPECT_EQ(step_of(p), "install");
  EXPECT_EQ(events_of(p), "ReleaseNotInstalled RepairTriggered");
}

TEST(KryptonPlan, K7_WhatIsNotAvailableIsCounted) {
  deployment_situation s;
  s.settled();
  s.w.workloads = judge({{"Deployment", "web", 0, 2}, {"Deployment", "ok", 1, 1}});
  auto p = s.plan();
  EXPECT_EQ(says(p), "Pending/NotReady");
  EXPECT_EQ(p.is->message, "Deployment/web (0/2 available)");
  EXPECT_EQ(events_of(p), "NotReady");
  EXPECT_EQ(p.again_in, 15s);
  s.written(p);
  EXPECT_EQ(events_of(s.plan()), "");
}

TEST(KryptonPlan, Availability) {
  EXPECT_TRUE(judge({}).ready) << "none = healthy";
  EXPECT_TRUE(judge({{"Deployment", "web", 3, 2}}).ready);
  EXPECT_EQ(not_listed("forbidden").message, "list-error:forbidden");
  EXPECT_FALSE(not_listed("forbidden").ready);
}

TEST(KryptonPlan, K8_WhileNothingChangesNothingIsDone) {
  deployment_situation s;
  s.settled();
  auto p = s.plan();
  s.written(p);
  const tenant_status once = s.object().status;
  for (int i = 0; i < 10; ++i) {
    s.w.now += 60s;
    p = s.plan();
    EXPECT_EQ(step_of(p), "none");
    EXPECT_EQ(events_of(p), "");
    s.written(p);
    EXPECT_EQ(s.object().status, once);
  }
}

TEST(KryptonPlan, K9_ARegionThatIsDownIsTriedEveryHalfMinuteAndAbandonedAfterTen) {
  deployment_situation s;
  s.w.edge = {edge_facts::state::down, "no answer"};
  auto p = s.plan();
  EXPECT_EQ(says(p), "Error/EdgeUnavailable");
  EXPECT_EQ(events_of(p), "EdgeUnavailable");
  EXPECT_EQ(p.again_in, 30s);
  s.deleted();
  s.w.cleaning_since = noon - 599s;
  p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(p.again_in, 30s);
  s.w.cleaning_since = noon - 600s;
  p = s.plan();
  EXPECT_EQ(step_of(p), "remove-finalizer");
  EXPECT_EQ(events_of(p), "CleanupAbandoned FinalizerRemoved");
}

TEST(KryptonPlan, ASecretThatIsGoneEndsTheCleanupAtOnce) {
  deployment_situation s;
  s.deleted();
  s.w.edge = {edge_facts::state::secret_missing, "not found"};
  EXPECT_EQ(events_of(s.plan()), "CleanupAbandoned FinalizerRemoved");
}

TEST(KryptonPlan, K10_AfterReadyInTheNewRegionTheOldOneIsLeft) {
  deployment_situation s;
  s.settled();
  s.w.workloads = judge({{"Deployment", "web", 0, 1}});
  former_region old;
  old.target = {"fleet", "us-kubeconfig"};
  s.w.former = {old};
  EXPECT_EQ(step_of(s.plan()), "none") << "not before it is ready";
  s.w.workloads = availability{};
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "leave-former-region");
  EXPECT_EQ(p.leaving, old.target);
  EXPECT_EQ(says(p), "Ready/Deployed");
  EXPECT_EQ(p.events.back().note, "fleet/us-kubeconfig to fleet/eu-kubeconfig");
  s.w.former[0].edge.is = edge_facts::state::down;
  EXPECT_EQ(step_of(s.plan()), "none") << "while the old one is down";
  EXPECT_EQ(s.plan().again_in, 60s) << "it is tried again";
}

TEST(KryptonPlan, OneThatWasElsewhereBeforeIsCleanedUpThereToo) {
  deployment_situation s;
  s.deleted();
  s.w.workspace = {};
  former_region old;
  old.target = {"fleet", "us-kubeconfig"};
  old.edge.is = edge_facts::state::down;
  s.w.former = {old};
  EXPECT_EQ(step_of(s.plan()), "none");
  s.w.former[0].edge.is = edge_facts::state::ready;
  EXPECT_EQ(step_of(s.plan()), "leave-former-region");
  s.w.former.clear();
  EXPECT_EQ(step_of(s.plan()), "remove-finalizer");
}

TEST(KryptonPlan, CleaningUpGoesStepByStep) {
  deployment_situation s;
  s.release(status::deployed);
  s.object().meta.deletion_timestamp = noon;
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "tell-deletion");
  EXPECT_EQ(events_of(p), "DeleteStarted");
  s.deleted();
  s.w.running = operation::upgrade;
  EXPECT_EQ(step_of(s.plan()), "stop-operation");
  s.w.running = operation::none;
  EXPECT_EQ(step_of(s.plan()), "uninstall");
  s.w.release.reset();
  p = s.plan();
  EXPECT_EQ(step_of(p), "delete-namespace");
  EXPECT_EQ(events_of(p), "EdgeNamespaceDeleteRequested");
  s.w.workspace.owner = "";
  p = s.plan();
  EXPECT_EQ(step_of(p), "remove-finalizer");
  EXPECT_EQ(events_of(p), "FinalizerRemoved");
}

TEST(KryptonPlan, AnUpgradeHappensForAnotherFingerprintOnly) {
  deployment_situation s;
  s.settled();
  s.loaded();
  s.noted("another");
  EXPECT_EQ(step_of(s.plan()), "upgrade");
  s.w.applied = "f";
  EXPECT_EQ(step_of(s.plan()), "note-fingerprint");
}

TEST(KryptonPlan, AFailureWaitsAndIsNotToldAgain) {
  deployment_situation s;
  s.loaded();
  s.w.retry_in = 60s;
  const auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(events_of(p), "");
  EXPECT_EQ(p.again_in, 60s);
  EXPECT_EQ(pause_after(retry_cause::edge_operation, 1), 60s);
  EXPECT_EQ(pause_after(retry_cause::edge_operation, 2), 120s);
  EXPECT_EQ(pause_after(retry_cause::edge_operation, 9), 900s);
}

TEST(KryptonPlan, APendingReleaseIsRecoveredAfterItsLongerTimeout) {
  deployment_situation s;
  s.release(status::pending_upgrade).last_deployed = noon - 300s;
  EXPECT_EQ(s.plan().again_in, 30s);
  s.w.release->last_deployed = noon - 330s;
  EXPECT_EQ(step_of(s.plan()), "recover");
}

TEST(KryptonPlan, OfTwoHomesOneHasTheNamespace) {
  deployment_situation s;
  s.settled();
  s.w.workspace.owner = "Tenant/default/shop";
  s.w.others = {{{"Tenant", {"default", "shop"}}, noon - 2h}};
  const auto p = s.plan();
  EXPECT_EQ(says(p), "Error/NamespaceConflict");
  EXPECT_EQ(p.is->message, "namespace shop belongs to Tenant/default/shop");
  s.deleted();
  EXPECT_EQ(step_of(s.plan()), "remove-finalizer") << "and never uninstalls the other's";
}

TEST(KryptonPlan, AHealthCheckThatFailsIsSaid) {
  deployment_situation s;
  s.settled();
  s.w.check_problem = "list deployments: forbidden";
  const auto p = s.plan();
  EXPECT_EQ(says(p), "Error/HealthCheckFailed");
  EXPECT_EQ(events_of(p), "");
  EXPECT_EQ(p.again_in, 30s);
}

TEST(KryptonStatus, HasOneConditionAndMovesItsTimeWithTheStatus) {
  deployment_situation s;
  s.object().status =
      status_after(s.object(), failed_deployment("Bearer abcdefghijklmnop"), "", noon);
  ASSERT_EQ(s.object().status.conditions.size(), 1u);
  EXPECT_EQ(s.object().status.conditions[0].type, "Ready");
  EXPECT_EQ(s.object().status.conditions[0].reason, "HelmFailed");
  EXPECT_EQ(s.object().status.phase, "Error");
  EXPECT_EQ(s.object().status.last_message.find("abcdefghijklmnop"), std::string::npos);
  const auto ready = status_after(s.object(), {"Ready", "Deployed", "d"}, "r/n:v", noon + 1min);
  EXPECT_EQ(ready.phase, "Ready");
  EXPECT_EQ(ready.last_applied_chart, "r/n:v");
  EXPECT_NE(ready.conditions[0].last_transition_time,
            s.object().status.conditions[0].last_transition_time);
}

TEST(KryptonTables, HaveTheReasonsOfTheContract) {
  std::set<std::string> reasons, events;
  for (const auto& c : deployment_conditions) reasons.emplace(c.reason);
  EXPECT_EQ(reasons, (std::set<std::string>{"AccountMissing", "Deployed", "EdgeUnavailable",
                                            "HealthCheckFailed", "HelmFailed", "NamespaceConflict",
                                            "NamespaceFailed", "NamespaceReserved", "NotReady",
                                            "RepairTriggered"}));
  for (const auto& e : deployment_event::table) EXPECT_TRUE(events.emplace(e.reason).second);
  EXPECT_EQ(events.size(), 24u);
}

TEST(KryptonCrd, IsTheOneOfTheContract) {
  std::ifstream in(WINDLASS_SOURCE_DIR "/deploy/crds/tenants/kryptondeployments.yaml");
  std::stringstream text;
  text << in.rdbuf();
  const auto all = formats::parse_kubernetes_yaml(text.str(), "kryptondeployments.yaml");
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->at_pointer("/metadata/name"), "kryptondeployments.mesh.openkcm.io");
  EXPECT_EQ(all->at_pointer("/spec/names/shortNames/0"), "kd");
  EXPECT_EQ(all->at_pointer("/spec/scope"), "Namespaced");
  const auto& spec = all->at_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
  EXPECT_EQ(spec.at("required"), boost::json::parse(R"(["account","region"])"));
  EXPECT_EQ(spec.at_pointer("/properties/account/required/0"), "name");
  EXPECT_EQ(spec.at_pointer("/properties/region/required/0"), "name");
}

}  // namespace
}  // namespace helm::tenants
