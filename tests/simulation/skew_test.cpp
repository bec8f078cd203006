// Fleets whose clusters have control planes and workers move to releases that name a Kubernetes by
// chance: no node comes back beyond the version skew, and what may move does.
#include "tests/reactor/temporary_folder.hpp"
#include "tests/simulation/skew_run.hpp"

#include <gtest/gtest.h>

namespace simulation {
namespace {

/// 500 seeds, 25 a test so that they share the cores.
class SkewedFleet : public testing::TestWithParam<int> {};

TEST_P(SkewedFleet, NoNodeRunsAVersionBeyondTheSkew) {
  std::size_t moved = 0, held = 0;
  for (int i = 0; i < 25; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 25 + i + 1);
    const skew_outcome r = run_skewed(seed);
    ASSERT_TRUE(r.violations.empty()) << "seed " << seed << ": " << r.violations.front();
    EXPECT_EQ(r.wrongly_held, "") << "seed " << seed;
    moved += r.reboots;
    held += r.held;
  }
  EXPECT_GT(moved, 50u) << "nothing moved";
  EXPECT_GT(held, 10u) << "no release broke a rule";
}

INSTANTIATE_TEST_SUITE_P(Seeds, SkewedFleet, testing::Range(0, 20));

TEST(SkewedFleetAfterALie, TheFirstNodesWordCountsThePoolHaltsAndGoesBack) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const lie_outcome r = run_lie(seed);
    EXPECT_EQ(r.reason, "RolloutReturned") << "seed " << seed;
    EXPECT_EQ(r.went, 1u) << "seed " << seed << ": one slot, one node";
    EXPECT_EQ(r.on_old, r.nodes) << "seed " << seed;
    EXPECT_TRUE(r.is_told) << "seed " << seed;
  }
}

TEST(KubeadmFleet, NoControlPlaneNodeMovesBeforeKubeadmHasMovedEveryAPIServer) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const kubeadm_outcome r = run_kubeadm(seed);
    EXPECT_EQ(r.went_before, 0u) << "seed " << seed;
    EXPECT_NE(r.says.find("and the API server on node "), std::string::npos) << r.says;
    EXPECT_EQ(r.went_after, r.planes) << "seed " << seed;
    EXPECT_TRUE(r.violations.empty()) << "seed " << seed << ": " << r.violations.front();
  }
}

TEST(GatedFleet, NoControlPlaneMovesWhileAReleaseUsesWhatTheNewMinorRemoves) {
  const gated_outcome r = run_gated("");
  EXPECT_EQ(r.went_before, 0u);
  EXPECT_EQ(r.says,
            "Kubernetes 1.25 breaks what this cluster uses: PodSecurityPolicy/strict "
            "(policy/v1beta1, Helm release default/policies); `windlass check upgrade --to 1.25 "
            "--cluster cluster-001` lists all");
  EXPECT_EQ(r.shown, "removed-apis: " + r.says);
  EXPECT_EQ(r.went_after, r.planes) << "it was deleted";
}

TEST(GatedFleet, AFleetPoolSaysThatItsPoolIsHeldOnTheCluster) {
  const fleet_gated_outcome r = run_fleet_gated();
  EXPECT_EQ(r.went_before, 0u);
  EXPECT_NE(r.says.find("PodSecurityPolicy/strict"), std::string::npos) << r.says;
  EXPECT_NE(r.status.find("removed-apis: 3 nodes of its pool wait; `windlass plan --cluster "
                          "cluster-001` says why"),
            std::string::npos)
      << r.status;
  EXPECT_EQ(r.held, R"({"removed-apis":1})");
  EXPECT_EQ(r.went_after, r.planes) << "the release was deleted";
}

TEST(GatedFleet, AWaiverLetsItGo) {
  const reactor::temporary_folder folder;
  const gated_outcome r = run_gated(folder.write(
      "waivers.yaml",
      "waivers:\n- {object: 'PodSecurityPolicy/*', api: policy/v1beta1, reason: goes with it, "
      "until: '2999-01-01'}\n"));
  EXPECT_EQ(r.says, "");
  EXPECT_EQ(r.went_before, r.planes);
}

TEST(GatedFleet, WaiversThatCannotBeReadHoldIt) {
  const gated_outcome r = run_gated("/nowhere/waivers.yaml");
  EXPECT_EQ(r.went_before, 0u);
  EXPECT_NE(r.says.find("PodSecurityPolicy/strict"), std::string::npos) << r.says;
  EXPECT_EQ(r.went_after, 0u) << "what they would cover is not known";
}

}  // namespace
}  // namespace simulation
