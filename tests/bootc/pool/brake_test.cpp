// What is left of a plan while the brake is on: what is under way ends, and nothing begins.
#include "bootc/pool/rollout_planner.hpp"
#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using phase = drain_progress::phase;
using namespace testing;

units::hold brake_hold() {
  return {"", "braked", "the brake is on: a test", "`windlass brake off`", "2026-11-21T11:59:00Z"};
}

/// The steps with the brake on; none of them begins anything.
std::string braked(situation& s) {
  s.world.braked = brake_hold();
  const rollout_plan plan = s.plan();
  for (const action& a : plan.actions) EXPECT_FALSE(begins(a)) << text(a.kind);
  return steps(plan) + "; " + held(plan);
}

TEST(BrakedPool, ANewNodeIsNotTakenIn) {
  situation s;
  s.world.pool.meta.finalizers = {};
  s.node("w1").meta.labels = k8s::string_map{{"pool", "workers"}};
  EXPECT_EQ(braked(s), "; w1:braked");
}

TEST(BrakedPool, NobodyIsToldOfAnotherImage) {
  situation s;
  s.member("w1", unit_state::up_to_date);
  s.target('c');
  EXPECT_EQ(braked(s), "; w1:braked");
}

TEST(BrakedPool, WhatIsBeingFetchedIsFetched) {
  situation s;
  s.member("w1", unit_state::staging);
  EXPECT_EQ(braked(s), "; w1:staging");
}

TEST(BrakedPool, NoSlotIsTaken) {
  situation s;
  s.member("w1", unit_state::staged);
  const auto sentence = [&] { return s.plan().holds.front(); };
  EXPECT_EQ(braked(s), "; w1:braked");
  EXPECT_EQ(sentence().sentence, "the brake is on: a test");
  EXPECT_EQ(sentence().since, "2026-11-21T11:59:00Z");
}

TEST(BrakedPool, ASlotWithoutADrainBeginsNone) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.node_named("w1").unschedulable = false;
  EXPECT_EQ(braked(s), "; w1:braked");
}

TEST(BrakedPool, ADrainGoesOnAndKeepsItsNodeCordoned) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.node_named("w1").unschedulable = false;
  s.drain("w1", phase::running);
  EXPECT_EQ(braked(s), "cordon Node w1; w1:draining");
}

TEST(BrakedPool, ADrainedNodeIsNotToldToBoot) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::succeeded);
  EXPECT_EQ(braked(s), "; w1:braked");
}

TEST(BrakedPool, AFailedDrainIsNotTriedAgain) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::failed).retry_at = noon;
  EXPECT_EQ(braked(s), "; w1:braked");
}

TEST(BrakedPool, ARebootEndsAndItsSlotIsFreed) {
  situation s;
  s.slotted("w1", unit_state::rebooting).spec.desired_state = image_state::booted;
  EXPECT_EQ(braked(s).substr(0, 18), "note approval w1; ");
  situation back;
  back.slotted("w1", unit_state::up_to_date).spec.desired_state = image_state::booted;
  EXPECT_EQ(braked(back), "uncordon Node w1, free slot w1; ");
}

TEST(BrakedPool, ALostSlotStillWithdrawsTheApproval) {
  situation s;
  s.member("w1", unit_state::staged).spec.desired_state = image_state::booted;
  s.target('c');
  s.world.braked = brake_hold();
  const rollout_plan plan = s.plan();
  EXPECT_EQ(steps(plan), "set desired image w1");
  EXPECT_FALSE(begins(plan.actions[0]));
  EXPECT_EQ(plan.actions[0].spec.desired_image, image_of('b')) << "the image is the former one";
  EXPECT_EQ(plan.actions[0].spec.desired_state, image_state::staged);
}

TEST(BrakedPool, WhatLeavesIsNotReleased) {
  situation s;
  s.object("gone");
  EXPECT_EQ(braked(s), "; gone:braked");
  situation deleted;
  deleted.member("w1", unit_state::up_to_date);
  deleted.world.pool.meta.deletion_timestamp = noon;
  EXPECT_EQ(braked(deleted), "; w1:braked");
}

TEST(BrakedPool, WhoOnlyLooksShowsTheDrainThatIsNoted) {
  situation s;
  auto& b = s.slotted("w1", unit_state::staged);
  b.meta.annotations = with(b.meta.annotations, "windlass.dev/hold", "draining");
  EXPECT_EQ(braked(s), "; w1:braked") << "its drain ended with the process before";
  s.world.only_looks = true;
  EXPECT_EQ(braked(s), "; w1:draining");
}

/// Thirty seconds are left of the minute.
units::stop limit_hold() {
  units::stop out;
  out.code = "speed-limit";
  out.sentence = "the speed limit lets 30 changes begin in a minute in the fleet (--max-changes)";
  out.released_by = "its turn comes";
  out.again_in = std::chrono::seconds(30);
  return out;
}

TEST(PoolUnderASpeedLimit, BeginsNothingAndLooksAgainAtItsTime) {
  situation s;
  s.slotted("w1", unit_state::staged);
  s.drain("w1", phase::succeeded);
  s.member("w2", unit_state::staged);
  s.world.braked = limit_hold();
  const rollout_plan plan = s.plan();
  for (const action& a : plan.actions) EXPECT_FALSE(begins(a)) << text(a.kind);
  EXPECT_EQ(held(plan), "w1:speed-limit w2:speed-limit");
  EXPECT_EQ(plan.holds[0].sentence, limit_hold().sentence);
  EXPECT_EQ(plan.look_again, s.world.now + std::chrono::seconds(30));
}

TEST(PoolUnderASpeedLimit, IsLookedAtAgainAlsoWhereNothingIsHeld) {
  situation s;
  s.world.pool.meta.finalizers = {};  // which is to be added
  s.world.braked = limit_hold();
  EXPECT_EQ(s.plan().look_again, s.world.now + std::chrono::seconds(30));
}

TEST(OverriddenPool, GoesOnAndSaysWhoseOrderItIs) {
  situation s;
  s.member("w1", unit_state::staged);
  s.world.overrides = "alice's order lets it go on although the brake is on: hotfix";
  const rollout_plan plan = s.plan();
  EXPECT_NE(steps(plan).find("take slot w1"), std::string::npos) << steps(plan);
  EXPECT_EQ(steps(plan).find("end the override"), std::string::npos) << "it is not done";
  EXPECT_EQ(plan.overrides, s.world.overrides);
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_EQ(plan.warnings[0].reason, "BrakeOverridden");
  EXPECT_EQ(plan.warnings[0].message, s.world.overrides);
}

TEST(OverriddenPool, LosesItsOrderOnceEveryNodeRunsTheImage) {
  situation s;
  s.member("w1", unit_state::up_to_date);
  s.world.overrides = "an order";
  const rollout_plan plan = s.plan();
  EXPECT_EQ(steps(plan).find("take slot"), std::string::npos);
  EXPECT_NE(steps(plan).find("end the override of the brake"), std::string::npos) << steps(plan);
  for (const action& a : plan.actions) EXPECT_FALSE(begins(a));
}

TEST(OverriddenPool, SaysWhyAnOrderDoesNothing) {
  situation s;
  s.member("w1", unit_state::staged);
  s.world.braked = brake_hold();
  s.world.override_void = "it gives no reason (why)";
  const rollout_plan plan = s.plan();
  ASSERT_EQ(held(plan), "w1:braked");
  EXPECT_EQ(plan.holds[0].sentence,
            "the brake is on: a test; the order to override it does nothing: it gives no reason "
            "(why)");
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_EQ(plan.warnings[0].reason, "OverrideVoid");
  s.world.braked.reset();
  EXPECT_TRUE(s.plan().warnings.empty()) << "nothing is held";
}

}  // namespace
}  // namespace bootc
