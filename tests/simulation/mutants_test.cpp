// Each safety rule is there because the simulation finds out when it is gone. The rules are
// switched off by this program's own answer to bootc::keeps(); the product's has no such thing.
#include "bootc/pool/safety.hpp"
#include "cli/simulate/campaign.hpp"
#include "reactor/system/private_folder.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

namespace {

std::optional<bootc::safety_rule> broken;

}  // namespace

namespace bootc {

bool keeps(safety_rule rule) noexcept {
  return rule != broken;
}

}  // namespace bootc

namespace {

using bootc::safety_rule;
using cli::simulate::trial;
using cli::simulate::trial_outcome;
using simulation::trouble;

constexpr std::uint64_t most_seeds = 200;

struct mutant {
  const char* name;
  safety_rule rule;
  std::size_t clusters, nodes;
  simulation::troubles faults;
  const char* finding;  // part of the sentence that must be said
};
std::ostream& operator<<(std::ostream& out, const mutant& m) {
  return out << m.name;
}

trial trial_of(const mutant& m, std::uint64_t seed, const std::string& editable) {
  trial t;
  t.fleet = simulation::usual_fleet(m.clusters, m.nodes);
  t.fleet.faults = m.faults;
  t.fleet.patience = std::chrono::hours(1);
  if (m.faults.contains(trouble::policy_swaps)) t.editable = editable;
  t.seed = seed;
  return t;
}

class Mutant : public testing::TestWithParam<mutant> {
protected:
  void TearDown() override {
    broken.reset();
    ++tried;
    if (!HasFailure()) ++caught;
  }
  /// When all run in one process, the sum.
  static void TearDownTestSuite() {
    if (tried > 1) std::printf("## {\"mutants\": %d, \"caught\": %d}\n", tried, caught);
  }
  static inline int tried = 0, caught = 0;
};

TEST_P(Mutant, IsCaughtWithin200SeedsAndTheWholeIsNot) {
  const mutant& m = GetParam();
  const reactor::private_folder editable("simulate");
  broken = m.rule;
  std::uint64_t seed = 1;
  std::string found;
  for (; seed <= most_seeds && found.empty(); ++seed)
    for (const std::string& f : run(trial_of(m, seed, editable.path())).findings())
      if (f.find(m.finding) != std::string::npos) found = f;
  ASSERT_FALSE(found.empty()) << "nobody noticed in " << most_seeds << " seeds";
  std::printf("## mutant %s: seed %llu says: %s\n", m.name,
              static_cast<unsigned long long>(seed - 1), found.c_str());
  broken.reset();
  const trial_outcome whole = run(trial_of(m, seed - 1, editable.path()));
  EXPECT_TRUE(whole.is_good()) << whole.findings().front() << "\n" << whole.tail;
}

INSTANTIATE_TEST_SUITE_P(
    OneRuleLess, Mutant,
    testing::Values(mutant{"budget", safety_rule::budget, 1, 4, {}, "evicting"},
                    mutant{"slot", safety_rule::slot, 1, 6, {}, "reboot slot as number"},
                    mutant{"cordon restore", safety_rule::cordon_restore, 1, 3, {}, "cordoned"},
                    mutant{"halt",
                           safety_rule::halt,
                           1,
                           12,
                           {trouble::failing_hosts, trouble::slow_hosts},
                           "are not Ready"},
                    mutant{"own-write memory",
                           safety_rule::own_writes,
                           1,
                           16,
                           {trouble::half_open, trouble::policy_swaps},
                           "reboot slot as number"},
                    mutant{"cordon", safety_rule::cordon, 1, 3, {}, "without being cordoned"},
                    mutant{"drain", safety_rule::drain, 1, 4, {}, "still on it"},
                    mutant{"pods that are gone", safety_rule::gone, 1, 4, {}, "still on it"}),
    [](const auto& info) {
      std::string name;
      for (const char c : std::string(info.param.name))
        if (std::isalpha(static_cast<unsigned char>(c))) name += c;
      return name;
    });

}  // namespace
