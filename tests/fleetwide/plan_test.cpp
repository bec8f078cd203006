// What is decided about the clusters of one object: a table of situations, and what must never
// follow from any of them.
#include "tests/fleetwide/worlds.hpp"

#include <gtest/gtest.h>

namespace fleetwide::testing {
namespace {

/// Revision "new" after "old", a canary wave and all others.
class FleetPlan : public ::testing::Test {
protected:
  FleetPlan() {
    w_.wanted = "new";
    w_.proven = "old";
    w_.now = noon;
    w_.settings.wave_label = "ring";
    w_.settings.waves = {"canary", "early"};
    w_.settings.max_clusters = {10, false};
  }
  /// "canary-1:new canary-2:" who is written, and what.
  std::string written() {
    std::string out;
    for (const member_plan& m : plan().members)
      if (m.does == deed::write) out += (out.empty() ? "" : " ") + m.cluster + ":" + m.digest;
    return out;
  }
  std::string hold_of(const std::string& cluster) {
    for (const member_plan& m : plan().members)
      if (m.cluster == cluster) return m.hold ? m.hold->code : "none";
    return "no such cluster";
  }
  std::string sentence_of(const std::string& cluster) {
    for (const member_plan& m : plan().members)
      if (m.cluster == cluster && m.hold) return m.hold->sentence;
    return {};
  }
  const fleet_plan& plan() { return last_ = plan_rollout(w_); }

  rollout_world w_;
  fleet_plan last_;
};

TEST_F(FleetPlan, TheFirstWaveBeginsAndTheOthersWaitForIt) {
  w_.members = {has("c1", "canary", "old"), has("e1", "early", "old"), has("x1", "", "old")};
  EXPECT_EQ(written(), "c1:new");
  EXPECT_EQ(hold_of("e1"), "earlier-wave");
  EXPECT_EQ(sentence_of("x1"), "waits for c1 of wave canary");
}

TEST_F(FleetPlan, AWaveOpensWhenTheOneBeforeIsReadyAndWasWatched) {
  w_.settings.soak = 10min;
  w_.members = {has("c1", "canary", "new", progress::ready, noon - 5min), has("e1", "early", "old"),
                has("x1", "", "old")};
  EXPECT_EQ(written(), "");
  EXPECT_EQ(hold_of("e1"), "wave-soak");
  EXPECT_EQ(plan().look_again, noon + 5min);
  w_.now = noon + 5min;
  EXPECT_EQ(written(), "e1:new");
  EXPECT_EQ(hold_of("x1"), "earlier-wave");
}

TEST_F(FleetPlan, AWaveThatNobodyIsInIsPassed) {
  w_.members = {has("e1", "early", "old"), has("x1", "", "old")};
  EXPECT_EQ(written(), "e1:new");
}

TEST_F(FleetPlan, NoMoreClustersMoveThanMay) {
  w_.settings.max_clusters = {2, false};
  w_.members = {has("c1", "canary", "old"), has("c2", "canary", "new", progress::moving),
                has("c3", "canary", "old"), has("c4", "canary", "old")};
  EXPECT_EQ(written(), "c1:new");
  EXPECT_EQ(hold_of("c3"), "cluster-slot");
  w_.settings.max_clusters = {50, true};
  EXPECT_EQ(written(), "c1:new");
  w_.settings.max_clusters = {0, false};
  EXPECT_EQ(written(), "");
}

TEST_F(FleetPlan, AClusterThatBeganItWithOtherContentKeepsItsSlotAndGoesOnInIt) {
  w_.settings.max_clusters = {1, false};
  w_.members = {has("c1", "canary", "old"), has("c2", "canary", "new~", progress::moving)};
  w_.members[1].begun = "new";
  EXPECT_EQ(written(), "c2:new");
  EXPECT_EQ(sentence_of("c1"), "1 of 1 clusters move");
  w_.members[1].is_selected = false;
  EXPECT_EQ(written(), "") << "it is not done because it is no longer meant";
  w_.members[1].seen = member::sight::away;
  EXPECT_EQ(written(), "c1:new");
}

TEST_F(FleetPlan, AClusterThatIsNotSeenYetMayMove) {
  w_.settings.max_clusters = {1, false};
  w_.members = {has("c1", "canary", "old"), lacks("c2", "canary")};
  w_.members[1].seen = member::sight::lost;
  EXPECT_EQ(written(), "");
  EXPECT_EQ(sentence_of("c1"), "1 of 1 clusters move");
  w_.members[1].seen = member::sight::away;
  EXPECT_EQ(written(), "c1:new");
}

TEST_F(FleetPlan, MoreFailuresThanMayHaltIt) {
  w_.members = {has("c1", "canary", "new", progress::failed), has("c2", "canary", "old"),
                has("x1", "", "old")};
  EXPECT_EQ(written(), "");
  EXPECT_EQ(hold_of("c1"), "cluster-failed");
  EXPECT_EQ(hold_of("c2"), "rollout-halted");
  EXPECT_EQ(plan().halt, "1 cluster failed (c1), 0 may");
  w_.settings.max_failures = {1, false};
  EXPECT_EQ(written(), "c2:new");
  EXPECT_EQ(plan().halt, "");
}

TEST_F(FleetPlan, AHaltLastsWhileAClusterIsNotSeenThatMayHaveFailed) {
  w_.members = {has("c1", "canary", "", progress::failed), has("c2", "canary", "old")};
  w_.members[0].seen = member::sight::lost;
  EXPECT_EQ(written(), "c2:new");
  w_.halted = "1 cluster failed (c1), 0 may";
  EXPECT_EQ(written(), "");
  EXPECT_EQ(hold_of("c2"), "rollout-halted");
  w_.members[0].seen = member::sight::away;
  EXPECT_EQ(written(), "");
  w_.members[0] = has("c1", "canary", "new");
  EXPECT_EQ(written(), "c2:new");
  EXPECT_EQ(plan().halt, "");
}

TEST_F(FleetPlan, WhoFailedAndCannotBeReachedSinceHasFailed) {
  w_.members = {has("c1", "canary", "new", progress::failed), has("c2", "canary", "old")};
  for (const auto seen : {member::sight::lost, member::sight::away}) {
    w_.members[0].seen = seen;
    EXPECT_EQ(written(), "");
    EXPECT_EQ(plan().halt, "1 cluster failed (c1), 0 may");
  }
}

TEST_F(FleetPlan, WhoFailedGetsItOnceMoreWhenThatIsAskedFor) {
  w_.members = {has("c1", "canary", "new", progress::failed), has("c2", "canary", "old"),
                has("x1", "", "old")};
  w_.retry = noon - 5min;
  EXPECT_EQ(written(), "c1:new c2:new");
  EXPECT_EQ(plan().halt, "");
  w_.is_paused = true;
  EXPECT_EQ(written(), "");
}

TEST_F(FleetPlan, NoMoreAreTriedAgainThanMayMoveAndNoneTwice) {
  w_.settings.max_clusters = {1, false};
  w_.settings.max_failures = {2, false};
  w_.members = {has("c1", "canary", "new", progress::failed, noon - 1min),
                has("c2", "canary", "new", progress::failed),
                has("c3", "canary", "new", progress::failed), has("x1", "", "old")};
  w_.retry = noon - 5min;
  EXPECT_EQ(written(), "c2:new");
  EXPECT_EQ(hold_of("c1"), "cluster-failed");
  EXPECT_EQ(sentence_of("c3"), "1 of 1 clusters move");
  EXPECT_EQ(sentence_of("x1"), "waits for c2, c3 of wave canary");
}

TEST_F(FleetPlan, WhatWasToldAndHasNotBegunIsPlannedAgain) {
  w_.settings.max_clusters = {1, false};
  w_.members = {has("c1", "canary", "old"), has("c2", "canary", "old")};
  w_.members[1].told = "new";
  EXPECT_EQ(written(), "c1:new");
  w_.settings.max_clusters = {2, false};
  w_.members[1].waits = units::held(units::hold_code::braked, "c2", "the brake is on");
  EXPECT_EQ(written(), "c1:new c2:new");
  EXPECT_EQ(hold_of("c2"), "braked");
  EXPECT_EQ(plan().members[1].is, member_state::moving);
  w_.has_failed = true;
  EXPECT_EQ(written(), "");
}

TEST_F(FleetPlan, AWaveOfWhichNobodyProvedTheRevisionOpensNone) {
  w_.settings.max_failures = {1, false};
  w_.members = {has("c1", "canary", "new", progress::failed), has("x1", "", "old")};
  EXPECT_EQ(written(), "");
  EXPECT_EQ(sentence_of("x1"), "no cluster of wave canary could prove the revision");
}

TEST_F(FleetPlan, AFailureIsNotedBeforeAnybodyGoesBack) {
  w_.settings.goes_back = true;
  w_.members = {has("c1", "canary", "new", progress::failed), has("c2", "canary", "new")};
  EXPECT_TRUE(plan().notes_failure);
  EXPECT_EQ(written(), "");
  w_.has_failed = true;
  EXPECT_FALSE(plan().notes_failure);
  EXPECT_EQ(written(), "c1:old c2:old");
  w_.members = {has("c1", "canary", "old"), has("c2", "canary", "old")};
  EXPECT_EQ(written(), "");
  EXPECT_EQ(hold_of("c1"), "revision-failed");
}

TEST_F(FleetPlan, WithoutARevisionBeforeItIsHaltedAndSaysSo) {
  w_.settings.goes_back = true;
  w_.proven.clear();
  w_.members = {has("c1", "canary", "new", progress::failed)};
  EXPECT_FALSE(plan().notes_failure);
  EXPECT_NE(plan().halt.find("there is no revision before it"), std::string::npos);
}

TEST_F(FleetPlan, AClusterThatComesGetsTheProvenRevisionOutsideOfWaves) {
  w_.members = {has("c1", "canary", "new", progress::moving), lacks("x1", ""),
                lacks("c2", "canary")};
  EXPECT_EQ(written(), "x1:old c2:old");
  w_.proven = "new";
  w_.members = {has("c1", "canary", "new"), lacks("x1", "")};
  EXPECT_EQ(written(), "x1:new");
  w_.proven.clear();
  w_.members = {lacks("c1", "canary"), lacks("x1", "")};
  EXPECT_EQ(written(), "c1:new") << "without one it takes its turn";
}

TEST_F(FleetPlan, ALostClusterClosesTheNextWaveAndOneThatIsAwayDoesNot) {
  member lost = has("c2", "canary", "old");
  lost.seen = member::sight::lost;
  lost.why_away = "no route";
  w_.members = {has("c1", "canary", "new"), lost, has("e1", "early", "old")};
  EXPECT_EQ(written(), "");
  EXPECT_EQ(hold_of("c2"), "stale-cluster");
  w_.members[1].seen = member::sight::away;
  EXPECT_EQ(written(), "e1:new");
  EXPECT_EQ(hold_of("c2"), "cluster-away");
  EXPECT_EQ(sentence_of("c2"), "c2 cannot be reached: no route");
  w_.members.erase(w_.members.begin());
  EXPECT_EQ(written(), "") << "a wave that is away as a whole proves nothing";
}

TEST_F(FleetPlan, WhatBelongsToSomebodyElseIsNeverWritten) {
  member foreign = lacks("c1", "canary");
  foreign.has = owner::other;
  foreign.holder = "the field manager flux has spec.image.ref";
  w_.members = {foreign, has("c2", "canary", "old")};
  EXPECT_EQ(written(), "c2:new");
  EXPECT_EQ(hold_of("c1"), "managed-by-other");
  EXPECT_EQ(sentence_of("c1"), foreign.holder);
  w_.members[0].is_adopted = true;
  EXPECT_EQ(written(), "c1:new c2:new");
  EXPECT_TRUE(plan().members[0].takes_over);
}

TEST_F(FleetPlan, AServerThatRefusesIsAskedLaterAndHoldsUpNobody) {
  member refused = lacks("c1", "canary");
  refused.refusal = "no patch for you";
  w_.members = {refused, has("c2", "canary", "new"), has("e1", "early", "old")};
  EXPECT_EQ(written(), "e1:new");
  EXPECT_EQ(hold_of("c1"), "cluster-refused");
}

TEST_F(FleetPlan, WhatIsNotGrantedIsNotWritten) {
  member other = has("c1", "canary", "old");
  other.is_granted = false;
  w_.members = {other, has("c2", "canary", "old")};
  EXPECT_EQ(written(), "c2:new");
  EXPECT_EQ(hold_of("c1"), "not-granted");
}

TEST_F(FleetPlan, APauseHoldsEverybodyAndEndsNothing) {
  w_.is_paused = true;
  member gone = has("x1", "", "old");
  gone.is_selected = false;
  w_.members = {has("c1", "canary", "old"), has("c2", "canary", "new", progress::moving),
                lacks("e1", "early"), gone};
  EXPECT_EQ(written(), "");
  for (const char* cluster : {"c1", "e1", "x1"}) EXPECT_EQ(hold_of(cluster), "paused") << cluster;
  EXPECT_EQ(hold_of("c2"), "none");
}

TEST_F(FleetPlan, WhatIsNoLongerMeantIsLetGoOrRemovedWaveByWave) {
  w_.members = {has("c1", "canary", "new"), has("e1", "early", "new"), has("e2", "early", "new")};
  for (member& m : w_.members) m.is_selected = false;
  const auto deeds = [&] {
    std::string out;
    for (const member_plan& m : plan().members)
      out += m.does == deed::remove ? 'r' : m.does == deed::let_go ? 'l' : '-';
    return out;
  };
  EXPECT_EQ(deeds(), "lll");
  w_.removes = true;
  EXPECT_EQ(deeds(), "r--");
  w_.members[0].is_going = true;
  EXPECT_EQ(deeds(), "---");
  w_.members.erase(w_.members.begin());
  w_.settings.max_clusters = {1, false};
  EXPECT_EQ(deeds(), "r-");
  EXPECT_FALSE(plan().is_gone);
  w_.members.clear();
  EXPECT_TRUE(plan().is_gone);
}

TEST_F(FleetPlan, ADeletedObjectLetsAllGoAlsoWhilePausedAndKnowsWhoIsAway) {
  w_.is_leaving = w_.is_paused = true;
  member away = has("x1", "", "new");
  away.seen = member::sight::away;
  w_.members = {has("c1", "canary", "new"), away};
  EXPECT_EQ(plan().members[0].does, deed::let_go);
  EXPECT_FALSE(last_.is_gone);
  w_.members.erase(w_.members.begin());
  EXPECT_TRUE(plan().is_gone);
  EXPECT_EQ(last_.left_away, 1u);
}

TEST_F(FleetPlan, ItIsCompleteWhenEveryClusterThatCanBeReachedHasIt) {
  w_.members = {has("c1", "canary", "new"), has("x1", "", "new", progress::moving)};
  EXPECT_FALSE(plan().is_complete);
  w_.members[1].is = progress::ready;
  EXPECT_TRUE(plan().is_complete);
  EXPECT_EQ(plan().wave, std::nullopt);
  w_.members.clear();
  EXPECT_FALSE(plan().is_complete) << "nobody proves nothing";
}

TEST(FleetPlans, NoneOfAHundredThousandWorldsBreaksARule) {
  std::mt19937 random(29);
  std::size_t writes = 0;
  for (int i = 0; i < 100'000; ++i) {
    const rollout_world w = any_world(random);
    const fleet_plan p = plan_rollout(w);
    ASSERT_EQ(broken_rule(w, p), "") << "world " << i;
    for (const member_plan& m : p.members) writes += m.does == deed::write;
  }
  EXPECT_GT(writes, 10'000u);
}

TEST(FleetPlans, FiveThousandClustersArePlanned) {
  rollout_world w;
  w.wanted = "new";
  w.proven = "old";
  w.now = noon;
  w.settings.wave_label = "ring";
  w.settings.waves = {"canary"};
  w.settings.max_clusters = {10, true};
  for (int i = 0; i < 5'000; ++i)
    w.members.push_back(has("c" + std::to_string(i), i < 10 ? "canary" : "", "new",
                            i < 10 ? progress::ready : progress::moving));
  for (int i = 100; i < 5'000; ++i) w.members[i].digest = "old";
  const fleet_plan p = plan_rollout(w);
  std::size_t writes = 0;
  for (const member_plan& m : p.members) writes += m.does == deed::write;
  EXPECT_EQ(writes, 500u - 90u);
}

/// Who waits says why: nobody that is meant does nothing without a hold.
TEST(FleetPlans, WhoDoesNothingIsReadyOrMovesOrSaysWhy) {
  std::mt19937 random(30);
  for (int i = 0; i < 20'000; ++i) {
    const rollout_world w = any_world(random);
    const fleet_plan p = plan_rollout(w);
    for (const member_plan& m : p.members)
      if (m.is == member_state::waiting && m.does == deed::nothing && !p.notes_failure) {
        ASSERT_TRUE(m.hold) << m.cluster << " in world " << i;
      }
  }
}

}  // namespace
}  // namespace fleetwide::testing
