// Each rule of the planner of waves over clusters is there because worlds at random find out when
// it is gone (tests/simulation/mutants.cmake).
#include "tests/fleetwide/charts/two_charts.hpp"
#include "tests/fleetwide/worlds.hpp"
#include "tests/simulation/safety_rules.hpp"

#include <gtest/gtest.h>

namespace fleetwide::testing {
namespace {

/// The first world whose plan breaks a rule, and which; 0: none of them.
std::pair<int, std::string> first_broken(int worlds) {
  std::mt19937 random(31);
  for (int i = 1; i <= worlds; ++i) {
    const rollout_world w = any_world(random);
    if (std::string rule = broken_rule(w, plan_rollout(w)); !rule.empty()) return {i, rule};
  }
  return {0, ""};
}

struct fleet_mutant {
  const char* name;
  mutants::rule rule;
  const char* finding;
};
std::ostream& operator<<(std::ostream& out, const fleet_mutant& m) {
  return out << m.name;
}

class FleetMutant : public ::testing::TestWithParam<fleet_mutant> {
protected:
  void TearDown() override { mutants::broken.reset(); }
};

TEST_P(FleetMutant, IsFoundAndTheWholeIsNot) {
  mutants::broken = GetParam().rule;
  const auto [world, rule] = first_broken(100'000);
  EXPECT_GT(world, 0) << "nobody noticed";
  EXPECT_NE(rule.find(GetParam().finding), std::string::npos) << rule;
  mutants::broken.reset();
  EXPECT_EQ(first_broken(20'000).second, "");
}

INSTANTIATE_TEST_SUITE_P(
    OneRuleLess, FleetMutant,
    ::testing::Values(fleet_mutant{"a wave", mutants::rule::fleet_wave, ""},
                      fleet_mutant{"proof", mutants::rule::fleet_proof, "proved nothing"},
                      fleet_mutant{"soak", mutants::rule::fleet_soak, "proved it"},
                      fleet_mutant{"slots", mutants::rule::fleet_slot, "too many move"},
                      fleet_mutant{"a halt", mutants::rule::fleet_halt, "too many failed"},
                      fleet_mutant{"what was noted", mutants::rule::fleet_noted, "not noted"},
                      fleet_mutant{"going back", mutants::rule::fleet_back, "gets what failed"},
                      fleet_mutant{"a pause", mutants::rule::fleet_pause, "in a pause"},
                      fleet_mutant{"a grant", mutants::rule::fleet_grant, "not meant"},
                      fleet_mutant{"an owner", mutants::rule::fleet_owner, "somebody else"},
                      fleet_mutant{"a lost cluster", mutants::rule::fleet_lost, "is ahead of"},
                      fleet_mutant{"leaving in waves", mutants::rule::fleet_leave, "leaves before"},
                      fleet_mutant{"sight", mutants::rule::fleet_unseen, "cannot be seen"},
                      fleet_mutant{"a retry", mutants::rule::fleet_retry, ""}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

/// The same of two charts of which one needs the other.
std::pair<int, std::string> first_broken_of_two(int worlds) {
  std::mt19937 random(44);
  for (int i = 1; i <= worlds; ++i)
    if (std::string rule = two_charts(random).run(); !rule.empty()) return {i, rule};
  return {0, ""};
}

class TwoCharts : public FleetMutant {};

TEST_P(TwoCharts, TellThatARuleIsGone) {
  mutants::broken = GetParam().rule;
  const auto [world, rule] = first_broken_of_two(2'000);
  EXPECT_GT(world, 0) << "not found";
  EXPECT_NE(rule.find(GetParam().finding), std::string::npos) << rule;
  mutants::broken.reset();
  EXPECT_EQ(first_broken_of_two(2'000).second, "");
}

INSTANTIATE_TEST_SUITE_P(
    OneRuleLess, TwoCharts,
    ::testing::Values(
        fleet_mutant{"what_is_needed", mutants::rule::fleet_needs, "without base"},
        fleet_mutant{"what_cannot_come", mutants::rule::fleet_stuck, "without base"},
        fleet_mutant{"what_is_on_its_way", mutants::rule::needs_ready, "without base"},
        fleet_mutant{"what_a_person_mends", mutants::rule::needs_person, "never gets app"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fleetwide::testing
