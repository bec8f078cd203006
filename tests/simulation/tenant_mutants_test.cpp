// Each rule for Tenants is there because the simulation finds out when it is gone. The rules are
// switched off by this program's own answer to helm::tenants::keeps(); the product's has no such
// thing.
#include "cli/simulate/campaign.hpp"
#include "helm/tenants/plan/safety.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <optional>

namespace {

std::optional<helm::tenants::safety_rule> broken;

}  // namespace

namespace helm::tenants {

bool keeps(safety_rule rule) noexcept {
  return rule != broken;
}

}  // namespace helm::tenants

namespace {

using cli::simulate::trial;
using cli::simulate::trial_outcome;
using helm::tenants::safety_rule;
using simulation::trouble;

constexpr std::uint64_t most_seeds = 200;

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
  t.fleet = simulation::usual_fleet(m.clusters, 3, m.tenants);
  t.fleet.faults = m.faults;
  t.fleet.patience = std::chrono::minutes(10);
  t.seed = seed;
  return t;
}

class TenantMutant : public testing::TestWithParam<mutant> {
protected:
  void TearDown() override {
    broken.reset();
    ++tried;
    if (!HasFailure()) ++caught;
  }
  /// When all run in one process, the sum.
  static void TearDownTestSuite() {
    if (tried > 1) std::printf("## {\"tenant mutants\": %d, \"caught\": %d}\n", tried, caught);
  }
  static inline int tried = 0, caught = 0;
};

TEST_P(TenantMutant, IsCaughtWithin200SeedsAndTheWholeIsNot) {
  const mutant& m = GetParam();
  broken = m.rule;
  std::uint64_t seed = 1;
  std::string found;
  for (; seed <= most_seeds && found.empty(); ++seed)
    for (const std::string& f : run(trial_of(m, seed)).findings())
      if (f.find(m.finding) != std::string::npos) found = f;
  ASSERT_FALSE(found.empty()) << "nobody noticed in " << most_seeds << " seeds";
  std::printf("## mutant %s: seed %llu says: %s\n", m.name,
              static_cast<unsigned long long>(seed - 1), found.c_str());
  broken.reset();
  const trial_outcome whole = run(trial_of(m, seed - 1));
  EXPECT_TRUE(whole.is_good()) << whole.findings().front() << "\n" << whole.tail;
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
    [](const auto& info) {
      std::string name;
      for (const char c : std::string(info.param.name))
        if (std::isalpha(static_cast<unsigned char>(c))) name += c;
      return name;
    });

}  // namespace
