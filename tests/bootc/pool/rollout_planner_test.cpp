// Longer than most files: the planner's rules as one table of situations, each readable alone.
#include "bootc/pool/rollout_planner.hpp"

#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/reconciler/action_patch.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

namespace bootc {
namespace {

using phase = drain_progress::phase;
using namespace testing;
using namespace std::chrono_literals;

const action* find(const rollout_plan& plan, action_kind kind) {
  for (const action& a : plan.actions)
    if (a.kind == kind) return &a;
  return nullptr;
}

TEST(RolloutPlanner, ANewNodeGetsItsObjectAndThenTheLabel) {
  situation s;
  s.node("w1").meta.labels = k8s::string_map{{"pool", "workers"}};
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "create BootcNode w1, label Node w1");
  EXPECT_EQ(plan.actions[0].spec.desired_image, image_of('b'));
  EXPECT_EQ(plan.actions[0].spec.desired_state, image_state::staged);
  EXPECT_EQ(held(plan), "w1:no-daemon");
}

TEST(RolloutPlanner, TheFinalizerComesFirst) {
  situation s;
  s.world.pool.meta.finalizers = {};
  s.node("w1");
  EXPECT_EQ(steps(s.plan()), "add finalizer, create BootcNode w1");
}

TEST(RolloutPlanner, TheLabelIsRestoredOnAnOwnedNode) {
  situation s;
  s.member("w1", unit_state::up_to_date);
  s.node_named("w1").meta.labels = k8s::string_map{{"pool", "workers"}};
  EXPECT_EQ(steps(s.plan()), "label Node w1");
}

TEST(RolloutPlanner, ANewTargetIsWrittenOnceAndAsksForStagingOnly) {
  situation s;
  auto& b = s.slotted("w1", unit_state::staged);
  b.spec.desired_state = image_state::booted;
  s.target('c');
  s.drain("w1", phase::running);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "set desired image w1, cancel drain w1");
  EXPECT_EQ(plan.actions[0].spec.desired_image, image_of('c'));
  EXPECT_EQ(plan.actions[0].spec.desired_state, image_state::staged);
  EXPECT_EQ(held(plan), "w1:staging") << "what it has staged is the former target";
}

TEST(RolloutPlanner, ALostSlotWithdrawsTheApproval) {
  situation s;
  s.member("w1", unit_state::staged).spec.desired_state = image_state::booted;
  s.max_unavailable(0);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "set desired image w1");
  EXPECT_EQ(plan.actions[0].spec.desired_state, image_state::staged);
}

TEST(RolloutPlanner, OneSlotGoesToTheFirstByNameAndTheOthersWait) {
  situation s;
  for (const char* name : {"w3", "w1", "w2"}) s.member(name, unit_state::staged);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot w1, cordon Node w1, drain Node w1");
  EXPECT_FALSE(plan.actions[0].was_cordoned);
  EXPECT_EQ(held(plan), "w2:slot-full w3:slot-full");
  EXPECT_TRUE(plan.units[0].starting);
}

TEST(RolloutPlanner, ACordonedNodeIsRememberedAsSuch) {
  situation s;
  s.member("w1", unit_state::staged);
  s.node_named("w1").unschedulable = true;
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot w1, drain Node w1");
  EXPECT_TRUE(plan.actions[0].was_cordoned);
}

TEST(RolloutPlanner, ACrashBetweenSlotAndCordonIsRepaired) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.node_named("w1").unschedulable = false;
  EXPECT_EQ(steps(s.plan()), "cordon Node w1, drain Node w1");
}

TEST(RolloutPlanner, ADrainedNodeIsApproved) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::succeeded);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "approve reboot w1");
  EXPECT_EQ(plan.actions[0].boot_id, "boot-1");
  EXPECT_EQ(plan.actions[0].resource_version, "20") << "decided on this version and no other";
}

TEST(RolloutPlanner, ADrainForAnotherImageDoesNotCount) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::succeeded).image = image_of('c');
  EXPECT_EQ(steps(s.plan()), "cancel drain w1, drain Node w1");
}

TEST(RolloutPlanner, ANodeUncordonedWhileDrainingIsDrainedAgain) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.node_named("w1").unschedulable = false;
  s.drain("w1", phase::succeeded);
  EXPECT_EQ(steps(s.plan()), "cancel drain w1, cordon Node w1, drain Node w1");
}

TEST(RolloutPlanner, AnApprovedNodeIsLeftAlone) {
  situation s;
  auto& b = s.slotted("w1", unit_state::staged);
  b.spec.desired_state = image_state::booted;
  b.meta.annotations =
      with(b.meta.annotations, std::string(names::approved_at), "2026-11-21T11:59:00Z");
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w1:rebooting");
}

TEST(RolloutPlanner, AFinishedNodeIsFreedAndItsSlotIsUsedInTheSamePass) {
  situation s;
  s.slotted("w1", unit_state::up_to_date).spec.desired_state = image_state::booted;
  s.member("w2", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan),
            "uncordon Node w1, free slot w1, take slot w2, cordon Node w2, drain Node w2");
  EXPECT_EQ(find(plan, action_kind::free_slot)->spec.desired_state, image_state::staged);
}

TEST(RolloutPlanner, ANodeCordonedBeforeStaysCordoned) {
  for (const char* was : {"true", ""}) {
    situation s;
    auto& b = s.slotted("w1", unit_state::up_to_date);
    s.take_slot(b, was);
    EXPECT_EQ(steps(s.plan()), "free slot w1") << was;
  }
}

TEST(RolloutPlanner, ANodeThatIsNotReadyKeepsItsSlot) {
  situation s;
  s.slotted("w1", unit_state::up_to_date);
  s.node_named("w1").ready = k8s::condition_status::no;
  s.member("w2", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w1:not-ready w2:slot-full");
}

TEST(RolloutPlanner, LoweringMaxUnavailableTakesNoSlotAway) {
  situation s;
  s.max_unavailable(1);
  s.slotted("w1", unit_state::staged);
  s.slotted("w2", unit_state::staged);
  s.member("w3", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "drain Node w1, drain Node w2");
  EXPECT_EQ(held(plan), "w1:draining w2:draining w3:slot-full");
}

TEST(RolloutPlanner, PausedNodesInSlotsGoOn) {
  situation s;
  s.world.pool.spec.paused = true;
  s.slotted("w1", unit_state::staged);
  s.member("w2", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "drain Node w1");
  EXPECT_EQ(held(plan), "w1:draining w2:paused");
  EXPECT_EQ(up_to_date_of(plan.status).rfind("False/Paused/", 0), 0u);
}

TEST(RolloutPlanner, ARebootOutsideOfASlotCountsAsADisturbance) {
  situation s;
  s.member("w1", unit_state::rebooting);
  s.member("w2", unit_state::staged);
  EXPECT_EQ(held(s.plan()), "w1:rebooting w2:slot-full");
}

// ---- halt ----

TEST(RolloutHalt, TwoUnhealthyNodesInSlotsStopNewOnes) {
  situation s;
  s.max_unavailable(4);
  auto& w1 = s.slotted("w1", unit_state::degraded);
  w1.status.booted = booted('b');
  s.slotted("w2", unit_state::up_to_date);
  s.node_named("w2").ready = k8s::condition_status::no;
  s.slotted("w3", unit_state::up_to_date);
  s.member("w4", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "uncordon Node w3, free slot w3")
      << "healthy finished nodes are still freed";
  EXPECT_EQ(degraded_of(plan.status),
            "True/RolloutHalted/Rollout halted: 2+ unhealthy nodes in reboot slots (w1: Degraded, "
            "w2: NotReady)");
  EXPECT_EQ(held(plan), "w1:degraded w2:not-ready w4:halted");
}

TEST(RolloutHalt, DegradedOnTheOldImageDoesNotCountBeforeItIsToldToBoot) {
  situation s;
  s.max_unavailable(4);
  s.slotted("w1", unit_state::degraded);
  s.slotted("w2", unit_state::degraded);
  s.member("w3", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_FALSE(plan.halted);
  EXPECT_EQ(steps(plan), "take slot w3, cordon Node w3, drain Node w3");
}

TEST(RolloutHalt, ImagesThatDoNotBootStopTheRollout) {
  situation s;
  s.max_unavailable(3);
  for (const char* name : {"w1", "w2"}) {
    auto& b = s.slotted(name, unit_state::degraded);
    b.spec.desired_state = image_state::booted;
    b.status.conditions[1].message = std::string(not_on_target_text);
  }
  s.member("w3", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_TRUE(plan.halted);
  EXPECT_EQ(find(plan, action_kind::take_slot), nullptr);
  EXPECT_EQ(degraded_of(plan.status),
            "True/RolloutHalted/Rollout halted: 2+ unhealthy nodes in reboot slots (w1: Degraded, "
            "w2: Degraded)");
  EXPECT_EQ(held(plan), "w1:degraded w2:degraded w3:halted");

  s.target('c');
  const auto next = s.plan();
  EXPECT_FALSE(next.halted) << "another image is another attempt";
  EXPECT_EQ(degraded_of(next.status), "True/NodeDegraded/Degraded nodes: w1, w2");
}

/// Of a node in a slot that was told to boot: every state, what it runs, and when it counts.
TEST(RolloutHalt, EveryStateInWhichAnApprovedNodeHasFailedCounts) {
  struct row {
    unit_state state;
    char runs;  // 0: nothing is reported
    k8s::condition_status ready;
    std::int64_t minutes;  // since it was told to boot
    const char* counts_as;
  };
  constexpr auto yes = k8s::condition_status::yes, no = k8s::condition_status::no,
                 unknown = k8s::condition_status::unknown;
  for (const row& r : {row{unit_state::degraded, 'a', yes, 1, "Degraded"},
                       {unit_state::degraded, 'b', yes, 1, "Degraded"},
                       {unit_state::degraded, 'c', yes, 1, "Degraded"},
                       {unit_state::degraded, 0, yes, 1, "Degraded"},
                       {unit_state::degraded, 'a', unknown, 31, "Degraded"},
                       {unit_state::up_to_date, 'b', no, 1, "NotReady"},
                       {unit_state::up_to_date, 'b', unknown, 1, "NotReady"},
                       {unit_state::rebooting, 'a', unknown, 29, ""},
                       {unit_state::rebooting, 'a', unknown, 30, "RebootTimeout"},
                       {unit_state::rebooting, 'a', yes, 30, "RebootTimeout"},
                       {unit_state::staged, 'a', yes, 29, ""},
                       {unit_state::staged, 'a', yes, 30, "RebootTimeout"},
                       {unit_state::staging, 'a', yes, 29, ""},
                       {unit_state::staging, 'a', yes, 30, "RebootTimeout"},
                       {unit_state::pending, 'a', no, 29, ""},
                       {unit_state::pending, 'a', no, 30, "RebootTimeout"},
                       {unit_state::pending, 'c', yes, 30, "RebootTimeout"},
                       {unit_state::pending, 0, unknown, 30, "RebootTimeout"}}) {
    situation s;
    s.max_unavailable(3);
    std::string expected;
    for (const char* name : {"w1", "w2"}) {
      auto& b = s.slotted(name, r.state);
      b.status.booted.reset();
      if (r.runs != 0) b.status.booted = booted(r.runs);
      b.spec.desired_state = image_state::booted;
      b.meta.annotations = with(b.meta.annotations, std::string(names::approved_at),
                                reactor::format_rfc3339(noon - std::chrono::minutes(r.minutes)));
      s.node_named(name).ready = r.ready;
      expected += (expected.empty() ? "" : ", ") + std::string(name) + ": " + r.counts_as;
    }
    s.member("w3", unit_state::staged);
    const auto plan = s.plan();
    const std::string what = std::string(text(r.state)) + " on " + (r.runs ? r.runs : '-') +
                             " after " + std::to_string(r.minutes) + " min";
    const bool counts = *r.counts_as != 0;
    EXPECT_EQ(plan.halted, counts) << what;
    EXPECT_EQ(find(plan, action_kind::take_slot) == nullptr, counts) << what;
    if (!counts) continue;
    EXPECT_EQ(
        degraded_of(plan.status),
        "True/RolloutHalted/Rollout halted: 2+ unhealthy nodes in reboot slots (" + expected + ")")
        << what;
    // The words that people read agree with what was counted.
    const std::string code = r.counts_as == std::string("Degraded")   ? "degraded"
                             : r.counts_as == std::string("NotReady") ? "not-ready"
                             : r.state == unit_state::staged          ? "stuck"
                                                                      : "reboot-timeout";
    EXPECT_EQ(held(plan), "w1:" + code + " w2:" + code + " w3:halted") << what;
  }
}

TEST(RolloutHalt, NoDrainStartsAgainButOneThatEndedIsApproved) {
  situation s;
  s.max_unavailable(5);
  for (const char* name : {"w1", "w2"}) {
    s.slotted(name, unit_state::up_to_date);
    s.node_named(name).ready = k8s::condition_status::unknown;
  }
  s.slotted("w3", unit_state::staged);
  s.slotted("w4", unit_state::staged);
  s.drain("w4", phase::succeeded);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "approve reboot w4");
  EXPECT_EQ(held(plan), "w1:not-ready w2:not-ready w3:halted w4:rebooting");
}

TEST(RolloutHalt, ARebootThatTakesTooLongCountsAsUnhealthy) {
  situation s;
  s.max_unavailable(3);
  s.world.pool.spec.reboot_timeout_seconds = 600;
  for (const char* name : {"w1", "w2"}) {
    auto& b = s.slotted(name, unit_state::rebooting);
    b.spec.desired_state = image_state::booted;
    b.meta.annotations =
        with(b.meta.annotations, std::string(names::approved_at), "2026-11-21T11:45:00Z");
  }
  s.member("w3", unit_state::staged);
  auto plan = s.plan();
  EXPECT_TRUE(plan.halted);
  EXPECT_EQ(degraded_of(plan.status),
            "True/RolloutHalted/Rollout halted: 2+ unhealthy nodes in reboot slots (w1: "
            "RebootTimeout, w2: RebootTimeout)");
  EXPECT_EQ(plan.status.degraded_count, 2);
  EXPECT_EQ(held(plan), "w1:reboot-timeout w2:reboot-timeout w3:halted");

  s.world.pool.spec.reboot_timeout_seconds = 1200;
  plan = s.plan();
  EXPECT_FALSE(plan.halted);
  EXPECT_EQ(plan.look_again, noon + 5min);
}

TEST(RolloutHalt, ZeroMeansAsLongAsItTakes) {
  for (const std::int64_t never : {0, -1}) {
    situation s;
    s.world.pool.spec.reboot_timeout_seconds = never;
    auto& b = s.slotted("w1", unit_state::rebooting);
    b.spec.desired_state = image_state::booted;
    b.meta.annotations =
        with(b.meta.annotations, std::string(names::approved_at), "2026-11-20T11:45:00Z");
    const auto plan = s.plan();
    EXPECT_EQ(held(plan), "w1:rebooting") << never;
    EXPECT_EQ(plan.status.degraded_count, 0) << never;
  }
}

TEST(RolloutHalt, AnApprovalOfSomebodyElseIsTimedFromWhenItIsFirstSeen) {
  situation s;
  s.world.pool.spec.reboot_timeout_seconds = 600;
  auto& b = s.slotted("w1", unit_state::rebooting);
  b.spec.desired_state = image_state::booted;
  auto plan = s.plan();
  ASSERT_EQ(steps(plan), "note approval w1");
  EXPECT_EQ(plan.actions[0].at, noon);
  EXPECT_EQ(plan.look_again, noon + 10min);
  b.meta.annotations =
      with(b.meta.annotations, std::string(names::approved_at), "2026-11-21T12:00:00Z");
  EXPECT_EQ(steps(s.plan()), "") << "noted once";
  s.world.now = noon + 10min;
  plan = s.plan();
  EXPECT_EQ(held(plan), "w1:reboot-timeout");
  EXPECT_EQ(plan.status.degraded_count, 1);
}

// ---- a slot that somebody took away ----

TEST(RolloutSlotLost, ANewSlotKeepsWordOfHowTheNodeWas) {
  situation s;
  auto& b = s.member("w1", unit_state::staged);
  s.node_named("w1").unschedulable = true;  // by us, before the slot was taken away
  b.meta.annotations = with(b.meta.annotations, std::string(names::was_cordoned), "false");
  const auto plan = s.plan();
  ASSERT_EQ(steps(plan), "take slot w1, drain Node w1");
  EXPECT_FALSE(plan.actions[0].was_cordoned);
}

TEST(RolloutSlotLost, ANodeThatArrivesAllTheSameIsUncordoned) {
  situation s;
  auto& b = s.member("w1", unit_state::up_to_date);
  s.node_named("w1").unschedulable = true;
  b.meta.annotations = with(b.meta.annotations, std::string(names::was_cordoned), "false");
  EXPECT_EQ(steps(s.plan()), "uncordon Node w1, free slot w1");
}

// ---- drain timeout ----

TEST(RolloutDrain, ATimeoutRestoresTheCordonFreesTheSlotAndWaitsLonger) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.member("w2", unit_state::staged);
  s.drain("w1", phase::timed_out);
  auto plan = s.plan();
  EXPECT_EQ(steps(plan),
            "uncordon Node w1, free slot after a drain timed out w1, cancel drain w1, take slot "
            "w2, cordon Node w2, drain Node w2");
  EXPECT_EQ(find(plan, action_kind::note_drain_timeout)->at, noon + 5min);
  EXPECT_EQ(degraded_of(plan.status), "True/NodeDegraded/Degraded nodes: w1 (drain timed out)");
  EXPECT_EQ(plan.status.degraded_count, 1);
}

TEST(RolloutDrain, ATimeoutNamesThePodsThatWereLeft) {
  situation s;
  auto& b = s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::timed_out).detail = "shop/db-0";
  const hold given_up = s.plan().holds.at(0);
  EXPECT_EQ(given_up.code, "drain-timeout");
  EXPECT_NE(given_up.sentence.find("left: shop/db-0"), std::string::npos) << given_up.sentence;
  // The next pass knows it only from the note.
  s.world.drains.clear();
  b.meta.annotations =
      with(with(with({}, std::string(names::drain_retry_at), "2026-11-21T12:05:00Z"),
                std::string(names::hold), given_up.code),
           std::string(names::hold_reason), given_up.sentence);
  EXPECT_EQ(s.plan().holds.at(0).sentence, given_up.sentence);
}

TEST(RolloutDrain, EachFurtherTimeoutDoublesTheDelayUpToAnHour) {
  for (const auto& [timeouts, delay] :
       {std::pair{"1", 10min}, {"3", 40min}, {"4", 60min}, {"40", 60min}}) {
    situation s;
    auto& b = s.slotted("w1", unit_state::staged);
    b.meta.annotations = with(b.meta.annotations, std::string(names::drain_timeouts), timeouts);
    s.drain("w1", phase::timed_out);
    EXPECT_EQ(find(s.plan(), action_kind::note_drain_timeout)->at, noon + delay) << timeouts;
  }
}

TEST(RolloutDrain, ANodeThatTimedOutWaitsForItsTimeAndIsThenTriedAgain) {
  situation s;
  auto& b = s.member("w1", unit_state::staged);
  b.meta.annotations =
      with(b.meta.annotations, std::string(names::drain_retry_at), "2026-11-21T12:05:00Z");
  auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w1:drain-timeout");
  EXPECT_EQ(plan.look_again, noon + 5min);
  s.world.now = noon + 5min;
  plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot w1, cordon Node w1, drain Node w1");
  EXPECT_EQ(degraded_of(plan.status), "False/Healthy/");
}

TEST(RolloutDrain, AFailedDrainIsRepeatedAtItsTime) {
  situation s;
  s.slotted("w1", unit_state::staged);
  auto& d = s.drain("w1", phase::failed);
  d.detail = "get DaemonSet kube-system/proxy: forbidden";
  d.retry_at = noon + 10s;
  auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w1:drain-failed");
  EXPECT_EQ(plan.look_again, noon + 10s);
  EXPECT_EQ(degraded_of(plan.status), "True/NodeDegraded/Degraded nodes: w1 (drain failed)");
  s.world.now = noon + 10s;
  EXPECT_EQ(steps(s.plan()), "drain Node w1");
  d.state = phase::running;
  d.failures = 1;
  EXPECT_EQ(degraded_of(s.plan().status), "True/NodeDegraded/Degraded nodes: w1 (drain failed)")
      << "until one works: it does not flap with each attempt";
  d.state = phase::succeeded;
  EXPECT_EQ(degraded_of(s.plan().status), "False/Healthy/");
}

TEST(RolloutDrain, ThePodsThatAreLeftAreNamed) {
  situation s;
  s.slotted("w1", unit_state::staged);
  auto& d = s.drain("w1", phase::running);
  d.pods_left = 3;
  d.left = {"db/db-0", "web/web-1"};
  EXPECT_EQ(s.plan().holds.at(0).sentence,
            "it is being drained, 3 pods are left: db/db-0, web/web-1 and 1 more");
  d.unseen = "list the pods of w1: the answer is no list of pods";
  EXPECT_EQ(s.plan().holds.at(0).sentence,
            "it is being drained, 3 pods are left: db/db-0, web/web-1 and 1 more; which of them "
            "are gone is not seen: list the pods of w1: the answer is no list of pods");
}

TEST(RolloutDrain, ABudgetThatBlocksIsNamedWithItsPodAndWhatReleasesIt) {
  situation s;
  s.slotted("w1", unit_state::staged);
  auto& d = s.drain("w1", phase::running);
  d.waits = {{"shop/db-0", pod_wait::kind::budget, "db", {}, true, noon}};
  auto plan = s.plan();
  ASSERT_EQ(held(plan), "w1:pdb");
  EXPECT_EQ(plan.holds[0].sentence,
            "the PodDisruptionBudget shop/db allows no eviction of shop/db-0; shop/db-0 is not "
            "Ready, and a budget whose unhealthyPodEvictionPolicy is AlwaysAllow would let it go");
  EXPECT_EQ(plan.holds[0].released_by,
            "the PodDisruptionBudget shop/db allows one more disruption");
  d.failures = 1;
  d.last_failure = "evict pod shop/web-0: no";
  plan = s.plan();
  EXPECT_EQ(held(plan), "w1:drain-failed") << "until an attempt works";
  EXPECT_EQ(plan.holds[0].sentence.substr(0, 83),
            "its drain failed: evict pod shop/web-0: no; it is tried again, and the PodDisruptio");
}

TEST(RolloutDrain, ANodeWhoseKubeletIsAwayIsNamedBesideThePodThatDoesNotEnd) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.node_named("w1").ready = k8s::condition_status::unknown;
  auto& d = s.drain("w1", phase::running);
  d.pods_left = 1;
  d.left = {"shop/db-0"};
  d.waits = {{"shop/db-0", pod_wait::kind::ending, "example.com/hold", {}, false, noon}};
  const auto plan = s.plan();
  ASSERT_EQ(held(plan), "w1:draining");
  EXPECT_EQ(plan.holds[0].sentence,
            "it is being drained, 1 pod is left: shop/db-0; shop/db-0 was told to end at "
            "2026-11-21T12:00:00Z and has not ended: its finalizers keep it (example.com/hold); "
            "Node w1 is not Ready, and its kubelet has to end them");
}

/// The annotations that the process which drains writes for everybody else.
void note_hold(bootc_node& b, const hold& h) {
  for (const auto& [key, value] : note_annotations(b, &h, noon))
    b.meta.annotations = with(b.meta.annotations, std::string(key), std::string(value.as_string()));
}

TEST(RolloutDrain, WhoOnlyLooksCountsAndSaysWhatTheProcessThatDrainsHasNoted) {
  situation drains, looks;
  drains.slotted("w1", unit_state::staged);
  bootc_node& object = looks.slotted("w1", unit_state::staged);
  auto& d = drains.drain("w1", phase::failed);
  d.detail = "evict pod shop/db-0: more than one PodDisruptionBudget";
  d.retry_at = noon + 5s;
  const auto acted = drains.plan();
  ASSERT_EQ(held(acted), "w1:drain-failed");
  EXPECT_EQ(acted.holds[0].released_by, "the next attempt at 2026-11-21T12:00:05Z");
  note_hold(object, acted.holds[0]);
  auto seen = looks.plan();
  EXPECT_EQ(seen.holds[0].sentence, acted.holds[0].sentence);
  EXPECT_EQ(seen.holds[0].released_by, acted.holds[0].released_by);
  EXPECT_EQ(seen.counts.degraded, 1u);
  EXPECT_EQ(seen.status.degraded_count, acted.status.degraded_count);
  EXPECT_EQ(degraded_of(seen.status), degraded_of(acted.status));
  looks.world.now = noon + 10s;
  EXPECT_EQ(looks.plan().holds[0].released_by,
            "the next attempt, which was due at 2026-11-21T12:00:05Z")
      << "an hour that has passed is not called the next one";
}

// ---- control plane ----

k8s::node& control_plane(situation& s, const std::string& name) {
  s.member(name, unit_state::staged);
  auto& n = s.node_named(name);
  n.meta.labels = with(n.meta.labels, std::string(names::control_plane_role), "");
  return n;
}

TEST(ControlPlane, OneAtATimeWhateverTheSlotsAllow) {
  situation s;
  s.max_unavailable(3);
  for (const char* name : {"c1", "c2", "c3"}) control_plane(s, name);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot c1, cordon Node c1, drain Node c1");
  EXPECT_EQ(held(plan), "c2:control-plane c3:control-plane");
}

TEST(ControlPlane, NoneWhileAnotherIsNotReadyEvenOutsideOfThePool) {
  situation s;
  control_plane(s, "c1");
  auto& outside = s.node("c9");
  outside.meta.labels = k8s::string_map{{k8s::interned(names::control_plane_role), ""}};
  outside.ready = k8s::condition_status::unknown;
  EXPECT_EQ(held(s.plan()), "c1:control-plane");
}

TEST(ControlPlane, TheOnlyOneThatIsNotReadyMayGo) {
  situation s;
  control_plane(s, "c1").ready = k8s::condition_status::no;
  control_plane(s, "c2");
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot c1, cordon Node c1, drain Node c1");
  EXPECT_EQ(held(plan), "c2:slot-full");
}

TEST(ControlPlane, ASlotOfAnotherPoolCounts) {
  situation s;
  control_plane(s, "c1");
  auto& n = s.node("c9");
  n.meta.labels = k8s::string_map{{k8s::interned(names::control_plane_role), ""}};
  auto& other = s.object("c9");
  other.meta.owner.uid = uid_of(2);
  s.take_slot(other);
  EXPECT_EQ(held(s.plan()), "c1:control-plane");
}

TEST(ControlPlane, ASingleOneGoesWithAWarning) {
  situation s;
  control_plane(s, "c1");
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot c1, cordon Node c1, drain Node c1");
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_EQ(plan.warnings[0].reason, "SingleControlPlane");
}

// ---- policy ----

TEST(RolloutPolicy, ChoosesTheOrderWithinTheSlots) {
  situation s;
  s.max_unavailable(2);
  for (const char* name : {"w1", "w2", "w3", "w4"}) s.member(name, unit_state::staged);
  s.world.policy.is = policy_answer::kind::given;
  s.world.policy.start = {"w4", "nobody", "w2", "w1"};
  s.world.policy.holds = {{"w3", {"OtherZone", "zone b is busy"}}, {"w1", {{}, "later"}}};
  const auto plan = s.plan();
  EXPECT_EQ(
      steps(plan),
      "take slot w4, take slot w2, cordon Node w2, cordon Node w4, drain Node w2, drain Node w4");
  EXPECT_EQ(held(plan), "w1:slot-full w3:policy:OtherZone");
  EXPECT_EQ(plan.holds[1].sentence, "zone b is busy");
}

TEST(RolloutPolicy, IsToldSinceWhenAUnitIsWhatItIs) {
  situation s;
  auto& done = s.member("done", unit_state::up_to_date).status.conditions;
  done[0].last_transition_time = "2026-11-20T08:00:00Z";  // Idle
  auto& failed = s.member("failed", unit_state::degraded).status.conditions;
  failed[1].last_transition_time = "2026-11-21T11:30:00Z";  // Degraded
  const auto plan = s.plan();
  ASSERT_EQ(plan.units.size(), 2u);
  EXPECT_EQ(plan.units[0].since, *reactor::parse_rfc3339("2026-11-20T08:00:00Z"));
  EXPECT_EQ(plan.units[1].since, *reactor::parse_rfc3339("2026-11-21T11:30:00Z"));
}

TEST(RolloutPolicy, AFailingOneStartsNobodyNewButWhatRunsIsFinished) {
  situation s;
  s.max_unavailable(2);
  s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::succeeded);
  s.member("w2", unit_state::staged);
  s.world.policy.is = policy_answer::kind::failed;
  s.world.policy.detail = "policy.lua:3: boom";
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "approve reboot w1");
  EXPECT_EQ(held(plan), "w1:rebooting w2:policy-fault");
  EXPECT_EQ(degraded_of(plan.status), "True/PolicyFault/The policy failed: policy.lua:3: boom");
}

TEST(RolloutPolicy, OneThatFailsOnAUnitHoldsThatUnitAlone) {
  situation s;
  s.max_unavailable(2);
  for (const char* name : {"w1", "w2"}) s.member(name, unit_state::staged);
  s.world.policy.is = policy_answer::kind::given;
  s.world.policy.start = {"w2"};
  s.world.policy.holds = {{"w1", {"PolicyFault", "zones/policy.lua:3: boom", true}}};
  s.world.policy.fault = "zones/policy.lua:3: boom";
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot w2, cordon Node w2, drain Node w2");
  EXPECT_EQ(held(plan), "w1:policy-fault");
  EXPECT_EQ(degraded_of(plan.status),
            "True/PolicyFault/The policy failed: zones/policy.lua:3: boom");
}

TEST(RolloutPolicy, MayShortenADrainAndNotLengthenIt) {
  situation s;
  s.max_unavailable(2);
  s.world.pool.spec.drain_timeout_seconds = 7'200;
  for (const char* name : {"w1", "w2"}) s.member(name, unit_state::staged);
  s.world.policy.is = policy_answer::kind::given;
  s.world.policy.start = {"w1", "w2"};
  s.world.policy.drain_timeouts = {{"w1", 90min}, {"w2", 6h}};
  const auto first = s.plan();
  std::map<std::string, std::string> kept;
  for (const action& a : first.actions) {
    if (a.kind != action_kind::take_slot) continue;
    const boost::json::value patch(bootc_node_patch(a));
    kept[a.node] = patch.at("metadata").at("annotations").at(names::drain_within).as_string();
  }
  EXPECT_EQ(kept, (std::map<std::string, std::string>{{"w1", "5400"}, {"w2", "21600"}}));
  // Whoever drains it, after a restart too.
  situation later;
  later.max_unavailable(2);
  later.world.pool.spec.drain_timeout_seconds = 7'200;
  for (const auto& [name, within] : kept) {
    bootc_node& b = later.slotted(name, unit_state::staged);
    b.meta.annotations = with(b.meta.annotations, std::string(names::drain_within), within);
  }
  std::map<std::string, reactor::nanoseconds> limits;
  for (const action& a : later.plan().actions)
    if (a.kind == action_kind::start_drain) limits[a.node] = a.timeout;
  EXPECT_EQ(limits, (std::map<std::string, reactor::nanoseconds>{{"w1", 90min}, {"w2", 2h}}));
}

TEST(RolloutPolicy, SaysWhenToAskAgain) {
  situation s;
  s.member("w1", unit_state::staged);
  s.world.policy.is = policy_answer::kind::given;
  s.world.policy.look_again = noon + 30min;
  const rollout_plan plan = s.plan();
  EXPECT_EQ(plan.look_again, noon + 30min);
  ASSERT_EQ(plan.holds.size(), 1u);
  EXPECT_EQ(plan.holds[0].asked_again, "2026-11-21T12:30:00Z");
  s.world.policy.look_again.reset();
  EXPECT_EQ(s.plan().holds.at(0).asked_again, "");
}

// ---- conflicts, leaving, deletion ----

TEST(Membership, AnotherPoolsNodeIsAConflictOfTheLoser) {
  situation s;
  s.member("w1", unit_state::up_to_date);
  s.node("w2");
  auto& other = s.object("w2");
  other.meta.owner.name = "first";
  other.meta.owner.uid = uid_of(2);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(degraded_of(plan.status),
            "True/NodeConflict/Node selector overlaps with pool(s): first");
  EXPECT_EQ(plan.status.node_count, 1) << "a contested node is not ours";
  EXPECT_EQ(held(plan), "w2:conflict");
}

TEST(Membership, AnObjectWithoutAnOwnerIsNeverAdopted) {
  situation s;
  s.node("w1");
  s.object("w1").meta.owner = {};
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(degraded_of(plan.status), "True/NodeConflict/BootcNode(s) that no pool owns: w1");
}

TEST(Membership, ANodeThatLeavesIsGivenBackAsItWas) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.node_named("w1").meta.labels = k8s::string_map{{k8s::interned(names::managed), ""}};
  s.drain("w1", phase::running);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "cancel drain w1, uncordon Node w1, unlabel Node w1, delete BootcNode w1");
  EXPECT_EQ(plan.status.node_count, 0);
}

TEST(Membership, ANodeThatIsGoneOnlyLosesItsObject) {
  situation s;
  s.object("w1");
  EXPECT_EQ(steps(s.plan()), "delete BootcNode w1");
}

TEST(PoolDeletion, NodesNotToldToBootAreReleasedAtOnce) {
  situation s;
  s.world.pool.meta.deletion_timestamp = noon - 1min;
  s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::succeeded);
  s.member("w2", unit_state::staging);
  EXPECT_EQ(steps(s.plan()),
            "cancel drain w1, uncordon Node w1, unlabel Node w1, delete BootcNode w1, unlabel Node "
            "w2, delete BootcNode w2");
}

TEST(PoolDeletion, ANodeToldToBootIsAwaitedUntilItIsBack) {
  situation s;
  s.world.pool.meta.deletion_timestamp = noon - 1min;
  auto& b = s.slotted("w1", unit_state::rebooting);
  b.spec.desired_state = image_state::booted;
  b.meta.annotations =
      with(with(b.meta.annotations, std::string(names::approved_at), "2026-11-21T11:50:00Z"),
           std::string(names::approved_boot_id), "boot-1");
  auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w1:rebooting");
  EXPECT_EQ(plan.look_again, noon + 20min);

  s.node_named("w1").boot_id = "boot-2";
  EXPECT_EQ(steps(s.plan()), "uncordon Node w1, unlabel Node w1, delete BootcNode w1")
      << "whatever it booted";
  s.node_named("w1").ready = k8s::condition_status::no;
  EXPECT_EQ(steps(s.plan()), "");
  s.world.now = noon + 20min;
  EXPECT_EQ(steps(s.plan()), "uncordon Node w1, unlabel Node w1, delete BootcNode w1")
      << "the wait has an end";
}

TEST(PoolDeletion, TheFinalizerGoesLast) {
  situation s;
  s.world.pool.meta.deletion_timestamp = noon;
  s.node("w1");
  EXPECT_EQ(steps(s.plan()), "remove finalizer");
}

// ---- bad input and old views ----

TEST(InvalidSpec, TouchesNoNode) {
  const auto text_of = [](auto change) {
    situation s;
    s.member("w1", unit_state::staged);
    s.node("w2");
    change(s.world.pool.spec);
    const auto plan = s.plan();
    EXPECT_EQ(steps(plan), "");
    EXPECT_EQ(held(plan), s.world.pool.spec.selector_problem.empty()
                              ? "w1:invalid-spec w2:invalid-spec"
                              : "w1:invalid-spec")
        << "of a selector that cannot be read nobody knows whom it takes";
    EXPECT_TRUE(plan.status_changed);
    return degraded_of(plan.status);
  };
  EXPECT_EQ(text_of([](auto& spec) {
              spec.image_ref = "myos:latest";
            }).rfind("True/InvalidSpec/invalid image ref \"myos:latest\": ", 0),
            0u);
  EXPECT_EQ(text_of([](auto& spec) {
              spec.max_unavailable = "banana";
            }).rfind("True/InvalidSpec/invalid maxUnavailable \"banana\": ", 0),
            0u);
  EXPECT_EQ(text_of([](auto& spec) { spec.selector_problem = "no such operator"; }),
            "True/InvalidSpec/invalid nodeSelector: no such operator");
}

TEST(InvalidSpec, ANodeThatWaitsToJoinIsShownWithTheSameReason) {
  situation s;
  s.member("w2", unit_state::up_to_date);
  s.node("w1");
  s.node("w3");
  s.node("else").meta.labels = {};
  s.world.pool.spec.image_ref = "myos:latest";
  auto plan = s.plan();
  EXPECT_EQ(held(plan), "w1:invalid-spec w2:invalid-spec w3:invalid-spec");
  ASSERT_EQ(plan.units.size(), 3u);
  EXPECT_EQ(plan.units[0].name, "w1");
  EXPECT_EQ(plan.units[1].name, "w2");
  s.world.pool.spec.selector_problem = "no such operator";
  s.world.pool.spec.image_ref = image_of('b');
  EXPECT_EQ(held(s.plan()), "w2:invalid-spec") << "whom it selects is not known";
}

TEST(InvalidSpec, ShowsTheNodesThatThePoolHas) {
  situation s;
  s.member("w1", unit_state::staged);
  s.member("w2", unit_state::up_to_date);
  s.world.pool.status.updated_count = 3;  // from before
  s.world.pool.spec.image_ref = "nonsense";
  const auto plan = s.plan();
  ASSERT_EQ(plan.units.size(), 2u);
  EXPECT_EQ(plan.units[0].state, unit_state::staged);
  EXPECT_EQ(plan.counts.up_to_date, 1u);
  EXPECT_EQ(plan.status.held, (std::map<std::string, std::int64_t>{{"invalid-spec", 2}}));
  EXPECT_FALSE(plan.moves);
}

TEST(DeletedPool, ShowsTheNodesThatAreLetGo) {
  situation s;
  s.member("w1", unit_state::staged);
  s.world.pool.meta.deletion_timestamp = noon;
  const auto plan = s.plan();
  ASSERT_EQ(plan.units.size(), 1u);
  EXPECT_EQ(held(plan), "w1:leaving");
}

TEST(Holds, SaySinceWhenWhereItIsKnown) {
  situation s;
  s.world.pool.spec.max_unavailable = 1;
  bootc_node& slotted = s.slotted("w1", unit_state::staged);
  slotted.meta.annotations =
      testing::with(testing::with(slotted.meta.annotations, "windlass.dev/hold", "draining"),
                    "windlass.dev/hold-since", "2026-11-21T11:30:00Z");
  s.member("w2", unit_state::degraded);
  s.member("w3", unit_state::staged);
  const auto plan = s.plan();
  ASSERT_EQ(held(plan), "w1:draining w2:degraded w3:slot-full");
  EXPECT_EQ(plan.holds[0].since, "2026-11-21T11:30:00Z");
  EXPECT_EQ(plan.holds[1].since, "2026-11-21T11:00:00Z");
  EXPECT_EQ(plan.holds[2].since, "");
}

TEST(Holds, EveryCodeHasItsRow) {
  std::set<std::string_view> codes;
  for (const auto& k : hold_code::of_every_api) EXPECT_TRUE(codes.insert(k.code).second) << k.code;
  for (const auto& k : hold_code::of_nodes) EXPECT_TRUE(codes.insert(k.code).second) << k.code;
  for (const std::string_view code : codes) EXPECT_EQ(hold_code::find(code)->code, code);
  EXPECT_EQ(hold_code::find("policy:AfterCanary")->code, "policy");
  EXPECT_EQ(hold_code::find("nonsense"), nullptr);
}

TEST(StaleCluster, NothingIsDecidedOnOldViews) {
  situation s;
  s.member("w1", unit_state::staged);
  s.world.stale = true;
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_FALSE(plan.status_changed);
}

TEST(Forecast, NamesWhoWouldGoFirst) {
  situation s;
  s.max_unavailable(2);
  for (const char* name : {"w1", "w2", "w3"}) s.member(name, unit_state::pending);
  s.world.assume_staged = true;
  const auto plan = s.plan();
  EXPECT_TRUE(plan.units[0].starting);
  EXPECT_TRUE(plan.units[1].starting);
  EXPECT_FALSE(plan.units[2].starting);
  EXPECT_EQ(held(plan), "w3:slot-full");
}

TEST(RolloutPlanner, EveryUnitThatWaitsHasOneHoldWithASentenceAndARelease) {
  situation s;
  s.max_unavailable(2);
  s.member("a", unit_state::up_to_date);
  s.member("b", unit_state::pending);
  s.member("c", unit_state::staging);
  s.member("d", unit_state::staged);
  s.slotted("e", unit_state::rebooting);
  s.member("f", unit_state::degraded);
  s.slotted("g", unit_state::staged);
  s.node("h");
  const auto plan = s.plan();
  EXPECT_EQ(held(plan),
            "b:staging c:staging d:slot-full e:rebooting f:degraded g:draining h:no-daemon");
  for (const hold& h : plan.holds) {
    EXPECT_FALSE(h.sentence.empty()) << h.unit;
    EXPECT_FALSE(h.released_by.empty()) << h.unit;
  }
}

TEST(RolloutPlanner, AnImageThatDidNotBootIsReleasedByAnotherOne) {
  situation s;
  auto& b = s.slotted("w1", unit_state::degraded);
  b.status.conditions.back().message = "rebooted but not on target: a runs instead of b";
  const auto plan = s.plan();
  ASSERT_EQ(held(plan), "w1:degraded");
  EXPECT_EQ(plan.holds[0].released_by, "another spec.image.ref");
}

TEST(RolloutPlanner, AnUnchangedWorldNeedsNothing) {
  situation s;
  s.member("w1", unit_state::up_to_date);
  s.member("w2", unit_state::degraded);
  const auto first = s.plan();
  s.world.pool.status = first.status;
  s.world.now += 1h;
  const auto second = s.plan();
  EXPECT_EQ(steps(second), "");
  EXPECT_FALSE(second.status_changed);
}

}  // namespace
}  // namespace bootc
