#include "bootc/pool/drain_decision.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace std::chrono_literals;

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

k8s::fault refused_by(const char* budget) {
  k8s::fault f;
  f.code = k8s::errc::throttled;
  f.http_status = 429;
  f.causes.push_back(
      {"DisruptionBudget",
       "The disruption budget " + std::string(budget) + " needs 1 healthy pods and has 1 currently",
       ""});
  return f;
}

TEST(PodEviction, GoesOnAsTheServersAnswersSay) {
  using is = pod_eviction::request::is;
  using kind = pod_wait::kind;
  const k8s::fault budget = refused_by("db");
  k8s::fault busy, slow, absent, forbidden;
  busy.code = slow.code = k8s::errc::throttled;
  slow.retry_after = std::chrono::seconds(30);
  absent.code = k8s::errc::not_found;
  forbidden.code = k8s::errc::forbidden;
  forbidden.detail = "no right";
  struct row {
    const char* what;
    const k8s::fault* answer;
    is then;
    std::optional<kind> waits;
    reactor::nanoseconds pause{};
  };
  for (const row& r : {row{"accepted", nullptr, is::await_end, kind::ending},
                       row{"gone already", &absent, is::end, {}},
                       row{"a budget", &budget, is::look, kind::budget, pod_eviction::retry},
                       row{"a busy server", &busy, is::look, kind::refused, pod_eviction::retry},
                       row{"which says when", &slow, is::look, kind::refused, 30s},
                       row{"refused for good", &forbidden, is::end, {}}}) {
    pod_eviction e(true);
    EXPECT_EQ(e.next().what, is::evict) << r.what;
    e.evicted(r.answer);
    EXPECT_EQ(e.next().what, r.then) << r.what;
    EXPECT_EQ(e.next().pause, r.pause) << r.what;
    EXPECT_EQ(e.waits().has_value(), r.waits.has_value()) << r.what;
    if (r.waits && e.waits()) {
      EXPECT_EQ(e.waits()->why, *r.waits) << r.what;
    }
    EXPECT_EQ(e.error().empty(), r.answer != &forbidden) << r.what;
  }
}

TEST(PodEviction, OfARefusedPodIsRepeatedOnlyWhileThatVeryPodIsThere) {
  using is = pod_eviction::request::is;
  const k8s::fault budget = refused_by("db");
  struct row {
    pod_is seen;
    is then;
    bool unhealthy;  // as the next refusal is told
  };
  for (const row& r :
       {row{pod_is::gone, is::end, false}, row{pod_is::well, is::evict, false},
        row{pod_is::unhealthy, is::evict, true}, row{pod_is::unseen, is::evict, false}}) {
    pod_eviction e(false);
    e.evicted(&budget);
    e.seen(r.seen);
    EXPECT_EQ(e.next().what, r.then);
    if (r.then == is::end) continue;
    e.evicted(&budget);
    EXPECT_EQ(e.waits()->object, "db");
    EXPECT_EQ(e.waits()->is_unhealthy, r.unhealthy);
  }
}

}  // namespace
}  // namespace bootc
