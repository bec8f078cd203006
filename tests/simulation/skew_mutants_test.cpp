// Each rule of the version skew in the planner is there because the skewed fleets find out when it
// is gone: this program is built from copies of the sources (mutants.cmake).
#include "tests/bootc/builders.hpp"
#include "tests/simulation/safety_rules.hpp"
#include "tests/simulation/skew_run.hpp"

#include <gtest/gtest.h>

namespace simulation {
namespace {

struct skew_mutant {
  const char* name;
  mutants::rule rule;
};
std::ostream& operator<<(std::ostream& out, const skew_mutant& m) {
  return out << m.name;
}

class SkewMutant : public testing::TestWithParam<skew_mutant> {
protected:
  void TearDown() override { mutants::broken.reset(); }
};

TEST_P(SkewMutant, IsCaughtWithin500SeedsAndTheWholeIsNot) {
  mutants::broken = GetParam().rule;
  std::uint64_t seed = 1;
  std::string found;
  for (; seed <= 500 && found.empty(); ++seed)
    if (const skew_outcome r = run_skewed(seed); !r.violations.empty())
      found = r.violations.front();
  ASSERT_FALSE(found.empty()) << "nobody noticed";
  std::printf("## mutant %s: seed %llu says: %s\n", GetParam().name,
              static_cast<unsigned long long>(seed - 1), found.c_str());
  mutants::broken.reset();
  EXPECT_TRUE(run_skewed(seed - 1).violations.empty());
}

INSTANTIATE_TEST_SUITE_P(OneRuleLess, SkewMutant,
                         testing::Values(skew_mutant{"servers", mutants::rule::skew_servers},
                                         skew_mutant{"workers", mutants::rule::skew_workers},
                                         skew_mutant{"asking", mutants::rule::skew_asking},
                                         skew_mutant{"slot", mutants::rule::skew_slot}),
                         [](const auto& info) { return std::string(info.param.name); });

/// Whether cp1, or else w1, gets a slot for Kubernetes `target`, beside cp2.
struct one_move : bootc::testing::situation {
  one_move(const std::string& target, const char* server) {
    world.kubernetes.images[bootc::testing::digest_of('b')] = {target, "a label"};
    world.kubernetes.servers = {server};
  }
  void plane(const char* name, const char* kubelet) {
    auto& n = name == std::string("cp1")
                  ? (member(name, bootc::unit_state::staged), node_named(name))
                  : node(name);
    n.meta.labels =
        bootc::testing::with(n.meta.labels, std::string(bootc::names::control_plane_role), "");
    n.kubelet_version = kubelet;
  }
  bool goes(std::string_view name) const {
    const bootc::rollout_plan made = plan();
    return std::ranges::any_of(made.actions, [&](const bootc::action& a) {
      return a.kind == bootc::action_kind::take_slot && a.node == name;
    });
  }
};

/// Where several rules forbid the same move of a fleet, the planner is asked for one that only this
/// rule forbids.
void expect_only(mutants::rule rule, const one_move& s, std::string_view node) {
  EXPECT_FALSE(s.goes(node));
  mutants::broken = rule;
  EXPECT_TRUE(s.goes(node)) << "the mutant is not found";
  mutants::broken.reset();
}

TEST(SkewMutantOfAMove, ControlPlanesFirst) {
  one_move s("v1.34.0", "v1.34.0");
  s.member("w1", bootc::unit_state::staged);
  s.plane("cp2", "v1.33.0");
  s.node_named("cp2").meta.labels = {{"node-role.kubernetes.io/control-plane", ""}};
  expect_only(mutants::rule::skew_planes_first, s, "w1");
}

TEST(SkewMutantOfAMove, OneMinorAtATime) {
  one_move s("v1.35.0", "v1.34.0");
  s.plane("cp1", "v1.33.0");
  expect_only(mutants::rule::skew_step, s, "cp1");
}

TEST(SkewMutantOfAMove, BesideTheOthers) {
  one_move s("v1.35.0", "v1.34.0");
  s.plane("cp1", "v1.34.0");
  s.plane("cp2", "v1.33.0");
  s.node_named("cp2").meta.labels = {{"node-role.kubernetes.io/control-plane", ""}};
  expect_only(mutants::rule::skew_beside, s, "cp1");
}

TEST(SkewMutantOfAMove, ANodeThatIsOnItsWay) {
  one_move s("v1.32.0", "v1.33.0");
  s.plane("cp1", "v1.33.0");
  s.world.kubernetes.images[bootc::testing::digest_of('c')] = {"v1.33.0", "a label"};
  s.node("w9").meta.labels = {};
  s.node_named("w9").kubelet_version = "v1.31.0";
  auto& coming = s.object("w9");
  coming.meta.owner.uid = bootc::testing::uid_of(77);
  coming.spec.desired_image = bootc::testing::image_of('c');
  bootc::testing::situation::take_slot(coming);
  expect_only(mutants::rule::skew_way, s, "cp1");
}

TEST(SkewMutantOfALie, APoolThatDoesNotHaltIsCaught) {
  mutants::broken = mutants::rule::skew_halt;
  const lie_outcome r = run_lie(1);
  mutants::broken.reset();
  EXPECT_NE(r.reason, "RolloutReturned");
  EXPECT_LT(r.on_old, r.nodes) << "the first node stays beyond the skew";
}

}  // namespace
}  // namespace simulation
