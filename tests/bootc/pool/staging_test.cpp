#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/reconciler/action_patch.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace testing;
using namespace std::chrono_literals;

std::string warned(const rollout_plan& plan) {
  std::string out;
  for (const warning& w : plan.warnings) out += std::string(w.reason) + ": " + w.message + "\n";
  return out;
}

void annotate(bootc_node& b, std::string_view key, const std::string& value) {
  b.meta.annotations = with(b.meta.annotations, std::string(key), value);
}

void annotate(node_pool& p, std::string_view key, const std::string& value) {
  p.meta.annotations = with(p.meta.annotations, std::string(key), value);
}

// ---- staged only once the node is drained ----

bootc_node& waits_in_line(situation& s, const std::string& name) {
  bootc_node& b = s.member(name, unit_state::pending);
  annotate(b, names::stage, "in-slot");
  b.meta.generation = b.status.observed_generation = 3;
  b.status.conditions.front().message = std::string(stages_in_slot_text);
  return b;
}

TEST(InSlotStaging, ANodeThatStagesInItsSlotTakesOneAndIsDrained) {
  situation s;
  annotate(s.world.pool, names::stage, "in-slot");
  waits_in_line(s, "w1");
  EXPECT_EQ(steps(s.plan()), "take slot w1, cordon Node w1, drain Node w1");
}

TEST(InSlotStaging, IsToldToBootOnceItIsDrained) {
  situation s;
  annotate(s.world.pool, names::stage, "in-slot");
  bootc_node& b = waits_in_line(s, "w1");
  situation::take_slot(b);
  s.node_named("w1").unschedulable = true;
  s.drain("w1", drain_progress::phase::succeeded);
  EXPECT_EQ(steps(s.plan()), "approve reboot w1");
}

TEST(InSlotStaging, WhatADaemonSaidOfAnotherImageDoesNotCount) {
  situation s;
  annotate(s.world.pool, names::stage, "in-slot");
  waits_in_line(s, "w1").meta.generation = 4;
  EXPECT_EQ(steps(s.plan()), "");
  EXPECT_EQ(held(s.plan()), "w1:staging");
}

TEST(Staging, HowFarItIsStandsInTheHoldAndIsNoReasonToNoteItAgain) {
  situation s;
  bootc_node& b = s.member("w1", unit_state::staging);
  const auto sentence = [&](const std::string& idle_message) {
    b.status.conditions.front().message = idle_message;
    return s.plan().holds.at(0).sentence;
  };
  const std::string fetches = "its daemon fetches " + image_of('b');
  EXPECT_EQ(sentence(""), fetches);
  EXPECT_EQ(sentence("pulling: 25 % of 1234 MB"), fetches + ": pulling: 25 % of 1234 MB");
  EXPECT_EQ(sentence("staging: step 1 of 2; " + std::string(uncoordinated_text) + "kured"),
            fetches + ": staging: step 1 of 2");
  EXPECT_EQ(sentence(std::string(uncoordinated_text) + "kured"), fetches);
  EXPECT_LE(sentence(std::string(100'000, 'x')).size(), 2'048u);
  annotate(b, names::hold, "staging");
  annotate(b, names::hold_reason, fetches);
  const rollout_plan plan = s.plan();
  EXPECT_TRUE(is_noted(b, &plan.holds.at(0)));
}

// ---- so many at once ----

/// On image a, and told so by the target before.
bootc_node& on_former(situation& s, const std::string& name) {
  bootc_node& b = s.member(name, unit_state::pending);
  b.spec.desired_image = image_of('a');
  return b;
}

TEST(StagesAtOnce, OnlySoManyAreToldOfANewImage) {
  situation s;
  annotate(s.world.pool, names::stages_at_once, "2");
  for (const char* name : {"w1", "w2", "w3", "w4"}) on_former(s, name);
  const rollout_plan plan = s.plan();
  EXPECT_EQ(steps(plan), "set desired image w1, set desired image w2");
  EXPECT_EQ(held(plan), "w1:staging w2:staging w3:staging-turn w4:staging-turn");
  EXPECT_EQ(plan.status.updated_count, 0) << "who runs the image before has not arrived";
  EXPECT_EQ(plan.status.updating_count, 4);
  EXPECT_EQ(plan.units[3].desired_image, image_of('b'));
  EXPECT_EQ(plan.units[3].state, unit_state::pending);
}

TEST(StagesAtOnce, WhoHasFetchedItMakesRoomForTheNext) {
  situation s;
  annotate(s.world.pool, names::stages_at_once, "2");
  s.world.pool.spec.paused = true;
  s.member("w1", unit_state::staged);
  s.member("w2", unit_state::staging);
  on_former(s, "w3");
  on_former(s, "w4");
  EXPECT_EQ(steps(s.plan()), "set desired image w3");
}

TEST(StagesAtOnce, WhoCannotFetchItKeepsNobodyFromIt) {
  situation s;
  annotate(s.world.pool, names::stages_at_once, "1");
  s.member("w1", unit_state::degraded);
  s.member("w2", unit_state::staging);
  s.node_named("w2").ready = k8s::condition_status::no;
  annotate(s.member("w3", unit_state::pending), names::desired_since, "2026-11-21T10:00:00Z");
  on_former(s, "w4");
  on_former(s, "w5");
  EXPECT_EQ(steps(s.plan()), "set desired image w4");
}

TEST(StagesAtOnce, WhatIsThereAlreadyIsNotFetched) {
  situation s;
  annotate(s.world.pool, names::stages_at_once, "1");
  s.member("w1", unit_state::staging);
  on_former(s, "w2").status.staged = booted('b');
  on_former(s, "w3").status.booted = booted('b');
  on_former(s, "w4");
  EXPECT_EQ(steps(s.plan()), "set desired image w2, set desired image w3");
}

TEST(StagesAtOnce, AnApprovalForTheImageBeforeIsWithdrawnAllTheSame) {
  situation s;
  annotate(s.world.pool, names::stages_at_once, "1");
  s.member("w1", unit_state::staging);
  bootc_node& b = on_former(s, "w2");
  situation::take_slot(b);
  b.spec.desired_state = image_state::booted;
  s.node_named("w2").unschedulable = true;
  const rollout_plan plan = s.plan();
  ASSERT_EQ(steps(plan), "set desired image w2");
  EXPECT_EQ(plan.actions[0].spec.desired_state, image_state::staged);
}

TEST(StagesAtOnce, WhoWaitsGetsARotatedSecretAndIsNotStuck) {
  situation s;
  annotate(s.world.pool, names::stages_at_once, "1");
  s.world.pool.spec.pull_secret = secret_ref{"bootc-operator", "pull"};
  bootc_node& first = s.member("w1", unit_state::staging);
  first.spec.pull_secret = s.world.pool.spec.pull_secret;
  annotate(on_former(s, "w2"), names::desired_since, "2026-11-21T01:00:00Z");
  const rollout_plan plan = s.plan();
  ASSERT_EQ(steps(plan), "set desired image w2");
  EXPECT_EQ(plan.actions[0].spec.desired_image, image_of('a'));
  EXPECT_FALSE(plan.actions[0].retarget);
  EXPECT_EQ(warned(plan), "");
  EXPECT_EQ(held(plan), "w1:staging w2:staging-turn");
}

TEST(StagesAtOnce, TheForecastAsksWhoWouldGoIfAllHadIt) {
  situation s;
  annotate(s.world.pool, names::stages_at_once, "1");
  s.world.assume_staged = true;
  on_former(s, "w1");
  on_former(s, "w2");
  EXPECT_EQ(held(s.plan()).find("staging-turn"), std::string::npos);
}

TEST(StagesAtOnce, WhatIsNoNumberIsToldAndCountsAsAbsent) {
  for (const char* word : {"0", "-1", "many", "2x", "1.5", "99999999999999999999999"}) {
    situation s;
    annotate(s.world.pool, names::stages_at_once, word);
    on_former(s, "w1");
    on_former(s, "w2");
    const rollout_plan plan = s.plan();
    EXPECT_EQ(steps(plan), "set desired image w1, set desired image w2") << word;
    EXPECT_EQ(warned(plan), "InvalidAnnotation: windlass.dev/stages-at-once \"" +
                                std::string(word) + "\" is not a number above zero\n");
  }
}

TEST(InSlotStaging, ThePoolsWordIsHandedOnAndTakenBack) {
  situation s;
  annotate(s.world.pool, names::stage, "in-slot");
  s.member("w1", unit_state::up_to_date);
  const rollout_plan on = s.plan();
  ASSERT_EQ(steps(on), "set desired image w1");
  EXPECT_EQ(boost::json::serialize(bootc_node_patch(on.actions[0])
                                       .at("metadata")
                                       .at("annotations")
                                       .at("windlass.dev/stage")),
            R"("in-slot")");
  situation t;
  annotate(t.member("w1", unit_state::up_to_date), names::stage, "in-slot");
  const rollout_plan off = t.plan();
  ASSERT_EQ(steps(off), "set desired image w1");
  EXPECT_EQ(boost::json::serialize(bootc_node_patch(off.actions[0])
                                       .at("metadata")
                                       .at("annotations")
                                       .at("windlass.dev/stage")),
            "null");
}

TEST(InSlotStaging, AWordThatIsNoneIsToldAndCountsAsAbsent) {
  situation s;
  annotate(s.world.pool, names::stage, "later");
  s.member("w1", unit_state::up_to_date);
  const rollout_plan plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(
      warned(plan),
      "InvalidAnnotation: windlass.dev/stage \"later\" is not one of locked, unlocked, in-slot\n");
}

TEST(UnlockedStaging, IsNoWarningWhereItIsWanted) {
  situation s;
  const auto stage_unlocked = [](situation& of) {
    bootc_node& b = of.member("w1", unit_state::staged);
    b.status.conditions.front().message = std::string(unlocked_text);
    return &b;
  };
  stage_unlocked(s);
  EXPECT_NE(warned(s.plan()).find("StagedUnlocked"), std::string::npos);
  situation t;
  annotate(t.world.pool, names::stage, "unlocked");
  annotate(*stage_unlocked(t), names::stage, "unlocked");
  EXPECT_EQ(warned(t.plan()), "");
}

// ---- daemons that do nothing ----

std::string at(reactor::nanoseconds before_noon) {
  return reactor::format_rfc3339(noon - before_noon);
}

TEST(Stuck, ADaemonThatStaysIdleAlthoughAnotherImageIsAskedFor) {
  situation s;
  annotate(s.member("w1", unit_state::pending), names::desired_since, at(11min));
  const rollout_plan plan = s.plan();
  EXPECT_EQ(steps(plan), "") << "nothing is done about it";
  EXPECT_EQ(held(plan), "w1:stuck");
  EXPECT_EQ(warned(plan),
            "NodeStuck: w1: it was asked to run another image, but its daemon stays idle, for more "
            "than 10m0s\n");
}

TEST(Stuck, IsOneOnlyAfterTheTimeAndIsLookedAtAgainThen) {
  situation s;
  annotate(s.member("w1", unit_state::pending), names::desired_since, at(4min));
  const rollout_plan plan = s.plan();
  EXPECT_EQ(held(plan), "w1:staging");
  EXPECT_EQ(warned(plan), "");
  EXPECT_EQ(plan.look_again, noon + 6min);
}

TEST(Stuck, CountsFromWhenTheDaemonBecameIdle) {
  situation s;
  bootc_node& b = s.member("w1", unit_state::pending);
  annotate(b, names::desired_since, at(3h));
  b.status.conditions.front().last_transition_time = at(1min);
  EXPECT_EQ(held(s.plan()), "w1:staging");
}

TEST(Stuck, OneThatWasToldToBootAndStillSaysStaged) {
  situation s;
  bootc_node& b = s.slotted("w1", unit_state::staged);
  b.spec.desired_state = image_state::booted;
  annotate(b, names::approved_at, at(11min));
  EXPECT_EQ(held(s.plan()), "w1:stuck");
  EXPECT_EQ(s.plan().occupied, 1u);
}

TEST(Stuck, OneThatRunsTheImageAndNeverBecameIdle) {
  situation s;
  bootc_node& b = s.member("w1", unit_state::up_to_date);
  b.status.conditions = {cond("Idle", "False", "Rebooting"), cond("Degraded", "False", "Healthy")};
  EXPECT_EQ(held(s.plan()), "w1:stuck");
  EXPECT_EQ(s.plan().status.updated_count, 1) << "it runs the image whatever it says";
}

TEST(Stuck, ThePoolSaysAfterHowLong) {
  situation s;
  annotate(s.world.pool, names::stuck_after, "1h");
  annotate(s.member("w1", unit_state::pending), names::desired_since, at(50min));
  EXPECT_EQ(held(s.plan()), "w1:staging");
  annotate(s.world.pool, names::stuck_after, "30m");
  EXPECT_EQ(held(s.plan()), "w1:stuck");
  annotate(s.world.pool, names::stuck_after, "soon");
  EXPECT_NE(warned(s.plan()).find("windlass.dev/stuck-after \"soon\" is not a duration above zero"),
            std::string::npos)
      << warned(s.plan());
}

TEST(Stuck, AnErrorIsNoStandstill) {
  situation s;
  annotate(s.member("w1", unit_state::degraded), names::desired_since, at(3h));
  EXPECT_EQ(held(s.plan()), "w1:degraded");
}

TEST(Stuck, EachNewImageBeginsAnew) {
  situation s;
  s.target('c').member("w1", unit_state::up_to_date);
  const rollout_plan plan = s.plan();
  ASSERT_EQ(steps(plan), "set desired image w1");
  EXPECT_EQ(bootc_node_patch(plan.actions[0])
                .at("metadata")
                .at("annotations")
                .at("windlass.dev/desired-since")
                .as_string(),
            "2026-11-21T12:00:00Z");
}

}  // namespace
}  // namespace bootc
