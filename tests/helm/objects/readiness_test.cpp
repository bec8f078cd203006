#include "helm/objects/readiness.hpp"

#include "tests/helm/objects/merge_answers.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace helm::objects {
namespace {

namespace json = boost::json;
using testing::parse;

/// A live object and whether it is ready ("yes", "no", or why never).
struct row {
  const char* name;
  const char* live;
  const char* wanted;
};

std::string text_of(const readiness& r) {
  return !r.failure.empty() ? r.failure : r.ready ? "yes" : "no";
}

template <class Judge>
void check(const std::vector<row>& rows, Judge judge) {
  for (const row& r : rows) EXPECT_EQ(text_of(judge(parse(r.live))), r.wanted) << r.name;
}

TEST(Readiness, OfAPod) {
  check({{"ready", R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "yes"},
         {"not ready", R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})", "no"},
         {"no status", R"({})", "no"}},
        pod_ready);
}

TEST(Readiness, OfAJob) {
  check(
      {{"all completions",
        R"({"spec":{"completions":2,"backoffLimit":6},"status":{"succeeded":2}})", "yes"},
       {"some completions",
        R"({"spec":{"completions":2,"backoffLimit":6},"status":{"succeeded":1}})", "no"},
       {"no completions wanted", R"({"spec":{"backoffLimit":6},"status":{}})", "yes"},
       {"as many failures as allowed",
        R"({"spec":{"completions":1,"backoffLimit":1},"status":{"failed":1}})", "no"},
       {"too many failures",
        R"({"metadata":{"namespace":"n","name":"j"},"spec":{"completions":1,"backoffLimit":1},"status":{"failed":2}})",
        "job is failed: n/j"}},
      job_ready);
}

TEST(Readiness, OfADaemonSet) {
  const auto set = [](std::string strategy, int updated, int ready) {
    return R"({"metadata":{"generation":2},"spec":{"updateStrategy":)" + strategy +
           R"(},"status":{"observedGeneration":2,"desiredNumberScheduled":5,"updatedNumberScheduled":)" +
           std::to_string(updated) + R"(,"numberReady":)" + std::to_string(ready) + "}}";
  };
  const std::string rolling = R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1}})";
  const std::string percent =
      R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%"}})";
  const std::string broken = R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"x"}})";
  const auto judge = [](const std::string& text) { return text_of(daemon_set_ready(parse(text))); };
  EXPECT_EQ(judge(set(rolling, 5, 4)), "yes");
  EXPECT_EQ(judge(set(rolling, 5, 3)), "no");
  EXPECT_EQ(judge(set(rolling, 4, 5)), "no");
  EXPECT_EQ(judge(set(percent, 5, 3)), "yes") << "25 % of 5 rounds up to 2";
  EXPECT_EQ(judge(set(percent, 5, 2)), "no");
  EXPECT_EQ(judge(set(broken, 5, 0)), "yes") << "as many as are desired";
  EXPECT_EQ(judge(set(R"({"type":"OnDelete"})", 0, 0)), "yes");
  EXPECT_EQ(judge(R"({"metadata":{"generation":2},"status":{"observedGeneration":1}})"), "no");
}

TEST(Readiness, OfAStatefulSet) {
  check(
      {{"all ready",
        R"({"spec":{"replicas":2,"updateStrategy":{"type":"RollingUpdate"}},"status":{"updatedReplicas":2,"readyReplicas":2,"currentRevision":"a","updateRevision":"a"}})",
        "yes"},
       {"revisions differ",
        R"({"spec":{"replicas":2,"updateStrategy":{"type":"RollingUpdate"}},"status":{"updatedReplicas":2,"readyReplicas":2,"currentRevision":"a","updateRevision":"b"}})",
        "no"},
       {"revisions differ with a partition",
        R"({"spec":{"replicas":2,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}}},"status":{"updatedReplicas":1,"readyReplicas":2,"currentRevision":"a","updateRevision":"b"}})",
        "yes"},
       {"too few updated",
        R"({"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}}},"status":{"updatedReplicas":1,"readyReplicas":3}})",
        "no"},
       {"too few ready",
        R"({"spec":{"replicas":2,"updateStrategy":{"type":"RollingUpdate"}},"status":{"updatedReplicas":2,"readyReplicas":1}})",
        "no"},
       {"replicas default to one",
        R"({"spec":{"updateStrategy":{"type":"RollingUpdate"}},"status":{"updatedReplicas":1,"readyReplicas":1}})",
        "yes"},
       {"on delete", R"({"spec":{"updateStrategy":{"type":"OnDelete"}},"status":{}})", "yes"},
       {"not observed", R"({"metadata":{"generation":1},"status":{}})", "no"}},
      stateful_set_ready);
}

TEST(Readiness, OfAVolumeClaim) {
  check({{"bound", R"({"status":{"phase":"Bound"}})", "yes"},
         {"pending", R"({"status":{"phase":"Pending"}})", "no"}},
        volume_claim_ready);
}

TEST(Readiness, OfAService) {
  check(
      {{"external name", R"({"spec":{"type":"ExternalName"}})", "yes"},
       {"with an address", R"({"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1"}})", "yes"},
       {"headless", R"({"spec":{"type":"ClusterIP","clusterIP":"None"}})", "yes"},
       {"without an address", R"({"spec":{"type":"ClusterIP"}})", "no"},
       {"balancer on its way", R"({"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}})", "no"},
       {"balancer with external addresses",
        R"({"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1","externalIPs":["1.2.3.4"]}})",
        "yes"},
       {"balancer with ingress",
        R"({"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})",
        "yes"}},
      service_ready);
}

TEST(Readiness, OfADefinition) {
  check(
      {{"established", R"({"status":{"conditions":[{"type":"Established","status":"True"}]}})",
        "yes"},
       {"names taken", R"({"status":{"conditions":[{"type":"NamesAccepted","status":"False"}]}})",
        "yes"},
       {"neither", R"({"status":{"conditions":[{"type":"Established","status":"False"}]}})", "no"}},
      definition_ready);
}

TEST(Readiness, OfAReplicaSetIsThatOfItsPods) {
  const json::object set =
      parse(R"({"metadata":{"generation":1},"status":{"observedGeneration":1}})");
  const json::object up = parse(R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  EXPECT_TRUE(replica_set_ready(set, {}).ready);
  EXPECT_TRUE(replica_set_ready(set, {up}).ready);
  EXPECT_FALSE(replica_set_ready(set, {up, parse("{}")}).ready);
  EXPECT_FALSE(replica_set_ready(parse(R"({"metadata":{"generation":1}})"), {up}).ready);
}

std::string deployment(std::string_view strategy, int replicas, std::string_view more = "") {
  return R"({"metadata":{"uid":"u","generation":3},"spec":{"replicas":)" +
         std::to_string(replicas) + R"(,"strategy":)" + std::string(strategy) + std::string(more) +
         R"(,"template":{"metadata":{"labels":{"a":"1"}},"spec":{"c":1}}},"status":{"observedGeneration":3}})";
}

std::string replica_set(int ready, std::string_view owner = "u",
                        std::string_view spec = R"({"c":1})",
                        std::string_view created = "2026-01-01T00:00:00Z") {
  return R"({"metadata":{"name":"r","generation":1,"creationTimestamp":")" + std::string(created) +
         R"(","ownerReferences":[{"uid":")" + std::string(owner) +
         R"(","controller":true}]},"spec":{"template":{"metadata":{"creationTimestamp":null,"labels":{"a":"1","pod-template-hash":"h"}},"spec":)" +
         std::string(spec) + R"(}},"status":{"observedGeneration":1,"readyReplicas":)" +
         std::to_string(ready) + "}}";
}

std::string judged(const std::string& live, const std::vector<std::string>& sets) {
  std::vector<json::object> all;
  for (const std::string& s : sets) all.push_back(parse(s));
  return text_of(deployment_ready(parse(live), all));
}

constexpr std::string_view quarter =
    R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})";

TEST(Readiness, OfADeploymentCountsThePodsOfItsTemplate) {
  const std::string live = deployment(quarter, 4);
  EXPECT_EQ(judged(live, {replica_set(3)}), "yes") << "one may be unavailable";
  EXPECT_EQ(judged(live, {replica_set(2)}), "no");
  EXPECT_EQ(judged(live, {}), "no");
  EXPECT_EQ(judged(live, {replica_set(4, "other")}), "no") << "not its own";
  EXPECT_EQ(judged(live, {replica_set(4, "u", R"({"c":2})")}), "no") << "another template";
  EXPECT_EQ(judged(live, {replica_set(0, "u", R"({"c":2})"), replica_set(4)}), "yes");
}

TEST(Readiness, OfADeploymentTakesTheOldestOfEqualReplicaSets) {
  const std::string live = deployment(quarter, 4);
  EXPECT_EQ(judged(live, {replica_set(4, "u", R"({"c":1})", "2026-02-01T00:00:00Z"),
                          replica_set(0, "u", R"({"c":1})", "2026-01-01T00:00:00Z")}),
            "no");
}

TEST(Readiness, OfADeploymentFollowsItsStrategy) {
  EXPECT_EQ(judged(deployment(R"({"type":"Recreate"})", 2), {replica_set(1)}), "no");
  EXPECT_EQ(judged(deployment(R"({"type":"Recreate"})", 2), {replica_set(2)}), "yes");
  const std::string_view none =
      R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"10%","maxSurge":0}})";
  EXPECT_EQ(judged(deployment(none, 3), {replica_set(2)}), "yes")
      << "where both limits come to nothing, one may be unavailable";
  EXPECT_EQ(judged(deployment(quarter, 0), {replica_set(0)}), "yes");
}

TEST(Readiness, OfAPausedDeploymentIsGiven) {
  EXPECT_EQ(judged(deployment(quarter, 4, R"(,"paused":true)"), {}), "yes");
}

TEST(Readiness, OfADeploymentWaitsForItsController) {
  json::object live = parse(deployment(quarter, 1));
  live["metadata"].as_object()["generation"] = 4;
  EXPECT_FALSE(deployment_ready(live, {parse(replica_set(1))}).ready);
}

TEST(HookJob, IsDoneWhenComplete) {
  check(
      {{"running", R"({"status":{"active":1}})", "no"},
       {"complete", R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})", "yes"},
       {"failed",
        R"({"metadata":{"name":"j"},"status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}})",
        "job j failed: BackoffLimitExceeded"}},
      hook_job_done);
}

TEST(HookPod, IsDoneWhenSucceeded) {
  check({{"running", R"({"status":{"phase":"Running"}})", "no"},
         {"succeeded", R"({"status":{"phase":"Succeeded"}})", "yes"},
         {"failed", R"({"metadata":{"name":"p"},"status":{"phase":"Failed"}})", "pod p failed"}},
        hook_pod_done);
}

TEST(WaitRule, DependsOnGroupAndKind) {
  const auto rule = [](std::string group, std::string kind) {
    object o;
    o.resource.group = std::move(group);
    o.kind = std::move(kind);
    return rule_of(o);
  };
  EXPECT_EQ(rule("apps", "Deployment"), wait_rule::deployment);
  EXPECT_EQ(rule("", "ReplicationController"), wait_rule::replica_set);
  EXPECT_EQ(rule("serving.knative.dev", "Service"), wait_rule::nothing);
  EXPECT_EQ(rule("", "ConfigMap"), wait_rule::nothing);
}

TEST(Selector, BecomesTheTextOfAListRequest) {
  EXPECT_EQ(selector_text(parse(
                R"({"spec":{"selector":{"matchLabels":{"a":"1"},"matchExpressions":[
                {"key":"t","operator":"In","values":["x","y"]},{"key":"u","operator":"Exists"},
                {"key":"v","operator":"DoesNotExist"},{"key":"w","operator":"NotIn","values":["z"]}]}}})")),
            "a=1,t in (x,y),u,!v,w notin (z)");
  EXPECT_EQ(selector_text(parse(R"({"spec":{"selector":{"a":"1"}}})")), "a=1");
  EXPECT_EQ(selector_text(parse(R"({"spec":{}})")), "");
}

TEST(Definition, NamesTheCollectionsThatAreServed) {
  const json::value definition = json::parse(R"({"kind":"CustomResourceDefinition","spec":{
      "group":"shop.example.com","scope":"Cluster","names":{"plural":"carts","kind":"Cart"},
      "versions":[{"name":"v1","served":true},{"name":"v1alpha1","served":false},
                  {"name":"v2","served":true},7,{"name":"v3"}]}})");
  EXPECT_EQ(defined_by(definition.as_object()),
            (std::vector<k8s::resource>{{"shop.example.com", "v1", "carts", "Cart", false},
                                        {"shop.example.com", "v2", "carts", "Cart", false}}));
  json::object other = definition.as_object();
  other["kind"] = "ConfigMap";
  EXPECT_TRUE(defined_by(other).empty());
}

}  // namespace
}  // namespace helm::objects
