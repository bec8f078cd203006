#include "bootc/pool/drain_words.hpp"

#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using kind = pod_wait::kind;
using testing::noon;

k8s::fault refusal(const std::string& cause) {
  k8s::fault f;
  f.code = k8s::errc::throttled;
  f.causes = {{"DisruptionBudget", cause, {}}};
  return f;
}

// The three sentences of kubernetes pkg/registry/core/pod/storage/eviction.go.
TEST(DrainWords, ABudgetsNameIsReadFromTheCauseAndNumbersAreLeftOut) {
  auto read = read_budget_refusal(
      refusal("The disruption budget db needs 2 healthy pods and has 1 currently"));
  EXPECT_EQ(read.budget, "db");
  EXPECT_EQ(read.words, "");
  read = read_budget_refusal(
      refusal("The disruption budget db is still being processed by the server."));
  EXPECT_EQ(read.budget, "db");
  EXPECT_EQ(read.words, "is still being processed by the server.");
  read =
      read_budget_refusal(refusal("The disruption budget db does not allow evicting pods "
                                  "currently because it failed sync: no controllers"));
  EXPECT_EQ(read.budget, "db");
  EXPECT_EQ(read.words,
            "does not allow evicting pods currently because it failed sync: no "
            "controllers");
  EXPECT_EQ(read_budget_refusal(refusal("another server says it in its own way")).budget, "");
  EXPECT_EQ(read_budget_refusal({}).budget, "");
}

TEST(DrainWords, EachBudgetStandsOnceWithItsPods) {
  drain_progress d;
  EXPECT_EQ(budgets_in(d), "");
  d.waits = {{"shop/db-0", kind::budget, "db", {}, false, noon},
             {"shop/web-1", kind::budget, "web", "is still being processed", false, noon},
             {"shop/db-1", kind::budget, "db", {}, false, noon},
             {"else/x", kind::ending, {}, {}, false, noon}};
  EXPECT_EQ(budgets_in(d),
            "the PodDisruptionBudget shop/db allows no eviction of shop/db-0, shop/db-1; the "
            "PodDisruptionBudget shop/web allows no eviction of shop/web-1 (is still being "
            "processed)");
  EXPECT_EQ(release_of_budgets(d),
            "the PodDisruptionBudget shop/db, the PodDisruptionBudget shop/web allow one more "
            "disruption");
  d.waits = {{"shop/db-0", kind::budget, {}, {}, false, noon}};
  EXPECT_EQ(budgets_in(d), "a PodDisruptionBudget allows no eviction of shop/db-0");
}

TEST(DrainWords, WhatIsLeftNamesTheRefusalAndThePodThatWaitsLongest) {
  drain_progress d;
  d.pods_left = 2;
  d.left = {"shop/db-0", "shop/web-1"};
  d.waits = {{"shop/web-1", kind::refused, {}, "the server is shutting down", false, noon},
             {"shop/db-0", kind::ending, {}, {}, false, noon}};
  EXPECT_EQ(left_of(d),
            "2 pods are left: shop/db-0, shop/web-1; the server does not take the eviction of "
            "shop/web-1: the server is shutting down; shop/db-0 was told to end at "
            "2026-11-21T12:00:00Z and has not ended");
  EXPECT_EQ(obstacle_of(d), left_of(d));
  EXPECT_EQ(obstacle_of({}), "") << "nothing is known yet";
}

TEST(DrainWords, AnHourThatHasPassedIsNotCalledTheNextOne) {
  const std::string said = next_attempt(noon + 5s, noon);
  EXPECT_EQ(said, "the next attempt at 2026-11-21T12:00:05Z");
  EXPECT_EQ(next_attempt_again(said, noon + 1s), said);
  EXPECT_EQ(next_attempt_again(said, noon + 5s),
            "the next attempt, which was due at 2026-11-21T12:00:05Z");
  for (const char* other : {"its pods are gone", "the next attempt at some time", ""})
    EXPECT_EQ(next_attempt_again(other, noon), other);
}

}  // namespace
}  // namespace bootc
