#include "bootc/pool/slot_capacity.hpp"

#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

node_pool_spec with_limit(int_or_string value) {
  node_pool_spec s;
  s.max_unavailable = std::move(value);
  return s;
}

TEST(RolloutSlots, T021_CountsStatesAndSlots) {
  testing::situation s;
  s.member("a", unit_state::up_to_date);
  s.member("b", unit_state::pending);
  s.member("c", unit_state::staged);
  s.slotted("d", unit_state::rebooting);
  s.slotted("e", unit_state::rebooting);
  const auto plan = s.plan();
  census counts;
  for (const unit& u : plan.units) counts.add(u.state);
  EXPECT_EQ(counts.up_to_date, 1u);
  EXPECT_EQ(counts.pending, 1u);
  EXPECT_EQ(counts.staged, 1u);
  EXPECT_EQ(counts.rebooting, 2u);
  EXPECT_EQ(counts.unclassified, 0u);
  EXPECT_EQ(counts.node_count(), 5u);
  EXPECT_EQ(plan.occupied, 2u);
}

TEST(RolloutSlots, T022_UnsetMeansOne) {
  EXPECT_EQ(*slot_capacity({}, 10), 1u);
}
TEST(RolloutSlots, T023_ANumberIsThatMany) {
  EXPECT_EQ(*slot_capacity(with_limit(3), 10), 3u);
}
TEST(RolloutSlots, T024_QuarterOfTenIsThree) {
  EXPECT_EQ(*slot_capacity(with_limit("25%"), 10), 3u);
}

TEST(RolloutSlots, T025_PausedMeansNone) {
  auto spec = with_limit(3);
  spec.paused = true;
  EXPECT_EQ(*slot_capacity(spec, 10), 0u);
}

TEST(RolloutSlots, T026_ABananaIsInvalid) {
  auto capacity = slot_capacity(with_limit("banana"), 10);
  ASSERT_FALSE(capacity);
  EXPECT_EQ(capacity.error().detail.rfind("invalid maxUnavailable \"banana\": ", 0), 0u)
      << capacity.error().detail;
}

/// Who is drained, in order.
std::string drained(const rollout_plan& plan) {
  std::string out;
  for (const action& a : plan.actions)
    if (a.kind == action_kind::start_drain) out += a.node;
  return out;
}

TEST(RolloutSlots, T027_SlottedFirstThenByName) {
  testing::situation s;
  s.max_unavailable(3);
  s.member("d", unit_state::staged);
  s.member("c", unit_state::staged);
  s.slotted("b", unit_state::staged);
  s.slotted("a", unit_state::staged);
  EXPECT_EQ(drained(s.plan()), "abc");
}

TEST(RolloutSlots, T028_NoFreeSlotNoCandidate) {
  testing::situation s;
  s.max_unavailable(0);
  s.member("a", unit_state::staged);
  EXPECT_EQ(drained(s.plan()), "");
}

TEST(RolloutSlots, PercentagesRoundUp) {
  EXPECT_EQ(*slot_capacity(with_limit("1%"), 10), 1u);
  EXPECT_EQ(*slot_capacity(with_limit("0%"), 10), 0u);
  EXPECT_FALSE(slot_capacity(with_limit("101%"), 10));
  EXPECT_EQ(*slot_capacity(with_limit("100%"), 0), 0u);
  EXPECT_EQ(*slot_capacity(with_limit("-5%"), 10), 0u);
}

TEST(RolloutSlots, AShareIsOfTheNodesWhoseObjectsExist) {
  testing::situation s;
  s.max_unavailable("25%");
  for (const char* name : {"a", "b", "c", "d"}) s.member(name, unit_state::staged);
  s.node("e").meta.labels = k8s::string_map{{"pool", "workers"}};
  EXPECT_EQ(drained(s.plan()), "a") << "a quarter of four; that of e may fail to be created";
  s.member("f", unit_state::staged);
  EXPECT_EQ(drained(s.plan()), "ab");
}

TEST(RolloutSlots, NegativeNumbersMeanNone) {
  EXPECT_EQ(*slot_capacity(with_limit(-2), 10), 0u);
  EXPECT_EQ(*slot_capacity(with_limit(0), 10), 0u);
}

TEST(RolloutSlots, OtherTextsAreInvalid) {
  for (const char* bad : {"3", "2.5%", "", "%", " 5%", "5 %", "99999999999%", "0x1%"})
    EXPECT_FALSE(slot_capacity(with_limit(bad), 10)) << bad;
}

}  // namespace
}  // namespace bootc
