#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

std::string eviction(std::string_view name, std::string_view options = "{}") {
  return R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + std::string(name) +
         R"("},"deleteOptions":)" + std::string(options) + "}";
}

void run_pod(const space& s, const std::string& name) {
  post(s.core("pods"), pod(name));
  merge(s.core("pods/" + name + "/status"),
        R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
}

/// A budget for app=web; its status is what the disruption controller would write, which the real
/// server lacks here.
void budget(const space& s, std::string_view name, int least, int healthy) {
  const std::string at = s.group("policy/v1", "poddisruptionbudgets");
  reply made =
      post(at, R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":")" +
                   std::string(name) + R"("},"spec":{"minAvailable":)" + std::to_string(least) +
                   R"(,"selector":{"matchLabels":{"app":"web"}}}})");
  ASSERT_EQ(made.status, 201) << made.text;
  reply r = merge(at + "/" + std::string(name) + "/status",
                  R"({"status":{"observedGeneration":1,"expectedPods":)" + std::to_string(healthy) +
                      R"(,"currentHealthy":)" + std::to_string(healthy) + R"(,"desiredHealthy":)" +
                      std::to_string(least) + R"(,"disruptionsAllowed":)" +
                      std::to_string(std::max(0, healthy - least)) + "}}");
  ASSERT_EQ(r.status, 200) << r.text;
}

TEST(Eviction, WithoutABudgetBeginsTheDeletion) {
  space s;
  run_pod(s, "p");
  reply r = post(s.core("pods/p/eviction"), eviction("p"));
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.at("/status"), "Success");
  EXPECT_FALSE(get(s.core("pods/p")).at("/metadata/deletionTimestamp").empty());
}

TEST(Eviction, ThatABudgetForbidsIsTooManyRequests) {
  space s;
  run_pod(s, "p");
  budget(s, "b", 1, 1);
  reply r = post(s.core("pods/p/eviction"), eviction("p"));
  EXPECT_EQ(r.status, 429);
  EXPECT_EQ(r.at("/reason"), "TooManyRequests");
  EXPECT_EQ(r.at("/message"), "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_EQ(r.at("/details/causes/0/reason"), "DisruptionBudget");
  EXPECT_EQ(r.at("/details/causes/0/message"),
            "The disruption budget b needs 1 healthy pods and has 1 currently");
}

TEST(Eviction, SpendsTheBudget) {
  space s;
  run_pod(s, "p");
  run_pod(s, "q");
  budget(s, "b", 1, 2);
  EXPECT_EQ(post(s.core("pods/p/eviction"), eviction("p")).status, 201);
  reply after = get(s.group("policy/v1", "poddisruptionbudgets/b"));
  EXPECT_EQ(after.number("/status/disruptionsAllowed"), 0);
  EXPECT_EQ(post(s.core("pods/q/eviction"), eviction("q")).status, 429);
}

TEST(Eviction, WithTwoBudgetsIsAnError) {
  space s;
  run_pod(s, "p");
  budget(s, "a", 1, 1);
  budget(s, "b", 1, 1);
  reply r = post(s.core("pods/p/eviction"), eviction("p"));
  EXPECT_EQ(r.status, 500);
  EXPECT_EQ(r.at("/message"),
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
}

TEST(Eviction, OfAFinishedPodNeedsNoBudget) {
  space s;
  run_pod(s, "p");
  merge(s.core("pods/p/status"), R"({"status":{"phase":"Succeeded"}})");
  budget(s, "b", 1, 1);
  EXPECT_EQ(post(s.core("pods/p/eviction"), eviction("p")).status, 201);
  EXPECT_EQ(get(s.core("pods/p")).status, 404);
}

TEST(Eviction, WithAnotherUidConflicts) {
  space s;
  run_pod(s, "p");
  reply r = post(s.core("pods/p/eviction"), eviction("p", R"({"preconditions":{"uid":"1"}})"));
  EXPECT_EQ(r.status, 409) << r.text;
}

TEST(Eviction, OfAMissingPodIsNotFound) {
  space s;
  EXPECT_EQ(post(s.core("pods/none/eviction"), eviction("none")).status, 404);
}

TEST(Eviction, AsADryRunChangesNothing) {
  space s;
  run_pod(s, "p");
  EXPECT_EQ(post(s.core("pods/p/eviction"), eviction("p", R"({"dryRun":["All"]})")).status, 201);
  EXPECT_TRUE(get(s.core("pods/p")).at("/metadata/deletionTimestamp").empty());
}

}  // namespace
}  // namespace conformance
