#include "formats/yaml/yaml.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "k8s/informer/view.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace helm::tenants {
namespace {

namespace json = boost::json;

TEST(TenantNames, T10_AReleaseIsNamedAfterTenantAndCluster) {
  EXPECT_EQ(names::release_name("x", "a"), "tenant-x-a");
  EXPECT_EQ(names::release_name("x", "b"), "tenant-x-b");
  EXPECT_EQ(names::release_name("e2e-acme", "demo-remote-1"), "tenant-e2e-acme-demo-remote-1");
  EXPECT_EQ(names::deployment_release_name("shop"), "ced-shop");
}

TEST(TenantNames, T11_ALongReleaseIsTheSameAtEveryStart) {
  EXPECT_EQ(
      names::release_name("customer-platform-emea-0042", "production-eu-central-1-kubeconfig"),
      "tenant-customer-platform-emea-0042-product-13c3a9e22d");
  for (std::size_t n = 1; n < 254; ++n) {
    const std::string name = names::release_name(std::string(n, 'x'), "a");
    EXPECT_LE(name.size(), names::release_limit);
    const std::string full = "tenant-" + std::string(n, 'x') + "-a";
    EXPECT_EQ(name == full, full.size() <= names::release_limit) << n;
  }
  // What is cut off may leave an end that no name has.
  const std::string cut = names::release_name(std::string(33, 'x') + "-.", std::string(30, 'b'));
  EXPECT_EQ(cut.find("x-"), cut.rfind('-') - 1) << cut;
}

TEST(TenantNames, T12_AnAnnotationTakesEveryClustersName) {
  const auto part = [](const std::string& cluster) {
    const std::string key = names::fingerprint_annotation(cluster);
    return key.substr(key.find('/') + 1);
  };
  EXPECT_EQ(part("demo-remote-1"), "fingerprint-demo-remote-1");
  EXPECT_EQ(part(std::string(51, 'c')), "fingerprint-" + std::string(51, 'c'));
  std::set<std::string> different;
  for (std::size_t n = 1; n <= 253; ++n) {
    const std::string key = part(std::string(n, 'c'));
    EXPECT_LE(key.size(), names::annotation_limit);
    different.insert(key);
  }
  EXPECT_EQ(different.size(), 253u);
  EXPECT_EQ(part(std::string(39, 'c') + "-" + std::string(23, 'd')).substr(12, 40),
            std::string(39, 'c') + "-")
      << "the dash before the digest is not doubled";
}

TEST(TenantNames, AnOwnerReadsBackAndNothingElseDoes) {
  const names::owner_reference owner{"Tenant", {"default", "acme"}};
  EXPECT_EQ(owner.text(), "Tenant/default/acme");
  EXPECT_EQ(names::read_owner(owner.text()), owner);
  for (const char* wrong :
       {"", "Tenant", "Tenant/acme", "/a/b", "Tenant//b", "Tenant/a/", "Tenant/a/b/c"})
    EXPECT_FALSE(names::read_owner(wrong)) << wrong;
}

k8s::result<tenant> read(const std::string& rest, const std::string& meta = "") {
  return k8s::parse_view<tenant>(
      R"({"metadata":{"name":"acme","namespace":"default","uid":"u","resourceVersion":"5",)"
      R"("generation":3,"creationTimestamp":"2026-11-22T11:00:00Z")" +
      meta + "}" + rest + "}");
}

TEST(TenantView, HasWhatDecides) {
  const auto t = read(
      R"(,"spec":{"clusterRef":{"secretName":"a","secretNamespace":"fleet"}},)"
      R"("status":{"phase":"Ready","lastMessage":"m","lastAppliedChart":"c","observedGeneration":2,)"
      R"("conditions":[{"type":"ClusterReady/a","status":"True","reason":"Installed","message":"",)"
      R"("lastTransitionTime":"2026-11-22T11:00:00Z"}]})",
      R"(,"annotations":{"mesh.openkcm.io/fingerprint-a":"f","other":"x"},)"
      R"("finalizers":["mesh.openkcm.io/cleanup"])");
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->target, (cluster_ref{"a", "fleet"}));
  EXPECT_EQ(t->created, *reactor::parse_rfc3339("2026-11-22T11:00:00Z"));
  EXPECT_EQ(t->fingerprint("a"), "f");
  EXPECT_EQ(t->fingerprint("b"), "");
  EXPECT_EQ(t->meta.annotations.size(), 1u);
  EXPECT_EQ(t->status.phase, "Ready");
  EXPECT_EQ(t->status.observed_generation, 2);
  ASSERT_EQ(t->status.conditions.size(), 1u);
  EXPECT_TRUE(t->problem.empty());
}

TEST(TenantView, AnEmptySpecIsEnough) {
  for (const char* spec :
       {R"(,"spec":{})", "", R"(,"spec":{"clusterRef":{}})", R"(,"spec":{"clusterRef":null})"}) {
    const auto t = read(spec);
    ASSERT_TRUE(t) << spec;
    EXPECT_EQ(t->target, cluster_ref{}) << spec;
    EXPECT_TRUE(t->problem.empty()) << spec;
  }
}

TEST(TenantView, WhatCannotBeReadIsNamedByItsPathAndBlindsNobody) {
  const std::pair<const char*, const char*> rows[] = {
      {R"(,"spec":[])", "spec: must be an object, is a list"},
      {R"(,"spec":{"clusterRef":"a"})", "spec.clusterRef: must be an object, is a text"},
      {R"(,"spec":{"clusterRef":{"secretName":7}})",
       "spec.clusterRef.secretName: must be a text, is a number"},
      {R"(,"spec":{"clusterRef":{"secretNamespace":{}}})",
       "spec.clusterRef.secretNamespace: must be a text, is an object"},
  };
  for (const auto& [spec, problem] : rows) {
    const auto t = read(spec);
    ASSERT_TRUE(t) << spec;
    EXPECT_EQ(t->problem, problem);
  }
  const auto odd = read(R"(,"status":{"phase":5,"conditions":{},"observedGeneration":"x"})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->status, tenant_status{});
}

TEST(TenantView, T9_LegacyKeysDoNotDisturb) {
  const auto t = read(R"(,"spec":{"workspace":"w","chart":{"name":"n"}})");
  ASSERT_TRUE(t);
  EXPECT_TRUE(t->problem.empty());
}

TEST(TenantView, AChangeOfStatusAloneWakesNobody) {
  const auto a = read("");
  auto b = read(R"(,"status":{"phase":"Ready"})");
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(wakes(*a, *b));
  const std::string annotated = R"(,"annotations":{"mesh.openkcm.io/fingerprint-a":"f"})";
  EXPECT_TRUE(wakes(*a, *read("", annotated)));
  EXPECT_TRUE(wakes(*a, *read("", R"(,"deletionTimestamp":"2026-11-22T12:00:00Z")")));
  EXPECT_TRUE(wakes(*a, *read(R"(,"spec":{"clusterRef":{"secretName":"b"}})")));
  EXPECT_FALSE(wakes(*a, *read("", R"(,"labels":{"x":"y"})")));
}

TEST(TenantView, TheStatusPatchHasWhatDiffersAndAVersion) {
  tenant_status from, to;
  to.phase = "Ready";
  to.last_message = "m";
  EXPECT_TRUE(status_patch(to, to, "7").empty());
  EXPECT_EQ(json::serialize(status_patch(from, to, "7")),
            R"({"metadata":{"resourceVersion":"7"},"status":{"phase":"Ready","lastMessage":"m"}})");
  EXPECT_EQ(json::serialize(status_patch(to, from, "8")),
            R"({"metadata":{"resourceVersion":"8"},"status":{"phase":null,"lastMessage":null}})");
}

std::set<std::string> words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(TenantTables, HaveTheEventsOfTheOriginalAndOfWhatItDidNotKnow) {
  std::set<std::string> normal, warning;
  for (const auto& e : tenant_event::table)
    (e.type == k8s::event_severity::normal ? normal : warning).emplace(e.reason);
  EXPECT_EQ(normal, words("HelmInstallStart HelmInstalled HelmUpgradeStart HelmUpgraded HelmSkip "
                          "PhaseSet FingerprintUpdated WorkspaceCreated WorkspaceExists "
                          "FinalizerAdded DeleteStarted HelmUninstalled WorkspaceDeleteRequested "
                          "FinalizerRemoved CleanupSkipped"));
  EXPECT_EQ(warning,
            words("HelmInstallFailed HelmUpgradeFailed ChartNotLoaded ChartVersionNotFound "
                  "ChartVersionInvalid FingerprintUpdateFailed WorkspaceCreateFailed "
                  "HelmConfigInitFailed StatusUpdateFailed HelmUninstallFailed ReleaseRecovered "
                  "NamespaceConflict ClusterRefMismatch DriftDetected RepairTriggered "
                  "CRDEnsureFailed WorkspaceOpen NamespaceReserved ReleaseNotNoted"));
}

TEST(TenantTables, HaveTheConditionsOfTheOriginalAndOfWhatItDidNotKnow) {
  std::set<std::string> is;
  for (const auto& c : tenant_conditions)
    is.insert(std::string(c.type.substr(0, c.type.find('/'))) + std::string(c.status) + ":" +
              std::string(c.reason));
  EXPECT_EQ(
      is,
      words("ClusterReadyTrue:Installed ClusterReadyTrue:Upgraded "
            "ClusterReadyTrue:NoChange ClusterReadyTrue:Drifted ClusterReadyFalse:InstallFailed "
            "ClusterReadyFalse:UpgradeFailed ClusterReadyFalse:NamespaceFailed "
            "ClusterReadyFalse:NamespaceConflict ClusterReadyFalse:NamespaceReserved "
            "ClusterErrorTrue:NamespaceReserved ClusterErrorTrue:InstallFailed "
            "ClusterErrorTrue:UpgradeFailed ClusterErrorTrue:UninstallFailed "
            "ClusterErrorTrue:NamespaceFailed ClusterErrorTrue:NamespaceConflict "
            "ClusterErrorTrue:ChartNotLoaded ClusterErrorTrue:VersionNotFound "
            "ClusterErrorTrue:VersionInvalid ClusterErrorFalse:Resolved "
            "ClusterProgressTrue:Installing ClusterProgressTrue:Upgrading "
            "ClusterProgressTrue:Deleting ClusterProgressTrue:NamespaceTerminating "
            "ClusterProgressFalse:InstallComplete ClusterProgressFalse:UpgradeComplete "
            "ClusterProgressFalse:InstallFailed ClusterProgressFalse:UpgradeFailed "
            "ClusterProgressFalse:Held ClusterPlanTrue:UpToDate ClusterPlanFalse:Held "
            "ClusterPlanFalse:Install ClusterPlanFalse:Upgrade "
            "ClusterPlanFalse:Uninstall"));
}

TEST(TenantTables, HaveTheMetricsOfTheContractWithoutANameOfATenant) {
  std::set<std::string> is;
  for (const auto& k : tenant_metrics::all) {
    is.emplace(k.name);
    for (const auto label : k.labels) EXPECT_NE(label, "tenant") << k.name;
  }
  // krypton_kubeconfig_reloads_total is the fleet's.
  EXPECT_EQ(is, words("windlass_children_ended_total windlass_chart_renders_total krypton_tenants "
                      "krypton_tenants_ready "
                      "krypton_tenants_error "
                      "krypton_cluster_state krypton_helm_operations_total "
                      "krypton_helm_operation_seconds krypton_reconcile_total "
                      "krypton_reconcile_seconds krypton_queue_depth "
                      "krypton_fingerprint_updates_total krypton_chart_loads_total "
                      "krypton_drift_repairs_total krypton_kryptondeployments "
                      "krypton_build_info"));
}

TEST(TenantTables, M1_EachMetricCanBeMadeAndItsSeriesGoWithTheCluster) {
  reactor::metrics m;
  for (const auto& k : tenant_metrics::all) {
    reactor::metric_labels labels;
    for (const auto label : k.labels)
      if (!label.empty()) labels.emplace(label, label == "cluster" ? "a" : "x");
    if (k.type == reactor::metric_type::counter) m.get_counter(k, labels).add();
    if (k.type == reactor::metric_type::gauge) m.get_gauge(k, labels).set(3);
    if (k.type == reactor::metric_type::histogram) m.get_histogram(k, labels).observe(1);
  }
  const std::string text = m.text();
  EXPECT_NE(text.find("krypton_tenants_ready{cluster=\"a\"} 3\n"), text.npos) << text;
  EXPECT_NE(text.find("krypton_tenants_error{cluster=\"a\"} 3\n"), text.npos) << text;
  m.drop("cluster", "a");
  EXPECT_EQ(m.text().find("cluster=\"a\""), std::string::npos);
}

TEST(TenantTables, LinesOfTheLogAreThoseThatScriptsWaitFor) {
  EXPECT_EQ(log_line::namespace_made, "workspace workspace namespace created");
  EXPECT_EQ(log_line::installed, "helm install success");
  EXPECT_EQ(log_line::upgraded, "helm upgrade success");
  EXPECT_EQ(log_line::chart_missing, "chart not loaded; skipping helm action");
  EXPECT_TRUE(log_line::install_failed.starts_with("helm install failed"));
  EXPECT_TRUE(log_line::unchanged.starts_with("fingerprint unchanged"));
  EXPECT_NE(log_line::crd_failed.find("CRD ensure failed"), std::string_view::npos);
}

TEST(TenantTables, NoHoldOfOursIsOneOfEveryApi) {
  std::set<std::string_view> all;
  for (const auto& k : units::hold_code::of_every_api) all.insert(k.code);
  for (const auto& k : hold_code::of_tenants) EXPECT_TRUE(all.insert(k.code).second) << k.code;
}

json::value crd(const std::string& file) {
  std::ifstream in(std::string(WINDLASS_SOURCE_DIR) + "/deploy/crds/tenants/" + file);
  std::stringstream text;
  text << in.rdbuf();
  auto read = formats::parse_kubernetes_yaml(text.str(), file);
  EXPECT_TRUE(read) << read.error().message();
  return read ? *read : json::value();
}

TEST(TenantCrd, N1_IsTheOneOfTheContract) {
  const json::value all = crd("tenants.yaml");
  EXPECT_EQ(all.at_pointer("/metadata/name"), "tenants.mesh.openkcm.io");
  EXPECT_EQ(all.at_pointer("/metadata/annotations/mesh.openkcm.io~1crd-revision"),
            json::value(std::to_string(names::our_crd_revision)));
  EXPECT_EQ(all.at_pointer("/spec/scope"), "Namespaced");
  EXPECT_EQ(all.at_pointer("/spec/names/listKind"), "TenantList");
  EXPECT_EQ(all.at_pointer("/spec/names/singular"), "tenant");
  EXPECT_EQ(all.at_pointer("/spec/names/shortNames"), json::parse(R"(["tenant"])"));
  const json::value& version = all.at_pointer("/spec/versions/0");
  EXPECT_EQ(all.at_pointer("/spec/versions").as_array().size(), 1u);
  EXPECT_EQ(version.at("name"), "v1alpha1");
  EXPECT_TRUE(version.at("served").as_bool() && version.at("storage").as_bool());
  EXPECT_TRUE(version.at("subresources").as_object().contains("status"));
  std::string columns;
  for (const json::value& c : version.at("additionalPrinterColumns").as_array())
    columns += std::string(c.at("name").as_string()) + "=" +
               std::string(c.at("jsonPath").as_string()) + " ";
  EXPECT_EQ(columns,
            "Phase=.status.phase Chart=.status.lastAppliedChart Age=.metadata.creationTimestamp ");
  const json::value& schema = version.at_pointer("/schema/openAPIV3Schema/properties");
  EXPECT_FALSE(schema.at("spec").as_object().contains("required")) << "spec: {} is valid";
  const json::value& type =
      schema.at_pointer("/status/properties/conditions/items/properties/type");
  EXPECT_FALSE(type.as_object().contains("pattern")) << "ClusterReady/a would be refused";
  EXPECT_EQ(type.at("maxLength"), 316);
  EXPECT_EQ(schema.at_pointer("/status/properties/phase/enum"),
            json::parse(R"(["Ready","Pending","Error"])"));
}

TEST(TenantCrd, T9_KnowsNoLegacyKey) {
  const json::value all = crd("tenants.yaml");
  const json::value& spec =
      all.at_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
  EXPECT_EQ(spec.at("properties").as_object().size(), 1u);
  EXPECT_TRUE(spec.at("properties").as_object().contains("clusterRef"));
  EXPECT_FALSE(spec.as_object().contains("x-kubernetes-preserve-unknown-fields"));
}

}  // namespace
}  // namespace helm::tenants
