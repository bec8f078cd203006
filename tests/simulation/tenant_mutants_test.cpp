// Each rule for Tenants is there because the simulation finds out when it is gone. The rules are
// switched off by this program's own answer to helm::placed::keeps(); the product's has no such
// thing.
#include "cli/apis.hpp"
#include "helm/placed/plan/safety.hpp"
#include "simulation/commands/simulate/trial.hpp"
#include "tests/simulation/mutant_hunt.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace {

std::optional<helm::placed::safety_rule> broken;

}  // namespace

namespace helm::placed {

bool keeps(safety_rule rule) noexcept {
  return rule != broken;
}

}  // namespace helm::placed

namespace {

using cli::simulate::trial;
using helm::placed::safety_rule;
using simulation::trouble;

struct mutant {
  const char* name;
  safety_rule rule;
  std::size_t clusters, tenants;
  simulation::troubles faults;
  const char* finding;  // part of the sentence that must be said
};
std::ostream& operator<<(std::ostream& out, const mutant& m) {
  return out << m.name;
}

trial trial_of(const mutant& m, std::uint64_t seed) {
  trial t;
  t.apis = cli::apis();
  t.fleet = simulation::usual_fleet(m.clusters, 3, {.tenants = m.tenants});
  t.fleet.faults = m.faults;
  t.fleet.patience = std::chrono::minutes(10);
  t.seed = seed;
  return t;
}

class TenantMutant : public testing::TestWithParam<mutant> {
protected:
  void TearDown() override {
    broken.reset();
    hunt.ended();
  }
  static void TearDownTestSuite() { hunt.say("tenant mutants"); }
  static inline simulation::MutantHunt hunt;
};

TEST_P(TenantMutant, IsCaughtWithin200SeedsAndTheWholeIsNot) {
  const mutant& m = GetParam();
  broken = m.rule;
  const auto made = [&](std::uint64_t seed) { return trial_of(m, seed); };
  hunt.run(m.name, made, m.finding, [] { broken.reset(); });
}

INSTANTIATE_TEST_SUITE_P(
    OneRuleLess, TenantMutant,
    testing::Values(
        mutant{"fingerprint stored early",
               safety_rule::fingerprint_last,
               1,
               2,
               {},
               "has a new fingerprint while"},
        mutant{"pending not recovered",
               safety_rule::recovery,
               1,
               12,
               {trouble::crashes},
               "is pending-"},
        mutant{"filter dropped", safety_rule::target_filter, 2, 1, {}, "names cluster"},
        mutant{"wave opened by stale readiness",
               safety_rule::new_fingerprint,
               3,
               2,
               {trouble::failing},
               "of wave 1 moves"},
        mutant{
            "settle skipped", safety_rule::settle, 1, 6, {trouble::crashes}, "is left pending-"}),
    [](const auto& info) { return simulation::MutantHunt::letters_of(info.param.name); });

}  // namespace
