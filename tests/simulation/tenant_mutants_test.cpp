// Each rule for Tenants is there because the simulation finds out when it is gone. The rules can be
// switched off in this program alone, which is built from copies of the sources (mutants.cmake).
#include "cli/apis.hpp"
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
  std::size_t clusters, tenants;
  simulation::troubles faults;
  const char* finding;            // part of the sentence that must be said
  std::uint64_t brake_every = 0;  // the brake lands so many writes later in each seed
  std::size_t trustees = 0;
};
std::ostream& operator<<(std::ostream& out, const mutant& m) {
  return out << m.name;
}

trial trial_of(const mutant& m, std::uint64_t seed) {
  trial t;
  t.apis = cli::apis();
  t.fleet = simulation::usual_fleet(m.clusters, 3, {.tenants = m.tenants, .trustees = m.trustees});
  t.fleet.faults = m.faults;
  t.fleet.patience = std::chrono::minutes(10);
  t.seed = seed;
  t.brake_at = seed * m.brake_every;
  return t;
}

class TenantMutant : public testing::TestWithParam<mutant> {
protected:
  void TearDown() override {
    mutants::broken.reset();
    hunt.ended();
  }
  static void TearDownTestSuite() { hunt.say("tenant mutants"); }
  static inline simulation::MutantHunt hunt;
};

TEST_P(TenantMutant, IsCaughtWithin200SeedsAndTheWholeIsNot) {
  const mutant& m = GetParam();
  mutants::broken = m.rule;
  const auto made = [&](std::uint64_t seed) { return trial_of(m, seed); };
  hunt.run(m.name, made, m.finding, [] { mutants::broken.reset(); });
}

INSTANTIATE_TEST_SUITE_P(
    OneRuleLess, TenantMutant,
    testing::Values(
        mutant{"fingerprint stored early",
               mutants::rule::fingerprint_last,
               1,
               2,
               {},
               "has a new fingerprint while"},
        mutant{"pending not recovered",
               mutants::rule::recovery,
               1,
               12,
               {trouble::crashes},
               "is pending-"},
        mutant{"brake of charts",
               mutants::rule::brake_charts,
               3,
               2,
               {trouble::failing},
               "the brake landed",
               7},
        mutant{"brake of compositions",
               mutants::rule::brake_compositions,
               1,
               0,
               {trouble::failing},
               "the brake landed",
               7,
               3},
        mutant{"filter dropped", mutants::rule::target_filter, 2, 1, {}, "names cluster"},
        mutant{"wave opened by stale readiness",
               mutants::rule::new_fingerprint,
               3,
               2,
               {trouble::failing},
               "of wave 1 moves"},
        mutant{
            "settle skipped", mutants::rule::settle, 1, 6, {trouble::crashes}, "is left pending-"}),
    [](const auto& info) { return simulation::MutantHunt::letters_of(info.param.name); });

}  // namespace
