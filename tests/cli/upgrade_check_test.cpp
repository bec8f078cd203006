// `windlass check upgrade` against an embedded API server in virtual time, and against answers of
// an older one.
#include "formats/base64.hpp"
#include "helm/charts/chart.hpp"
#include "helm/release/record.hpp"
#include "helm/upgrades/cluster_reading.hpp"
#include "helm/upgrades/upgrade_gate.hpp"
#include "helm/upgrades/upgrade_report.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "tests/cli/schema.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <string>

namespace cli {
namespace {

namespace json = boost::json;
using helm::removals::finding;
using helm::upgrades::cluster_reading;
using helm::upgrades::unseen;
using reactor::awaitable;

constexpr const char* manifest = R"(---
apiVersion: policy/v1beta1
kind: PodSecurityPolicy
metadata: {name: strict}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: web}
)";

class UpgradeCheck : public testing::Test {
protected:
  reactor::loop l{reactor::loop::mode::simulated, 3};
  k8s::sim::api_server home{k8s::sim::options_on(l)};
  k8s::sim::server front{l, {.at = {"home", 6443}, .tls = nullptr}};
  cluster_reading read;
  std::vector<finding> rows;
  std::size_t left_out = 0;
  std::vector<std::string> told;

  UpgradeCheck() {
    for (const char* ns : {"shop", "bootc-operator"})
      home.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
  }
  /// Reads the cluster for 1.`minor`.
  void look(int minor) {
    front.add(home);
    ASSERT_TRUE(front.start());
    reactor::run_task(l, [&]() -> awaitable<void> {
      k8s::connection to;
      to.server = front.url();
      k8s::client api(l, std::move(to));
      k8s::discovery served(api);
      helm::removals::findings found(minor);
      helm::upgrades::reading_options how;
      how.tell = [&](const std::string& line) { told.push_back(line); };
      std::string name = "prod";
      read = co_await helm::upgrades::read_cluster(l, api, served, std::move(name), found,
                                                   std::move(how));
      rows = found.rows();
      left_out = found.left_out();
      co_await api.stop();
      co_await front.stop();
    });
  }
  void put(const char* text) { home.put(json::parse(text).as_object()); }
  /// A revision of a release as Helm keeps it.
  void release(const std::string& name, int revision, const std::string& status,
               const std::string& text, const char* kind = "Secret",
               std::shared_ptr<const helm::chart> chart = nullptr) {
    helm::release::record r;
    r.origin = std::move(chart);
    r.name = name;
    r.ns = "shop";
    r.revision = revision;
    r.state = helm::release::read_status(status);
    r.manifest = text;
    std::string stored = *helm::release::encode_record(r);
    const bool is_secret = std::string_view(kind) == "Secret";
    if (is_secret) stored = formats::encode_base64(stored);
    json::object o{{"apiVersion", "v1"}, {"kind", kind}, {"data", {{"release", stored}}}};
    o["metadata"] = {{"name", helm::release::storage_name(name, revision)},
                     {"namespace", "shop"},
                     {"labels",
                      {{"owner", "helm"},
                       {"name", name},
                       {"status", status},
                       {"version", std::to_string(revision)}}}};
    if (is_secret) o["type"] = "helm.sh/release.v1";
    home.put(std::move(o));
  }
  const finding* row(const std::string& object) const {
    const auto found =
        std::ranges::find_if(rows, [&](const finding& f) { return f.object() == object; });
    return found == rows.end() ? nullptr : &*found;
  }
  std::string shown() const {
    std::string out;
    for (const finding& f : rows) out += f.object() + ": " + f.message() + "\n";
    for (const unseen& u : read.not_seen) out += u.what + ": " + u.why + "\n";
    return out;
  }
  const unseen* not_seen(const std::string& what) const {
    const auto found = std::ranges::find(read.not_seen, what, &unseen::what);
    return found == read.not_seen.end() ? nullptr : &*found;
  }
  helm::upgrades::upgrade_report report(int minor) const {
    helm::upgrades::upgrade_report out;
    out.to = minor;
    out.clusters = {{read, {{"env", "prod"}}}};
    out.rows = rows;
    return out;
  }
};

TEST_F(UpgradeCheck, NamesReleasesAndDefinitionsWithOwnerAndReplacement) {
  release("web", 1, "superseded",
          "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: old}");
  release("web", 2, "deployed", manifest);
  release("web", 3, "failed", "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: new}");
  release("maps", 1, "deployed", "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: map}",
          "ConfigMap");
  release("gone", 1, "uninstalled", manifest);
  put(R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "shops.example.com", "managedFields": [
      {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsType": "FieldsV1",
       "apiVersion": "apiextensions.k8s.io/v1beta1", "time": "2021-01-01T00:00:00Z",
       "fieldsV1": {"f:spec": {"f:group": {}}}}]},
    "spec": {"group": "example.com", "scope": "Namespaced",
      "names": {"plural": "shops", "kind": "Shop"},
      "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]}})");
  look(25);
  EXPECT_EQ(read.releases, 2u);
  ASSERT_EQ(rows.size(), 4u) << shown();
  const finding* policy = row("PodSecurityPolicy/strict");
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->owner.text(), "Helm release shop/web");
  EXPECT_EQ(policy->replacement, "");
  const finding* budget = row("PodDisruptionBudget/web");
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->ns, "shop");
  EXPECT_EQ(budget->replacement, "policy/v1");
  const finding* crd = row("CustomResourceDefinition/shops.example.com");
  ASSERT_TRUE(crd);
  EXPECT_EQ(crd->owner.text(), "field manager kubectl-client-side-apply");
  EXPECT_EQ(crd->replacement, "apiextensions.k8s.io/v1");
  EXPECT_EQ(crd->removed_in, 22);
  EXPECT_TRUE(row("CronJob/map")) << "a release may be kept in ConfigMaps";

  const auto r = report(25);
  auto shown = helm::upgrades::rows_of(r, app::output_format::text);
  EXPECT_EQ(helm::upgrades::counted(shown), 4u);
  json::object document = helm::upgrades::report_document(r, shown);
  document["findings"] = json::array();
  for (const auto& o : shown.objects()) document["findings"].as_array().push_back(o.body);
  document["items"] = shown.items();
  EXPECT_EQ(breaks_schema(document), "");
  EXPECT_EQ(helm::upgrades::report_github(r, shown).find("::error title=prod/"), 0u);
}

TEST_F(UpgradeCheck, NamesAPolicyThatAServerOfBeforeStillServes) {
  home.be("v1.24.17");
  put(R"({"apiVersion": "policy/v1beta1", "kind": "PodSecurityPolicy",
    "metadata": {"name": "strict", "annotations": {"meta.helm.sh/release-name": "policies",
                                                   "meta.helm.sh/release-namespace": "shop"}},
    "spec": {"privileged": false}})");
  look(25);
  EXPECT_EQ(read.version, "v1.24.17");
  ASSERT_EQ(rows.size(), 1u) << shown();
  EXPECT_EQ(rows[0].object(), "PodSecurityPolicy/strict");
  EXPECT_EQ(rows[0].owner.text(), "Helm release shop/policies");
  EXPECT_EQ(rows[0].removed_in, 25);
  home.be("v1.25.0");
  k8s::sim::request gone = k8s::sim::make_request("GET", "/apis/policy/v1beta1");
  EXPECT_EQ(home.handle(gone).status, 404);
}

TEST_F(UpgradeCheck, SaysWhatItMayNotLookAtAndGoesOn) {
  put(R"({"apiVersion": "batch/v1", "kind": "CronJob",
    "metadata": {"name": "nightly", "namespace": "shop", "managedFields": [
      {"manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1",
       "apiVersion": "batch/v1beta1", "time": "2021-01-01T00:00:00Z",
       "fieldsV1": {"f:spec": {"f:schedule": {}}}}]},
    "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": {"spec":
      {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}}}}})");
  home.access().authorize = [](const std::string&, const k8s::sim::request& r) {
    return r.path != "/api/v1/secrets" && r.path.find("/ingresses") == std::string::npos;
  };
  look(25);
  ASSERT_TRUE(not_seen("secrets"));
  EXPECT_EQ(not_seen("secrets")->is, unseen::weight::needed);
  EXPECT_TRUE(not_seen("ingresses"));
  // The embedded server has no metrics.
  ASSERT_TRUE(not_seen("metrics"));
  EXPECT_EQ(not_seen("metrics")->is, unseen::weight::extra);
  EXPECT_TRUE(row("CronJob/nightly"));
  const auto r = report(25);
  EXPECT_TRUE(r.is_partial());
  const auto shown = helm::upgrades::rows_of(r, app::output_format::text);
  const std::string text = helm::upgrades::around(r, shown).tail.text();
  EXPECT_NE(text.find("prod: not looked at: secrets"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("on 1 of 1 cluster; the answer is partial\n")) << text;
}

helm::upgrades::gate_facts facts_of(std::vector<finding> rows) {
  helm::upgrades::gate_facts out;
  out.read.cluster = "prod";
  out.rows = std::move(rows);
  out.from = 24;
  out.to = 25;
  return out;
}
finding budget(const std::string& name, int removed_in) {
  finding f;
  f.cluster = "prod";
  f.ns = "shop";
  f.kind = "PodDisruptionBudget";
  f.name = name;
  f.api_version = "policy/v1beta1";
  f.removed_in = removed_in;
  f.owner = {helm::removals::object_owner::kind::release, "shop/web"};
  return f;
}
using answer = units::upgrade_answer::kind;

TEST(UpgradeGate, HoldsForWhatTheStepBreaksAndNothingThatWasGoneBefore) {
  EXPECT_EQ(helm::upgrades::judge(facts_of({budget("web", 22), budget("old", 24)}), {}, {}).is,
            answer::fine);
  const auto held = helm::upgrades::judge(
      facts_of({budget("a", 25), budget("b", 25), budget("c", 25), budget("d", 25)}), {}, {});
  EXPECT_EQ(held.is, answer::found);
  EXPECT_EQ(held.sentence,
            "Kubernetes 1.25 breaks what this cluster uses: shop/PodDisruptionBudget/a "
            "(policy/v1beta1, Helm release shop/web), shop/PodDisruptionBudget/b (policy/v1beta1, "
            "Helm release shop/web), shop/PodDisruptionBudget/c (policy/v1beta1, Helm release "
            "shop/web) and 1 more; `windlass check upgrade --to 1.25 --cluster prod` lists all");
  // No release removes it: a webhook without its Service.
  EXPECT_EQ(helm::upgrades::judge(facts_of({budget("hook", 0)}), {}, {}).is, answer::found);
}

TEST(UpgradeGate, WhatCouldNotBeLookedAtIsNoPass) {
  auto partial = facts_of({});
  partial.read.not_seen = {{"secrets", "forbidden"}, {"metrics", "none", unseen::weight::extra}};
  const auto held = helm::upgrades::judge(partial, {}, {});
  EXPECT_EQ(held.is, answer::unknown);
  EXPECT_EQ(held.sentence,
            "it is not known what of this cluster Kubernetes 1.25 would break: secrets: forbidden; "
            "`windlass check upgrade --to 1.25 --cluster prod` says all");
  partial.read.not_seen.erase(partial.read.not_seen.begin());
  EXPECT_EQ(helm::upgrades::judge(partial, {}, {}).is, answer::fine) << "metrics only add to it";
  auto many = facts_of({});
  many.left_out = 1;
  EXPECT_EQ(helm::upgrades::judge(many, {}, {}).is, answer::unknown);
}

TEST(UpgradeGate, AWaiverCountsUntilItsLastDay) {
  const auto may = *reactor::parse_rfc3339("2027-05-01T00:00:00Z"),
             june = *reactor::parse_rfc3339("2027-06-01T00:00:00Z");
  const std::vector<helm::removals::waiver> until_may = {
      {"*", "shop/*/*", "policy/v1beta1", "the chart moves", "2027-05-31"}};
  EXPECT_EQ(helm::upgrades::judge(facts_of({budget("a", 25)}), until_may, may).is, answer::fine);
  EXPECT_EQ(helm::upgrades::judge(facts_of({budget("a", 25)}), until_may, june).is, answer::found);
}

TEST_F(UpgradeCheck, NamesAReleaseWhoseChartDoesNotTakeTheNewerKubernetes) {
  home.be("v1.24.17");
  auto chart = std::make_shared<helm::chart>();
  chart->meta.name = "web";
  chart->meta.version = "1.2.0";
  chart->meta.kube_version = "<1.25.0-0";
  release("web", 1, "deployed", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}", "Secret",
          chart);
  look(25);
  ASSERT_EQ(rows.size(), 1u) << shown();
  EXPECT_EQ(rows[0].object(), "Release/web");
  EXPECT_EQ(rows[0].owner.text(), "Helm release shop/web");
  EXPECT_EQ(
      helm::upgrades::judge(facts_of(rows), {}, {}).sentence,
      "Kubernetes 1.25 breaks what this cluster uses: shop/Release/web (its chart web-1.2.0 "
      "takes Kubernetes <1.25.0-0 and not 1.25, so that its next upgrade would fail, Helm release "
      "shop/web); "
      "`windlass check upgrade --to 1.25 --cluster prod` lists all");
}

TEST_F(UpgradeCheck, ToldOfMetricsAloneTheAnswerIsWhole) {
  look(25);
  EXPECT_TRUE(rows.empty());
  EXPECT_EQ(read.not_seen.size(), 1u);
  EXPECT_FALSE(report(25).is_partial());
}

TEST_F(UpgradeCheck, NamesTheTenantOfAReleaseThatTheServicePlaced) {
  release("web", 1, "deployed", manifest);
  put(R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "windlass-placed-0", "namespace": "bootc-operator"},
    "data": {"shop.web": "{\"owner\": \"Tenant/default/acme\", \"records\": []}"}})");
  look(25);
  ASSERT_TRUE(row("PodSecurityPolicy/strict"));
  EXPECT_EQ(row("PodSecurityPolicy/strict")->owner.text(), "Tenant default/acme");
}

TEST_F(UpgradeCheck, NamesTheFleetChartOfAReleaseThatTheServicePlaced) {
  release("web", 1, "deployed", manifest);
  put(R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "windlass-placed-0", "namespace": "bootc-operator"},
    "data": {"shop.web": "{\"owner\": \"FleetChart/default/shop\", \"records\": []}"}})");
  look(25);
  ASSERT_TRUE(row("PodSecurityPolicy/strict"));
  EXPECT_EQ(row("PodSecurityPolicy/strict")->owner.text(), "FleetChart default/shop");
}

TEST_F(UpgradeCheck, RecordsOfStrangersThatCannotBeReadAreToldOf) {
  release("web", 1, "deployed", "a: &a [*a]\n---\nb: [");
  put(R"({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
    "metadata": {"name": "sh.helm.release.v1.bad.v1", "namespace": "shop", "labels":
      {"owner": "helm", "name": "bad", "version": "1", "status": "deployed"}},
    "data": {"release": "bm90aGluZw=="}})");
  look(25);
  EXPECT_TRUE(not_seen("record shop/sh.helm.release.v1.web.v1"));
  EXPECT_TRUE(not_seen("record shop/sh.helm.release.v1.bad.v1"));
  EXPECT_TRUE(report(25).is_partial());
}

/// What a server of 1.24 answers, as far as it is asked.
std::optional<k8s::sim::answer> of_an_older_server(const k8s::sim::request& r) {
  const auto answer = [](std::string body, std::string type = "application/json") {
    k8s::sim::answer a;
    a.body = std::move(body);
    a.content_type = std::move(type);
    return a;
  };
  const auto list = [&](const std::string& items) {
    return answer(R"({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                      "metadata": {"resourceVersion": "1"}, "items": [)" +
                  items + "]}");
  };
  const auto group = [](const std::string& name, const std::string& versions) {
    return R"({"name": ")" + name + R"(", "versions": [)" + versions +
           R"(], "preferredVersion": )" + versions.substr(0, versions.find('}') + 1) + "}";
  };
  const auto version = [](const std::string& v) {
    return R"({"groupVersion": ")" + v + R"(", "version": ")" + v.substr(v.find('/') + 1) + R"("})";
  };
  const auto resources = [&](const std::string& v, const std::string& all) {
    return answer(R"({"kind": "APIResourceList", "groupVersion": ")" + v + R"(", "resources": [)" +
                  all + "]}");
  };
  const std::string psp = R"({"name": "podsecuritypolicies", "singularName": "",
    "namespaced": false, "kind": "PodSecurityPolicy", "verbs": ["list"]})",
                    pdb = R"({"name": "poddisruptionbudgets", "singularName": "",
    "namespaced": true, "kind": "PodDisruptionBudget", "verbs": ["list"]})",
                    hooks = R"({"name": "validatingwebhookconfigurations", "singularName": "",
    "namespaced": false, "kind": "ValidatingWebhookConfiguration", "verbs": ["list"]})";
  if (r.path == "/apis")
    return answer(
        R"({"kind": "APIGroupList", "apiVersion": "v1", "groups": [)" +
        group("policy", version("policy/v1") + "," + version("policy/v1beta1")) + "," +
        group("admissionregistration.k8s.io", version("admissionregistration.k8s.io/v1")) + "]}");
  if (r.path == "/apis/policy/v1") return resources("policy/v1", pdb);
  if (r.path == "/apis/policy/v1beta1") return resources("policy/v1beta1", pdb + "," + psp);
  if (r.path == "/apis/admissionregistration.k8s.io/v1")
    return resources("admissionregistration.k8s.io/v1", hooks);
  if (r.path == "/apis/policy/v1beta1/podsecuritypolicies")
    return list(R"({"metadata": {"name": "strict", "managedFields": [
      {"manager": "kubectl-client-side-apply", "apiVersion": "policy/v1beta1",
       "time": "2021-01-01T00:00:00Z"}]}}, {"metadata": {"name": "bare"}})");
  if (r.path == "/apis/policy/v1/poddisruptionbudgets") return list("");
  if (r.path == "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations")
    return answer(R"({"kind": "ValidatingWebhookConfigurationList",
      "apiVersion": "admissionregistration.k8s.io/v1", "metadata": {}, "items": [{"metadata": {"name": "shop"}, "webhooks": [
      {"name": "a.example.com", "clientConfig":
        {"service": {"namespace": "shop", "name": "none"}}}]}]})");
  if (r.path == "/metrics")
    return answer(
        "# TYPE apiserver_requested_deprecated_apis gauge\n"
        "apiserver_requested_deprecated_apis{group=\"policy\",removed_release=\"1.25\","
        "resource=\"podsecuritypolicies\",subresource=\"\",version=\"v1beta1\"} 1\n",
        "text/plain; version=0.0.4");
  return std::nullopt;
}

TEST_F(UpgradeCheck, NamesLivePoliciesWebhooksWithoutAServiceAndWhatTheServerCounts) {
  std::vector<std::string> asked;
  home.before = [&](const k8s::sim::request& r) {
    asked.push_back(r.path);
    if (r.path.ends_with("/podsecuritypolicies")) {
      EXPECT_EQ(r.fields.get("accept").find("drop="), std::string_view::npos);
    }
    return of_an_older_server(r);
  };
  look(25);
  const finding* policy = row("PodSecurityPolicy/strict");
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->owner.text(), "field manager kubectl-client-side-apply");
  EXPECT_TRUE(row("PodSecurityPolicy/bare")) << "nothing has such objects then";
  const finding* hook = row("ValidatingWebhookConfiguration/shop");
  ASSERT_TRUE(hook) << shown();
  EXPECT_EQ(hook->api_version, "admissionregistration.k8s.io/v1");
  EXPECT_NE(hook->why.find("Service shop/none"), std::string::npos) << hook->why;
  EXPECT_TRUE(row("Requests/podsecuritypolicies"));
  EXPECT_EQ(rows.size(), 4u);
  // A list by the version that goes would be one of the requests that it looks for.
  EXPECT_EQ(std::ranges::count(asked, "/apis/policy/v1beta1/poddisruptionbudgets"), 0);
  EXPECT_TRUE(read.not_seen.empty());
}

TEST_F(UpgradeCheck, SaysThatItMayNotReadMetricsAndThatTheAnswerIsWholeWithoutThem) {
  home.before = [](const k8s::sim::request& r) {
    return r.path == "/metrics" ? std::nullopt : of_an_older_server(r);
  };
  home.access().authorize = [](const std::string&, const k8s::sim::request& r) {
    return r.path != "/metrics";
  };
  look(25);
  ASSERT_TRUE(not_seen("metrics")) << shown();
  EXPECT_NE(not_seen("metrics")->why.find("cannot GET path \"/metrics\""), std::string::npos)
      << not_seen("metrics")->why;
  EXPECT_EQ(read.not_seen.size(), 1u) << shown();
  EXPECT_TRUE(row("PodSecurityPolicy/strict")) << "the other sources say what they say";
  EXPECT_FALSE(row("Requests/podsecuritypolicies"));
  const auto r = report(25);
  EXPECT_FALSE(r.is_partial());
  const auto rows_shown = helm::upgrades::rows_of(r, app::output_format::text);
  const std::string text = helm::upgrades::around(r, rows_shown).tail.text();
  EXPECT_NE(text.find("prod: not looked at: metrics: "), std::string::npos) << text;
  EXPECT_NE(text.find("(the answer is whole without it)"), std::string::npos) << text;
  const json::object document = helm::upgrades::report_document(r, rows_shown);
  const json::object& cluster = document.at("clusters").as_array()[0].as_object();
  EXPECT_EQ(cluster.at("notLookedAt").as_array()[0].as_object().at("needed"), false);
}

/// An object whose manager still writes it by a version that 1.22 removed.
std::string old_ingress(int i) {
  return R"({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
    "metadata": {"namespace": "shop", "name": "web-)" +
         std::to_string(i) + R"(", "managedFields": [
      {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsType": "FieldsV1",
       "apiVersion": "extensions/v1beta1", "time": "2021-01-01T00:00:00Z",
       "fieldsV1": {"f:spec": {"f:defaultBackend": {}}}}]},
    "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}})";
}
constexpr const char* ingresses = "/apis/networking.k8s.io/v1/ingresses";

TEST_F(UpgradeCheck, AListWhoseVersionTheServerForgetsBeginsAgain) {
  constexpr int objects = 1'200;
  for (int i = 0; i < objects; ++i) put(old_ingress(i).c_str());
  int pages = 0;
  home.after = [&](const k8s::sim::request& r, k8s::sim::answer&) {
    if (r.path != ingresses || ++pages != 2) return;
    put(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}})");
    home.compact();
  };
  look(25);
  EXPECT_EQ(pages, 6) << "two, one that is refused, and all three again";
  EXPECT_EQ(read.objects, std::size_t{objects}) << "what was read twice counts once";
  EXPECT_EQ(rows.size(), std::size_t{objects});
  EXPECT_FALSE(not_seen("ingresses"));
  EXPECT_FALSE(report(25).is_partial());
}

TEST_F(UpgradeCheck, AListThatIsCutOffEachTimeIsToldOfAndTheAnswerIsPartial) {
  for (int i = 0; i < 1'200; ++i) put(old_ingress(i).c_str());
  int pages = 0;
  home.after = [&](const k8s::sim::request& r, k8s::sim::answer&) {
    if (r.path != ingresses || ++pages % 2 == 0) return;
    home.put({{"apiVersion", "v1"},
              {"kind", "Namespace"},
              {"metadata", {{"name", "later-" + std::to_string(pages)}}}});
    home.compact();
  };
  look(25);
  EXPECT_EQ(pages, 6) << "it begins three times";
  const unseen* cut = not_seen("ingresses after 500 objects");
  ASSERT_TRUE(cut) << shown();
  EXPECT_EQ(cut->is, unseen::weight::needed);
  EXPECT_NE(cut->why.find("too old to display a consistent list"), std::string::npos) << cut->why;
  EXPECT_EQ(rows.size(), 500u) << "what was seen is said all the same";
  EXPECT_TRUE(report(25).is_partial());
}

std::size_t heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_F(UpgradeCheck, OfTwoHundredThousandObjectsItHoldsOnePageAndALimitedNumberOfRows) {
  constexpr int objects = 200'000, per_page = 500;
  std::size_t most = 0;
  const std::size_t rest = heap_in_use();
  home.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.path != ingresses) return std::nullopt;
    most = std::max(most, heap_in_use());
    int from = 0;
    for (const auto& [name, value] : r.query)
      if (name == "continue") from = std::stoi(value);
    const int end = from + per_page;
    k8s::sim::answer a;
    a.body = R"({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                 "metadata": {"resourceVersion": "1", "continue": ")" +
             (end < objects ? std::to_string(end) : std::string()) + R"("}, "items": [)";
    for (int i = from; i < end; ++i) a.body += (i == from ? "" : ",") + old_ingress(i);
    a.body += "]}";
    return a;
  };
  look(25);
  EXPECT_EQ(read.objects, std::size_t{objects});
  EXPECT_EQ(told.size(), 20u) << "a line for each ten thousand";
  EXPECT_EQ(told.back(), "prod: 200000 ingresses");
  EXPECT_EQ(rows.size(), helm::removals::findings::most_rows);
  EXPECT_EQ(left_out, std::size_t{objects} - helm::removals::findings::most_rows);
  auto r = report(25);
  r.left_out = left_out;
  EXPECT_TRUE(r.is_partial());
  const auto listed = helm::upgrades::rows_of(r, app::output_format::text);
  const std::string text = helm::upgrades::around(r, listed).tail.text();
  EXPECT_NE(text.find("and 195000 more that are not listed"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("on 1 of 1 cluster; the answer is partial\n")) << text;
  EXPECT_LT(most, rest + (std::size_t{64} << 20));
}

TEST_F(UpgradeCheck, ReadsManyObjectsInPagesAndHoldsOneAtATime) {
  constexpr int objects = 12'000, per_page = 500;
  for (int i = 0; i < objects; ++i)
    home.put(
        {{"apiVersion", "networking.k8s.io/v1"},
         {"kind", "Ingress"},
         {"metadata", {{"name", "web-" + std::to_string(i)}, {"namespace", "shop"}}},
         {"spec",
          {{"defaultBackend", {{"service", {{"name", "web"}, {"port", {{"number", 80}}}}}}}}}});
  int pages = 0;
  std::size_t longest = 0;
  home.after = [&](const k8s::sim::request& r, k8s::sim::answer& a) {
    if (r.path != "/apis/networking.k8s.io/v1/ingresses") return;
    ++pages;
    longest = std::max(longest, a.body.size());
  };
  look(25);
  EXPECT_EQ(read.objects, std::size_t{objects});
  EXPECT_EQ(pages, objects / per_page);
  EXPECT_LT(longest, 1u << 20);
  EXPECT_TRUE(rows.empty());
  EXPECT_EQ(told, (std::vector<std::string>{"prod: 10000 ingresses"})) << "every ten thousand";
}

}  // namespace
}  // namespace cli
