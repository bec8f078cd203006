#include "bootc/pool/drain_decision.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

k8s::pod owned_by(const char* api_version, const char* kind) {
  k8s::pod p;
  p.meta.name = "p";
  p.phase = k8s::pod_phase::running;
  p.meta.owner.api_version = api_version;
  p.meta.owner.kind = kind;
  p.meta.owner.uid = "00000000-0000-4000-8000-000000000001";
  return p;
}

TEST(DrainDecision, ADaemonSetsPodStaysUnlessItEndedOrItsSetIsGone) {
  auto p = owned_by("apps/v1", "DaemonSet");
  EXPECT_TRUE(needs_daemon_set(p));
  EXPECT_FALSE(judge_pod(p, daemon_set::exists, {}).evict);
  EXPECT_TRUE(judge_pod(p, daemon_set::gone, {}).evict);
  EXPECT_FALSE(judge_pod(p, daemon_set::gone, {}).warning.empty());
  p.phase = k8s::pod_phase::failed;
  EXPECT_FALSE(needs_daemon_set(p));
  EXPECT_TRUE(judge_pod(p, daemon_set::exists, {}).evict);
}

TEST(DrainDecision, AMirrorPodStays) {
  auto p = owned_by("v1", "Node");
  p.mirror = true;
  EXPECT_FALSE(judge_pod(p, daemon_set::gone, {}).evict);
}

TEST(DrainDecision, ThePodOfThisProcessStays) {
  auto p = owned_by("apps/v1", "ReplicaSet");
  p.meta.uid = "00000000-0000-4000-8000-00000000000a";
  EXPECT_FALSE(judge_pod(p, daemon_set::gone, "00000000-0000-4000-8000-00000000000a").evict);
  EXPECT_TRUE(judge_pod(p, daemon_set::gone, "00000000-0000-4000-8000-00000000000b").evict);
  EXPECT_TRUE(judge_pod(k8s::pod(), daemon_set::gone, {}).evict) << "a pod without a UID";
}

TEST(DrainDecision, EverythingElseGoesWithAWordWhereItHurts) {
  auto p = owned_by("apps/v1", "ReplicaSet");
  EXPECT_TRUE(judge_pod(p, daemon_set::gone, {}).evict);
  EXPECT_TRUE(judge_pod(p, daemon_set::gone, {}).warning.empty());
  p.phase = k8s::pod_phase::succeeded;
  EXPECT_TRUE(judge_pod(p, daemon_set::gone, {}).evict) << "completed pods too";
  p.empty_dir = true;
  EXPECT_FALSE(judge_pod(p, daemon_set::gone, {}).warning.empty());
  k8s::pod alone;
  EXPECT_TRUE(judge_pod(alone, daemon_set::gone, {}).evict);
  EXPECT_FALSE(judge_pod(alone, daemon_set::gone, {}).warning.empty());
}

TEST(DrainDecision, AnswersToAnEviction) {
  EXPECT_EQ(after_eviction(nullptr), eviction_step::wait_gone);
  const auto of = [](k8s::errc code) {
    k8s::fault f;
    f.code = code;
    return after_eviction(&f);
  };
  EXPECT_EQ(of(k8s::errc::not_found), eviction_step::gone);
  EXPECT_EQ(of(k8s::errc::throttled), eviction_step::try_again);
  EXPECT_EQ(of(k8s::errc::unavailable), eviction_step::try_again);
  EXPECT_EQ(of(k8s::errc::forbidden), eviction_step::give_up);
  EXPECT_EQ(of(k8s::errc::invalid), eviction_step::give_up);
  k8s::fault two_budgets;
  two_budgets.code = k8s::errc::unavailable;
  two_budgets.http_status = 500;
  EXPECT_EQ(after_eviction(&two_budgets), eviction_step::give_up) << "the same answer for ever";
  two_budgets.http_status = 503;
  EXPECT_EQ(after_eviction(&two_budgets), eviction_step::try_again);
  k8s::fault terminating;
  terminating.code = k8s::errc::forbidden;
  terminating.causes.push_back({"NamespaceTerminating", "", ""});
  EXPECT_EQ(after_eviction(&terminating), eviction_step::try_again);
}

TEST(DrainDecision, ABudgetRefusesOnlyWhereTheServerNamesOne) {
  k8s::fault f;
  f.code = k8s::errc::throttled;
  f.http_status = 429;
  EXPECT_FALSE(is_refused_by_budget(f)) << "the server is busy";
  f.causes.push_back({"DisruptionBudget", "db needs 1 healthy pods", ""});
  EXPECT_TRUE(is_refused_by_budget(f));
}

}  // namespace
}  // namespace bootc
