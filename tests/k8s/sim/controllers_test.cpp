#include "api.hpp"

#include <gtest/gtest.h>

namespace k8s::sim {
namespace {

using namespace std::chrono_literals;
using boost::json::object;

constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
constexpr std::string_view kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

std::string owned(std::string_view name, std::string_view owner_name, std::string_view uid,
                  std::string_view more = "") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string(name) +
         R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")" +
         std::string(owner_name) + R"(","uid":")" + std::string(uid) + "\"" + std::string(more) +
         "}]}}";
}

std::string budget(std::string_view limits) {
  return R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{)" +
         std::string(limits) + R"(,"selector":{"matchLabels":{"app":"web"}}}})";
}

void run(bench_api& b, std::string_view name) {
  b.post(kPods, pod(name));
  b.merge(std::string(kPods) + "/" + std::string(name) + "/status",
          R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
}

std::int64_t of_budget(bench_api& b, std::string_view field) {
  const boost::json::value* v =
      b.get(std::string(kBudgets) + "/b").find("/status/" + std::string(field));
  return v ? b.get(std::string(kBudgets) + "/b")
                 .find("/status/" + std::string(field))
                 ->to_number<std::int64_t>()
           : -1;
}

TEST(GarbageCollection, DeletesWhatItsOwnerLeft) {
  bench_api b;
  const std::string uid(b.post(config_maps_path, config_map("owner")).at("/metadata/uid"));
  b.post(config_maps_path, owned("child", "owner", uid));
  b.remove(std::string(config_maps_path) + "/owner");
  EXPECT_FALSE(b.api.get("", "configmaps", "default", "child"));
}

TEST(GarbageCollection, GoesDownTheGenerations) {
  bench_api b;
  const std::string uid(b.post(config_maps_path, config_map("owner")).at("/metadata/uid"));
  const std::string child(
      b.post(config_maps_path, owned("child", "owner", uid)).at("/metadata/uid"));
  b.post(config_maps_path, owned("grandchild", "child", child));
  b.remove(std::string(config_maps_path) + "/owner");
  EXPECT_FALSE(b.api.get("", "configmaps", "default", "grandchild"));
}

TEST(GarbageCollection, SparesOrphans) {
  bench_api b;
  const std::string uid(b.post(config_maps_path, config_map("owner")).at("/metadata/uid"));
  b.post(config_maps_path, owned("child", "owner", uid));
  b.remove(std::string(config_maps_path) + "/owner", R"({"propagationPolicy":"Orphan"})");
  EXPECT_FALSE(b.api.get("", "configmaps", "default", "owner"));
  auto child = b.api.get("", "configmaps", "default", "child");
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->at("metadata").as_object().contains("ownerReferences"));
}

TEST(GarbageCollection, InTheForegroundWaitsForTheChildren) {
  bench_api b;
  const std::string uid(b.post(config_maps_path, config_map("owner")).at("/metadata/uid"));
  std::string child = owned("child", "owner", uid, R"(,"blockOwnerDeletion":true)");
  child.replace(child.find("\"name\":\"child\""), 14, R"("name":"child","finalizers":["e.com/x"])");
  b.post(config_maps_path, child);
  b.remove(std::string(config_maps_path) + "/owner", R"({"propagationPolicy":"Foreground"})");
  EXPECT_TRUE(b.api.get("", "configmaps", "default", "owner"));
  b.merge(std::string(config_maps_path) + "/child", R"({"metadata":{"finalizers":null}})");
  EXPECT_FALSE(b.api.get("", "configmaps", "default", "child"));
  EXPECT_FALSE(b.api.get("", "configmaps", "default", "owner"));
}

TEST(GarbageCollection, DeletesWhatNamesAnOwnerThatNeverWas) {
  bench_api b;
  b.post(config_maps_path, owned("child", "nobody", "1-2-3"));
  EXPECT_FALSE(b.api.get("", "configmaps", "default", "child"));
}

TEST(Namespaces, TakeTheirContentAlong) {
  bench_api b;
  b.post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
  b.post("/api/v1/namespaces/n/configmaps", config_map("a"));
  auto r = b.remove("/api/v1/namespaces/n");
  EXPECT_EQ(r.at("/status/phase"), "Terminating");
  EXPECT_EQ(b.get("/api/v1/namespaces/n").status, 404);
  EXPECT_EQ(b.get("/api/v1/namespaces/n/configmaps").find("/items")->as_array().size(), 0u);
}

TEST(Namespaces, WaitForWhatCannotGo) {
  bench_api b;
  b.post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
  b.post("/api/v1/namespaces/n/pods", pod("p"));
  b.remove("/api/v1/namespaces/n");
  EXPECT_EQ(b.get("/api/v1/namespaces/n").at("/status/phase"), "Terminating");
  auto refused = b.post("/api/v1/namespaces/n/configmaps", config_map("late"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.at("/details/causes/0/reason"), "NamespaceTerminating");
  EXPECT_TRUE(b.api.finish_termination("n", "p"));
  EXPECT_EQ(b.get("/api/v1/namespaces/n").status, 404);
}

TEST(Budgets, CountHealthyPods) {
  bench_api b;
  for (const char* name : {"p1", "p2", "p3"}) run(b, name);
  b.post(kBudgets, budget(R"("minAvailable":2)"));
  EXPECT_EQ(of_budget(b, "expectedPods"), 3);
  EXPECT_EQ(of_budget(b, "currentHealthy"), 3);
  EXPECT_EQ(of_budget(b, "desiredHealthy"), 2);
  EXPECT_EQ(of_budget(b, "disruptionsAllowed"), 1);
  EXPECT_EQ(of_budget(b, "observedGeneration"), 1);
}

TEST(Budgets, RoundPercentagesUp) {
  bench_api b;
  for (const char* name : {"p1", "p2", "p3"}) run(b, name);
  b.post(kBudgets, budget(R"("minAvailable":"50%")"));
  EXPECT_EQ(of_budget(b, "desiredHealthy"), 2);
  b.merge(std::string(kBudgets) + "/b", R"({"spec":{"minAvailable":null,"maxUnavailable":"30%"}})");
  EXPECT_EQ(of_budget(b, "desiredHealthy"), 2);
  EXPECT_EQ(of_budget(b, "disruptionsAllowed"), 1);
}

TEST(Budgets, ReferToWhatTheControllerWants) {
  bench_api b;
  const std::string set =
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r"},"spec":{"replicas":4,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  const std::string uid(
      b.post("/apis/apps/v1/namespaces/default/replicasets", set).at("/metadata/uid"));
  ASSERT_FALSE(uid.empty());
  run(b, "p1");
  b.merge(
      std::string(kPods) + "/p1",
      R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":")" +
          uid + R"(","controller":true}]}})");
  b.post(kBudgets, budget(R"("maxUnavailable":1)"));
  EXPECT_EQ(of_budget(b, "expectedPods"), 4);
  EXPECT_EQ(of_budget(b, "desiredHealthy"), 3);
  EXPECT_EQ(of_budget(b, "disruptionsAllowed"), 0);
}

TEST(Budgets, LimitEvictionsUntilPodsAreBack) {
  bench_api b;
  run(b, "p1");
  run(b, "p2");
  b.post(kBudgets, budget(R"("minAvailable":1)"));
  auto evict = [&](std::string_view name) {
    return b
        .post(std::string(kPods) + "/" + std::string(name) + "/eviction",
              R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" +
                  std::string(name) + "\"}}")
        .status;
  };
  EXPECT_EQ(evict("p1"), 201);
  EXPECT_EQ(evict("p2"), 429);
  b.api.finish_termination("default", "p1");
  EXPECT_EQ(evict("p2"), 429);
  run(b, "p3");
  EXPECT_EQ(evict("p2"), 201);
}

TEST(Pods, EndAfterTheirTerminationTime) {
  bench_api b([](api_options& o) { o.pod_termination = 5s; });
  run(b, "p");
  b.remove(std::string(kPods) + "/p");
  EXPECT_EQ(b.api.next_due(), b.steady + 5s);
  b.steady += 5s;
  b.api.advance();
  EXPECT_FALSE(b.api.get("", "pods", "default", "p"));
}

TEST(Pods, WithFinalizersOutliveTheirTermination) {
  bench_api b;
  run(b, "p");
  b.merge(std::string(kPods) + "/p", R"({"metadata":{"finalizers":["e.com/x"]}})");
  b.remove(std::string(kPods) + "/p");
  EXPECT_FALSE(b.api.finish_termination("default", "p"));
  b.merge(std::string(kPods) + "/p", R"({"metadata":{"finalizers":null}})");
  EXPECT_FALSE(b.api.get("", "pods", "default", "p"));
}

TEST(CustomKinds, GoWithTheirDefinition) {
  bench_api b;
  const std::string crd =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ts.e.com"},"spec":{"group":"e.com","scope":"Cluster","names":{"plural":"ts","kind":"T"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
  EXPECT_EQ(b.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).status, 201);
  EXPECT_EQ(
      b.post("/apis/e.com/v1/ts", R"({"apiVersion":"e.com/v1","kind":"T","metadata":{"name":"t"}})")
          .status,
      201);
  b.remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ts.e.com");
  EXPECT_EQ(b.get("/apis/e.com/v1/ts").status, 404);
}

}  // namespace
}  // namespace k8s::sim
