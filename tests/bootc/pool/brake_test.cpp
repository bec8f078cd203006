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

}  // namespace
}  // namespace bootc
