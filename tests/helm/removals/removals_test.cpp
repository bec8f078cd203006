// What Kubernetes stops serving, and the pure rules over what was seen of a cluster.
#include "helm/removals/findings.hpp"
#include "helm/removals/waivers.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

namespace helm::removals {
namespace {

namespace json = boost::json;
using owned_by = object_owner::kind;

json::object object_of(const char* text) {
  return json::parse(text).as_object();
}

/// A budget with these entries of managedFields.
json::object budget(const char* managers, const char* annotations = "{}") {
  return object_of((std::string(R"({"metadata": {"name": "web", "namespace": "shop",
    "annotations": )") +
                    annotations + R"(, "managedFields": )" + managers + "}}")
                       .c_str());
}

TEST(RemovedApis, HaveEachKindOnceWithWhatReplacesItByThen) {
  std::set<std::string> seen;
  for (const removed_api& api : removed_by(known_until)) {
    const std::string name = api.api_version + " " + api.kind;
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_LT(api.deprecated, api.removed) << name;
    EXPECT_LE(api.removed, known_until) << name;
    const std::string by = replacement(api, known_until);
    const auto next = find(by, api.announced_kind);
    EXPECT_TRUE(!next || next->removed == 0 || next->removed > known_until) << name << " → " << by;
  }
  // The guide's list, release by release.
  const struct {
    const char *api_version, *kind;
    int removed;
    const char* replacement;
  } guide[] = {
      {"extensions/v1beta1", "NetworkPolicy", 16, "networking.k8s.io/v1"},
      {"extensions/v1beta1", "DaemonSet", 16, "apps/v1"},
      {"apps/v1beta2", "DaemonSet", 16, "apps/v1"},
      {"extensions/v1beta1", "Deployment", 16, "apps/v1"},
      {"apps/v1beta1", "Deployment", 16, "apps/v1"},
      {"apps/v1beta2", "Deployment", 16, "apps/v1"},
      {"apps/v1beta1", "StatefulSet", 16, "apps/v1"},
      {"apps/v1beta2", "StatefulSet", 16, "apps/v1"},
      {"extensions/v1beta1", "ReplicaSet", 16, "apps/v1"},
      {"apps/v1beta2", "ReplicaSet", 16, "apps/v1"},
      {"extensions/v1beta1", "PodSecurityPolicy", 16, ""},
      {"admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration", 22,
       "admissionregistration.k8s.io/v1"},
      {"apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", 22, "apiextensions.k8s.io/v1"},
      {"apiregistration.k8s.io/v1beta1", "APIService", 22, "apiregistration.k8s.io/v1"},
      {"authentication.k8s.io/v1beta1", "TokenReview", 22, "authentication.k8s.io/v1"},
      {"authorization.k8s.io/v1beta1", "SubjectAccessReview", 22, "authorization.k8s.io/v1"},
      {"certificates.k8s.io/v1beta1", "CertificateSigningRequest", 22, "certificates.k8s.io/v1"},
      {"coordination.k8s.io/v1beta1", "Lease", 22, "coordination.k8s.io/v1"},
      {"extensions/v1beta1", "Ingress", 22, "networking.k8s.io/v1"},
      {"networking.k8s.io/v1beta1", "Ingress", 22, "networking.k8s.io/v1"},
      {"networking.k8s.io/v1beta1", "IngressClass", 22, "networking.k8s.io/v1"},
      {"rbac.authorization.k8s.io/v1beta1", "Role", 22, "rbac.authorization.k8s.io/v1"},
      {"scheduling.k8s.io/v1beta1", "PriorityClass", 22, "scheduling.k8s.io/v1"},
      {"storage.k8s.io/v1beta1", "CSIDriver", 22, "storage.k8s.io/v1"},
      {"storage.k8s.io/v1beta1", "CSINode", 22, "storage.k8s.io/v1"},
      {"batch/v1beta1", "CronJob", 25, "batch/v1"},
      {"discovery.k8s.io/v1beta1", "EndpointSlice", 25, "discovery.k8s.io/v1"},
      {"events.k8s.io/v1beta1", "Event", 25, "events.k8s.io/v1"},
      {"autoscaling/v2beta1", "HorizontalPodAutoscaler", 25, "autoscaling/v2"},
      {"policy/v1beta1", "PodDisruptionBudget", 25, "policy/v1"},
      {"policy/v1beta1", "PodSecurityPolicy", 25, ""},
      {"node.k8s.io/v1beta1", "RuntimeClass", 25, "node.k8s.io/v1"},
      {"flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema", 26, "flowcontrol.apiserver.k8s.io/v1"},
      {"autoscaling/v2beta2", "HorizontalPodAutoscaler", 26, "autoscaling/v2"},
      {"storage.k8s.io/v1beta1", "CSIStorageCapacity", 27, "storage.k8s.io/v1"},
      {"flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema", 29, "flowcontrol.apiserver.k8s.io/v1"},
      {"flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", 32, "flowcontrol.apiserver.k8s.io/v1"},
  };
  for (const auto& row : guide) {
    const auto api = find(row.api_version, row.kind);
    ASSERT_TRUE(api) << row.api_version << " " << row.kind;
    EXPECT_EQ(api->removed, row.removed) << row.api_version << " " << row.kind;
    EXPECT_EQ(replacement(*api, known_until), row.replacement) << row.kind;
  }
  // What replaces it depends on the target.
  EXPECT_EQ(replacement(*find("flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema"), 26),
            "flowcontrol.apiserver.k8s.io/v1beta3");
  EXPECT_FALSE(find("policy/v1", "PodDisruptionBudget"));
  EXPECT_FALSE(find("example.com/v1beta1", "PodDisruptionBudget"));
}

TEST(RemovedApis, AreCalledAsTheServerCallsTheirCollections) {
  EXPECT_EQ(resource_of("PodSecurityPolicy"), "podsecuritypolicies");
  EXPECT_EQ(resource_of("Ingress"), "ingresses");
  EXPECT_EQ(resource_of("IngressClass"), "ingressclasses");
  EXPECT_EQ(resource_of("CSIStorageCapacity"), "csistoragecapacities");
  EXPECT_EQ(resource_of("Endpoints"), "endpoints");
  EXPECT_EQ(resource_of("PodDisruptionBudget"), "poddisruptionbudgets");
}

TEST(RemovedApis, ReadTheTargetAsPeopleWriteIt) {
  for (const char* good : {"1.25", "v1.25", "1.25.3"}) EXPECT_EQ(minor_of(good), 25) << good;
  EXPECT_EQ(minor_of("1.0"), 0);
  for (const char* bad : {"", "1", "1.", "25", "2.25", "1.25.", "1.25-rc.1", "1.+25", "1.-1",
                          "1.25x", "1.99999999999", "latest"})
    EXPECT_FALSE(minor_of(bad)) << bad;
}

TEST(Findings, AreOneRowForEachObjectAndApiWhicheverSourceNamesIt) {
  findings all(25);
  const std::vector<json::object> manifest = {
      object_of(R"({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget",
                    "metadata": {"name": "web"}})"),
      object_of(R"({"apiVersion": "policy/v1beta1", "kind": "PodSecurityPolicy",
                    "metadata": {"name": "strict", "namespace": "ignored"}})"),
      object_of(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}})"),
      object_of(R"({"kind": 7})")};
  for (const seen_object& one :
       of_manifest(manifest, {owned_by::release, "shop/web"}, "shop", "shop/r.v1"))
    all.add("prod", one);
  const json::object live = budget(
      R"([{"manager": "helm", "operation": "Update", "apiVersion": "policy/v1beta1",
           "time": "2022-01-01T00:00:00Z"}])",
      R"({"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"})");
  for (const seen_object& one : of_managers(live, "PodDisruptionBudget", 25)) all.add("prod", one);
  const std::vector<finding> rows = all.rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].object(), "PodSecurityPolicy/strict");
  EXPECT_EQ(rows[0].ns, "") << "it is in no namespace, whatever its manifest says";
  EXPECT_EQ(rows[0].replacement, "");
  EXPECT_EQ(rows[0].removed_in, 25);
  EXPECT_EQ(rows[1].object(), "PodDisruptionBudget/web");
  EXPECT_EQ(rows[1].ns, "shop");
  EXPECT_EQ(rows[1].owner.text(), "Helm release shop/web");
  EXPECT_EQ(rows[1].replacement, "policy/v1");
  EXPECT_EQ(rows[1].sources, (std::vector{source::release, source::live}));
  findings earlier(24);
  for (const seen_object& one : of_managers(live, "PodDisruptionBudget", 24))
    earlier.add("prod", one);
  EXPECT_TRUE(earlier.rows().empty());
}

TEST(Findings, LeaveOutManagersThatMovedOnAndThePartsOfKubernetes) {
  const auto owners = [](const char* managers) {
    std::vector<std::string> out;
    for (const seen_object& one : of_managers(budget(managers), "PodDisruptionBudget", 25))
      out.push_back(one.owner.text());
    return out;
  };
  EXPECT_EQ(owners(R"([{"manager": "kubectl", "apiVersion": "policy/v1beta1",
                        "time": "2022-01-01T00:00:00Z"}])"),
            (std::vector<std::string>{"field manager kubectl"}));
  EXPECT_TRUE(owners(R"([{"manager": "helm", "apiVersion": "policy/v1beta1",
                          "time": "2022-01-01T00:00:00Z"},
                         {"manager": "helm", "apiVersion": "policy/v1",
                          "time": "2023-01-01T00:00:00Z"}])")
                  .empty());
  EXPECT_EQ(owners(R"([{"manager": "helm", "apiVersion": "policy/v1beta1",
                        "time": "2023-01-01T00:00:00Z"},
                       {"manager": "helm", "apiVersion": "policy/v1",
                        "time": "2022-01-01T00:00:00Z"}])")
                .size(),
            1u);
  EXPECT_TRUE(owners(R"([{"manager": "kube-controller-manager", "apiVersion": "policy/v1beta1",
                          "time": "2022-01-01T00:00:00Z"}])")
                  .empty());
  EXPECT_TRUE(owners(R"([7, {"manager": 1}, {}])").empty());
  EXPECT_TRUE(of_managers(object_of(R"({"metadata": []})"), "PodDisruptionBudget", 25).empty());
}

TEST(Findings, CountWhatIsBeyondTheirLimit) {
  findings all(25, 2);
  for (const char* name : {"a", "b", "c", "a", "d"})
    all.add("prod", {"policy/v1beta1", "PodDisruptionBudget", "shop", name, {}, source::live, {}});
  EXPECT_EQ(all.rows().size(), 2u);
  EXPECT_EQ(all.left_out(), 2u);
}

TEST(Findings, NameVersionsThatADefinitionStoresAndDoesNotServe) {
  const json::object crd = object_of(R"({"metadata": {"name": "shops.example.com"},
    "spec": {"group": "example.com", "versions": [
      {"name": "v1alpha1", "served": false, "storage": false},
      {"name": "v1", "served": true, "storage": true}]},
    "status": {"storedVersions": ["v1alpha1", "v1", "v0", 3]}})");
  const std::vector<finding> rows = of_definition("prod", crd);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].api_version, "example.com/v1alpha1");
  EXPECT_EQ(rows[0].replacement, "example.com/v1");
  EXPECT_EQ(rows[0].removed_in, 0);
  EXPECT_EQ(rows[1].api_version, "example.com/v0");
  EXPECT_TRUE(of_definition("prod", object_of("{}")).empty());
}

TEST(Findings, NameReleasesWhoseChartDoesNotTakeTheNewerMinor) {
  const object_owner owner{object_owner::kind::release, "shop/web"};
  const auto of = [&](const char* takes, int from, int to) {
    return of_chart("prod", owner, "shop/web", {"web-1.2.0", takes}, from, to);
  };
  const auto row = of(">=1.21.0-0 <1.25.0-0", 24, 25);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->ns, "shop");
  EXPECT_EQ(row->object(), "Release/web");
  EXPECT_EQ(row->message(),
            "its chart web-1.2.0 takes Kubernetes >=1.21.0-0 <1.25.0-0 and not 1.25, so that its "
            "next upgrade would fail");
  EXPECT_FALSE(of(">=1.21.0-0 <1.25.0-0", 25, 26)) << "it does not take today's either";
  EXPECT_FALSE(of(">=1.21.0-0 <1.25.0-0", 23, 24));
  EXPECT_FALSE(of("<1.26.0-0", 24, 25));
  EXPECT_FALSE(of(">=1.24.0 <1.24.9 || >=1.25.3", 24, 25)) << "a later patch";
  EXPECT_FALSE(of(">=1.30.0-0", 36, 25)) << "no step to a newer one";
  EXPECT_FALSE(of("", 24, 25));
  EXPECT_FALSE(of("no constraint", 24, 25));
}

TEST(Findings, KnowWhichServicesWebhooksAsk) {
  const json::object hooks = object_of(R"({"webhooks": [
    {"name": "a.example.com", "clientConfig": {"service": {"namespace": "n", "name": "s"}}},
    {"name": "b.example.com", "clientConfig": {"url": "https://x"}}, 7]})");
  ASSERT_EQ(services_of(hooks).size(), 1u);
  EXPECT_EQ(services_of(hooks)[0].webhook, "a.example.com");
  const char* conversion = R"({"spec": {"conversion": {"strategy": "Webhook", "webhook":
    {"clientConfig": {"service": {"namespace": "n", "name": "s"}}}}}})";
  EXPECT_EQ(services_of(object_of(conversion)).size(), 1u);
  EXPECT_TRUE(services_of(object_of(R"({"spec": {"conversion": {"strategy": "None"}}})")).empty());
}

TEST(Findings, ReadWhatAServerCounts) {
  const auto asked = read_request(
      "apiserver_requested_deprecated_apis{group=\"policy\",removed_release=\"1.25\","
      "resource=\"poddisruptionbudgets\",subresource=\"\",version=\"v1beta1\"} 1");
  ASSERT_TRUE(asked);
  const auto row = of_request("prod", *asked, 25);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->api_version, "policy/v1beta1");
  EXPECT_EQ(row->object(), "Requests/poddisruptionbudgets");
  EXPECT_EQ(row->replacement, "policy/v1");
  EXPECT_FALSE(of_request("prod", *asked, 24));
  // Deprecated, and no release removes it.
  const auto stays = read_request(
      "apiserver_requested_deprecated_apis{group=\"\",removed_release=\"\","
      "resource=\"componentstatuses\",subresource=\"\",version=\"v1\"} 1");
  ASSERT_TRUE(stays);
  EXPECT_FALSE(of_request("prod", *stays, 36));
  for (const char* other :
       {"", "# HELP apiserver_requested_deprecated_apis [STABLE] Gauge",
        "apiserver_requested_deprecated_apis{", "apiserver_requested_deprecated_apis{} 1",
        "apiserver_request_total{group=\"policy\",version=\"v1beta1\"} 1",
        "apiserver_requested_deprecated_apis{group=\"a\",version=\"v1\",resource=\"b\"} 0"})
    EXPECT_FALSE(read_request(other)) << other;
}

TEST(Families, AreListedByTheVersionThatStays) {
  for (const family& f : families(25)) {
    ASSERT_FALSE(f.api_versions.empty()) << f.kind;
    const auto first = find(f.api_versions.front(), f.kind);
    const bool stays = !first || first->removed > 25;
    EXPECT_TRUE(stays || f.kind == "PodSecurityPolicy") << f.kind << f.api_versions.front();
    EXPECT_NE(f.kind, "Event");
    EXPECT_NE(f.kind, "TokenReview");
  }
}

// ---- waivers

constexpr const char* waivers_text = R"(waivers:
- object: shop/PodDisruptionBudget/*
  api: policy/v1beta1
  reason: the chart moves in May
  until: 2027-05-31
- object: PodSecurityPolicy/strict
  cluster: prod-*
  api: policy/v1beta1
  reason: replaced by labels of namespaces
  until: 2026-01-31
- object: shop/Ingress/none
  api: "*"
  reason: nobody knows
  until: 2027-05-31
)";

finding row(const char* cluster, const char* ns, const char* kind, const char* name) {
  finding f;
  f.cluster = cluster;
  f.ns = ns;
  f.kind = kind;
  f.name = name;
  f.api_version = "policy/v1beta1";
  return f;
}

TEST(Waivers, CoverWhatTheyNameUntilTheirLastDayIsOver) {
  const auto all = read_waivers(waivers_text, "w.yaml");
  ASSERT_TRUE(all) << all.error().text;
  const auto at = [&](const char* time) {
    std::vector<finding> rows = {row("prod-1", "shop", "PodDisruptionBudget", "web"),
                                 row("prod-1", "", "PodSecurityPolicy", "strict"),
                                 row("test-1", "", "PodSecurityPolicy", "strict")};
    const auto unused = waive(rows, *all, *reactor::parse_rfc3339(time));
    EXPECT_EQ(unused.size(), 1u) << "the third covers nothing";
    return rows;
  };
  std::vector<finding> rows = at("2026-01-31T23:59:59Z");
  EXPECT_EQ(rows[0].waived, "until 2027-05-31: the chart moves in May");
  EXPECT_EQ(rows[1].waived, "until 2026-01-31: replaced by labels of namespaces");
  EXPECT_EQ(rows[2].waived, "");
  rows = at("2026-02-01T00:00:00Z");
  EXPECT_NE(rows[0].waived, "");
  EXPECT_EQ(rows[1].waived, "") << "it is over";
  EXPECT_NE(rows[1].note.find("ended with 2026-01-31"), std::string::npos);
}

TEST(Waivers, OfAnyOtherShapeAreRefusedWithFileEntryAndField) {
  const auto problem = [](const std::string& text) {
    const auto read = read_waivers(text, "w.yaml");
    return read ? std::string("accepted") : read.error().text;
  };
  const std::string good = "{object: a, api: b, reason: c, until: 2027-01-31}";
  EXPECT_EQ(problem("waivers: [" + good + "]"), "accepted");
  EXPECT_EQ(problem("waivers: [" + good + ", {object: a, api: b, until: 2027-01-31}]"),
            "w.yaml: waiver 2: reason is missing");
  EXPECT_EQ(problem("waivers: [{object: a, api: b, reason: c}]"),
            "w.yaml: waiver 1: until is missing");
  EXPECT_EQ(problem("waivers: [{object: a, api: b, reason: c, until: 9999-12-31}]"), "accepted");
  for (const char* day :
       {"soon", "2027-13-01", "2027-02-29", "2027-01-32", "2027-1-1", "2027-01-31T00:00:00Z"})
    EXPECT_EQ(
        problem(std::string("waivers: [{object: a, api: b, reason: c, until: '") + day + "'}]"),
        "w.yaml: waiver 1: until is not a day as in 2027-01-31")
        << day;
  EXPECT_EQ(problem("waivers: [{object: a, api: b, reason: '', until: 2027-01-31}]"),
            "w.yaml: waiver 1: reason is not a text");
  EXPECT_NE(problem("waivers: [{object: a, api: b, reason: c, untill: 2027-01-31}]")
                .find("w.yaml: waiver 1: untill is no field"),
            std::string::npos);
  EXPECT_EQ(problem("waivers: [7]"), "w.yaml: waiver 1: is not a map");
  for (const char* other : {"[]", "{}", "waivers: 7", "waivers: []\nmore: 1"})
    EXPECT_EQ(problem(other), "w.yaml: expected a map with one list, waivers") << other;
  EXPECT_NE(problem("waivers: [").find("w.yaml"), std::string::npos);
}

}  // namespace
}  // namespace helm::removals
