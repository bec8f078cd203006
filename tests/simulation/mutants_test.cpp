// Each safety rule is there because the simulation finds out when it is gone. The rules can be
// switched off in this program alone, which is built from copies of the sources (mutants.cmake).
#include "cli/apis.hpp"
#include "reactor/system/private_folder.hpp"
#include "simulation/commands/simulate/trial.hpp"
#include "tests/simulation/mutant_hunt.hpp"
#include "tests/simulation/safety_rules.hpp"

#include <gtest/gtest.h>

namespace {

using cli::simulate::trial;
using simulation::trouble;

struct mutant {
  const char* name;
  mutants::rule rule;
  std::size_t clusters, nodes;
  simulation::troubles faults;
  const char* finding;  // part of the sentence that must be said
  std::uint64_t brake_at = 0;
  units::change_limits max_changes = {};
};
std::ostream& operator<<(std::ostream& out, const mutant& m) {
  return out << m.name;
}

trial trial_of(const mutant& m, std::uint64_t seed, const std::string& editable) {
  trial t;
  t.apis = cli::apis();
  t.fleet = simulation::usual_fleet(m.clusters, m.nodes);
  t.fleet.faults = m.faults;
  t.fleet.patience = std::chrono::hours(1);
  if (m.faults.contains(trouble::policy_swaps)) t.editable = editable;
  t.seed = seed;
  t.brake_at = m.brake_at;
  t.max_changes = m.max_changes;
  return t;
}

class Mutant : public testing::TestWithParam<mutant> {
protected:
  void TearDown() override {
    mutants::broken.reset();
    hunt.ended();
  }
  static void TearDownTestSuite() { hunt.say("mutants"); }
  static inline simulation::MutantHunt hunt;
};

TEST_P(Mutant, IsCaughtWithin200SeedsAndTheWholeIsNot) {
  const mutant& m = GetParam();
  const reactor::private_folder editable("simulate");
  mutants::broken = m.rule;
  const auto made = [&](std::uint64_t seed) { return trial_of(m, seed, editable.path()); };
  hunt.run(m.name, made, m.finding, [] { mutants::broken.reset(); });
}

INSTANTIATE_TEST_SUITE_P(
    OneRuleLess, Mutant,
    testing::Values(mutant{"budget", mutants::rule::budget, 1, 4, {}, "evicting"},
                    mutant{"slot", mutants::rule::slot, 1, 6, {}, "reboot slot as number"},
                    mutant{"cordon restore", mutants::rule::cordon_restore, 1, 3, {}, "cordoned"},
                    mutant{"halt",
                           mutants::rule::halt,
                           1,
                           12,
                           {trouble::failing_hosts, trouble::slow_hosts},
                           "is not Ready"},
                    mutant{"a failed reboot",
                           mutants::rule::failed_reboot,
                           1,
                           12,
                           {trouble::bad_images},
                           "failed its reboot"},
                    mutant{"a lost reboot",
                           mutants::rule::lost_reboot,
                           1,
                           12,
                           {trouble::lost_reboots},
                           "is not back from its reboot"},
                    mutant{"own-write memory",
                           mutants::rule::own_writes,
                           1,
                           24,
                           {trouble::half_open, trouble::policy_swaps},
                           "reboot slot as number"},
                    mutant{"brake", mutants::rule::brake_pools, 1, 6, {}, "the brake landed", 40},
                    mutant{"speed limit",
                           mutants::rule::speed,
                           2,
                           4,
                           {},
                           "in a minute in the fleet",
                           0,
                           {.fleet = 8}},
                    mutant{"speed limit of a cluster",
                           mutants::rule::speed_cluster,
                           2,
                           4,
                           {},
                           "in a minute in ",
                           0,
                           {.fleet = 16, .cluster = 4}},
                    mutant{"speed limit at a start",
                           mutants::rule::speed_start,
                           2,
                           6,
                           {trouble::crashes},
                           "in a minute in the fleet",
                           0,
                           {.fleet = 12}},
                    mutant{"cordon", mutants::rule::cordon, 1, 3, {}, "without being cordoned"},
                    mutant{"drain", mutants::rule::drain, 1, 4, {}, "still on it"},
                    mutant{"pods that are gone", mutants::rule::gone, 1, 4, {}, "still on it"}),
    [](const auto& info) { return simulation::MutantHunt::letters_of(info.param.name); });

}  // namespace
