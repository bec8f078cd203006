// Thousands of answers that no policy would give, about pools in any state: the planner's safety
// rules hold for each. tests/fuzz asks the same with bytes that look for the exception.
#include "tests/bootc/pool/policy_answers.hpp"

#include "reactor/plain/entropy.hpp"

#include <gmock/gmock.h>

namespace bootc::testing {
namespace {

TEST(AnyPolicyAnswer, BreaksNoRuleOfThePlanner) {
  reactor::seeded_entropy dice(17);
  std::size_t taken = 0, approved = 0, failed = 0;
  for (int i = 0; i < 4'000; ++i) {
    std::vector<std::uint8_t> bytes(120);
    for (std::uint8_t& b : bytes)
      b = static_cast<std::uint8_t>(dice.between(std::uint64_t{0}, std::uint64_t{255}));
    const any_rollout world(bytes);
    const rollout_plan plan = world.plan();
    EXPECT_THAT(world.violations(plan), ::testing::IsEmpty()) << i << ": " << steps(plan);
    failed += !world.violations(plan).empty();
    if (failed > 5) break;
    for (const action& a : plan.actions) {
      taken += a.kind == action_kind::take_slot;
      approved += a.kind == action_kind::approve;
    }
  }
  // They are no worlds in which nothing happens.
  EXPECT_GT(taken, 100u);
  EXPECT_GT(approved, 20u);
}

}  // namespace
}  // namespace bootc::testing
