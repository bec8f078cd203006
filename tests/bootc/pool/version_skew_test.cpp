#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace testing;

/// A pool whose nodes have staged image b; what is said of b's Kubernetes, and what servers say.
struct skewed : situation {
  skewed& image(const char* version) {
    world.kubernetes.images[digest_of('b')] = {version, "label io.kubernetes.version"};
    return *this;
  }
  skewed& servers(std::vector<std::string> versions) {
    world.kubernetes.servers = std::move(versions);
    return *this;
  }
  skewed& worker(const std::string& name, const char* kubelet, const char* proxy = "") {
    member(name, unit_state::staged);
    node_named(name).kubelet_version = kubelet;
    node_named(name).kube_proxy_version = proxy;
    return *this;
  }
  /// A control-plane node of this pool, or of none.
  skewed& plane(const std::string& name, const char* kubelet, bool ours = false) {
    if (ours)
      member(name, unit_state::staged);
    else
      node(name).meta.labels = {};
    auto& n = node_named(name);
    n.meta.labels = with(n.meta.labels, std::string(names::control_plane_role), "");
    n.kubelet_version = kubelet;
    return *this;
  }
  /// It runs image b, and its kubelet says so.
  skewed& arrived(const std::string& name, const char* kubelet) {
    member(name, unit_state::up_to_date);
    node_named(name).kubelet_version = kubelet;
    return *this;
  }
};

std::string sentence_of(const rollout_plan& plan, std::string_view unit) {
  for (const hold& h : plan.holds)
    if (h.unit == unit) return h.sentence;
  return {};
}
bool goes(const rollout_plan& plan, std::string_view unit) {
  return std::ranges::any_of(plan.actions, [&](const action& a) {
    return a.kind == action_kind::take_slot && a.node == unit;
  });
}
std::string verdict(const rollout_plan& plan, std::string_view unit) {
  if (goes(plan, unit)) return "goes";
  for (const hold& h : plan.holds)
    if (h.unit == unit) return h.code;
  return "nothing";
}

TEST(VersionSkewOfAPool, AKubeletNewerThanAnyAPIServerIsHeldWithBothVersionsAndTheRule) {
  skewed s;
  s.image("v1.34.1").servers({"v1.33.1-eks-0a1b2c3", "v1.34.0"}).worker("w1", "v1.33.0");
  const auto plan = s.plan();
  EXPECT_EQ(verdict(plan, "w1"), "version-skew");
  EXPECT_EQ(sentence_of(plan, "w1"),
            "its image carries Kubernetes v1.34.1 (label io.kubernetes.version), and an API server "
            "runs v1.33.1-eks-0a1b2c3: a kubelet is not newer than any API server of its cluster, "
            "and at most three minors older (two when it is below 1.25)");
  EXPECT_EQ(plan.look_again, noon + std::chrono::minutes(1)) << "no watch tells of /version";
  EXPECT_FALSE(plan.halted);
}

TEST(VersionSkewOfAPool, EachMoveOfAWorkerIsJudgedBesideTheServersBeforeASlotIsGiven) {
  for (int target = 20; target <= 40; ++target)
    for (int server = 22; server <= 38; ++server) {
      skewed s;
      const std::string version = "v1." + std::to_string(target) + ".3";
      s.image(version.c_str()).servers({"v1." + std::to_string(server) + ".0+k3s1"});
      s.worker("w1", "v1.21.0");
      const bool fine = target <= server && server - target <= (target < 25 ? 2 : 3);
      EXPECT_EQ(verdict(s.plan(), "w1"), fine ? "goes" : "version-skew")
          << target << " beside " << server;
    }
}

TEST(VersionSkewOfAPool, WhatIsNotKnownBreaksNoRule) {
  for (const char* image : {"", "latest", "41.20261120.0"}) {
    skewed s;
    s.image(image).servers({"v1.30.0"}).worker("w1", "v1.30.0");
    EXPECT_EQ(verdict(s.plan(), "w1"), "goes") << image;
  }
  for (const char* server : {"", "<html>", "v1"}) {
    skewed s;
    s.image("v1.34.0").servers({server}).worker("w1", "garbage");
    EXPECT_EQ(verdict(s.plan(), "w1"), "goes") << server;
  }
}

TEST(VersionSkewOfAPool, NobodyGoesWhileTheRegistryIsAskedForTheLabel) {
  skewed s;
  s.worker("w1", "v1.33.0");
  s.world.kubernetes.images[digest_of('b')].is_asking = true;
  EXPECT_EQ(verdict(s.plan(), "w1"), "version-lookup");
  EXPECT_EQ(sentence_of(s.plan(), "w1"),
            "the registry is asked which Kubernetes the image carries");
  s.world.kubernetes.images[digest_of('b')].is_asking = false;
  EXPECT_EQ(verdict(s.plan(), "w1"), "goes");
}

TEST(VersionSkewOfAPool, TheReleaseCountsBeforeALabelAndOnlyForItsOwnReference) {
  skewed s;
  s.image("v1.33.0").servers({"v1.33.0"}).worker("w1", "v1.33.0");
  const auto noted = [&](const std::string& text) {
    s.world.pool.meta.annotations = with({}, std::string(names::kubernetes), text);
    return verdict(s.plan(), "w1");
  };
  EXPECT_EQ(noted("1.34.2 " + image_of('b')), "version-skew");
  EXPECT_EQ(sentence_of(s.plan(), "w1").substr(0, 50),
            "its image carries Kubernetes 1.34.2 (the Release),");
  EXPECT_EQ(noted("1.34.2 " + image_of('c')), "goes") << "a person edited the image";
  EXPECT_EQ(noted("1.34.2"), "goes");
  EXPECT_EQ(noted("nightly " + image_of('b')), "goes") << "then the label counts";
}

TEST(VersionSkewOfAPool, ControlPlanesMoveBeforeWorkers) {
  skewed s;
  s.image("v1.34.0")
      .servers({"v1.34.0"})
      .worker("w1", "v1.33.0")
      .plane("cp1", "v1.34.0")
      .plane("cp2", "v1.33.0");
  EXPECT_EQ(verdict(s.plan(), "w1"), "version-skew");
  EXPECT_NE(sentence_of(s.plan(), "w1")
                .find("and control-plane node cp2 runs v1.33.0: the control planes of a cluster "
                      "move to a newer minor before its workers"),
            std::string::npos)
      << sentence_of(s.plan(), "w1");
  s.node_named("cp2").kubelet_version = "v1.34.5";
  EXPECT_EQ(verdict(s.plan(), "w1"), "goes");
}

TEST(VersionSkewOfAPool, AControlPlaneMovesOneMinorAtATimeAndStaysBesideTheOthers) {
  const auto moves = [](const char* from, const char* to, const char* other) {
    skewed s;
    s.image(to).servers({other}).plane("cp1", from, true).plane("cp2", other);
    return verdict(s.plan(), "cp1");
  };
  EXPECT_EQ(moves("v1.33.0", "v1.34.0", "v1.33.0"), "goes");
  EXPECT_EQ(moves("v1.33.0", "v1.34.0", "v1.34.0"), "goes");
  EXPECT_EQ(moves("v1.33.0", "v1.35.0", "v1.34.0"), "version-skew") << "two minors at once";
  EXPECT_EQ(moves("v1.34.0", "v1.35.0", "v1.33.0"), "version-skew") << "two beside the other";
  EXPECT_EQ(moves("v1.34.0", "v1.33.0", "v1.33.0"), "goes") << "back";
  EXPECT_EQ(moves("v1.34.0", "v1.32.0", "v1.33.0"), "version-skew") << "two back at once";
  EXPECT_EQ(moves("garbage", "v1.34.0", "v1.33.0"), "goes");
}

TEST(VersionSkewOfAPool, AControlPlaneLeavesNoWorkerBehindAndGoesBelowNone) {
  const auto moves = [](const char* to, const char* worker, const char* proxy = "") {
    skewed s;
    s.image(to).plane("cp1", "v1.33.0", true);
    s.node("w9").kubelet_version = worker;
    s.node_named("w9").kube_proxy_version = proxy;
    return verdict(s.plan(), "cp1");
  };
  EXPECT_EQ(moves("v1.34.0", "v1.31.0"), "goes");
  EXPECT_EQ(moves("v1.34.0", "v1.30.0"), "version-skew") << "four minors older";
  EXPECT_EQ(moves("v1.32.0", "v1.32.9"), "goes");
  EXPECT_EQ(moves("v1.32.0", "v1.33.0"), "version-skew") << "it would be newer";
  EXPECT_EQ(moves("v1.34.0", "v1.31.0", "v1.30.0"), "version-skew") << "its kube-proxy";
}

TEST(VersionSkewOfAPool, AnAPIServerThatIsAStaticPodDoesNotComeWithTheImageOfItsNode) {
  const auto moves = [](const char* to, const char* from, const char* server, const char* other) {
    skewed s;
    s.image(to).plane("cp1", from, true).plane("cp2", from);
    s.world.kubernetes.static_servers = {{"cp1", server}, {"cp2", other}};
    return verdict(s.plan(), "cp1");
  };
  EXPECT_EQ(moves("v1.34.0", "v1.33.0", "v1.33.0", "v1.33.0"), "version-skew");
  EXPECT_EQ(moves("v1.34.0", "v1.33.0", "v1.34.0", "v1.33.0"), "version-skew") << "the other one";
  EXPECT_EQ(moves("v1.34.0", "v1.33.0", "v1.34.0", "v1.34.0"), "goes") << "kubeadm was here";
  EXPECT_EQ(moves("v1.34.0", "v1.32.0", "v1.34.0", "v1.34.0"), "goes") << "a kubelet may skip one";
  EXPECT_EQ(moves("v1.31.0", "v1.33.0", "v1.34.0", "v1.34.0"), "goes");
  EXPECT_EQ(moves("v1.30.0", "v1.33.0", "v1.34.0", "v1.34.0"), "version-skew") << "four older";
  EXPECT_EQ(moves("v1.34.0", "v1.33.0", "latest", "v1.33.0"), "version-skew");

  skewed s;
  s.image("v1.34.0").servers({"v1.33.2"}).plane("cp1", "v1.33.0", true).worker("w1", "v1.33.0");
  s.world.kubernetes.static_servers = {{"cp1", "v1.33.2"}};
  const std::string sentence =
      "its image carries Kubernetes v1.34.0 (label io.kubernetes.version), and the API server on "
      "node cp1 runs v1.33.2: a kubelet is not newer than any API server of its cluster, and at "
      "most three minors older (two when it is below 1.25)";
  EXPECT_EQ(sentence_of(s.plan(), "cp1"), sentence);
  EXPECT_EQ(sentence_of(s.plan(), "w1"), sentence);
  EXPECT_EQ(s.plan().kubernetes.oldest, "v1.33.2");
  s.world.kubernetes.are_gated = true;
  s.servers({"v1.34.0"});
  s.world.kubernetes.static_servers = {{"cp1", "v1.34.0"}};
  EXPECT_EQ(verdict(s.plan(), "cp1"), "goes") << "its image brings no newer API server";
}

TEST(VersionSkewOfAPool, AKubeProxyOfItsOwnIsJudgedBesideTheKubeletThatComes) {
  const auto moves = [](const char* kubelet, const char* proxy) {
    skewed s;
    s.image("v1.34.0").servers({"v1.34.0"}).worker("w1", kubelet, proxy);
    return verdict(s.plan(), "w1");
  };
  EXPECT_EQ(moves("v1.33.0", "v1.31.0"), "goes");
  EXPECT_EQ(moves("v1.33.0", "v1.30.0"), "version-skew");
  EXPECT_EQ(moves("v1.30.0", "v1.30.0"), "goes") << "servers before 1.31 repeat the kubelet's";
}

TEST(VersionSkewOfAPool, KnownOnlyAfterTheFirstNodeThePoolHaltsAndReturnsIfToldTo) {
  skewed s;
  s.servers({"v1.33.0"}).arrived("w1", "v1.34.0").worker("w2", "v1.33.0");
  s.world.pool.status.deployed_digest = digest_of('a');
  const auto plan = s.plan();
  EXPECT_TRUE(plan.halted);
  EXPECT_EQ(verdict(plan, "w2"), "version-skew");
  EXPECT_EQ(degraded_of(plan.status),
            "True/RolloutHalted/Rollout halted: the image is beyond the version skew: w1: v1.34.0");
  EXPECT_EQ(plan.status.failed_digest, "");

  s.world.pool.spec.on_failure = "Return";
  const auto noted = s.plan();
  EXPECT_EQ(noted.status.failed_digest, digest_of('b'));
  EXPECT_EQ(noted.status.return_ref, image_of('a'));
  s.world.pool.status = noted.status;
  const auto back = s.plan();
  EXPECT_FALSE(back.halted) << "image a is fine there";
  EXPECT_EQ(back.status.target_digest, digest_of('a'));
}

TEST(VersionSkewOfAPool, APoolThatArrivedIsNeitherHaltedNorTakenBack) {
  skewed s;
  s.servers({"v1.33.0"}).arrived("w1", "v1.34.0");
  s.world.pool.spec.on_failure = "Return";
  s.world.pool.status.deployed_digest = digest_of('b');
  const auto plan = s.plan();
  EXPECT_FALSE(plan.halted);
  EXPECT_EQ(plan.status.failed_digest, "");
}

TEST(VersionSkewOfAPool, ALabelThatLiesLosesToTheNodeThatRunsTheImageAndIsToldOf) {
  skewed s;
  s.image("v1.33.7").servers({"v1.33.0"}).arrived("w1", "v1.34.0").worker("w2", "v1.33.0");
  const auto plan = s.plan();
  EXPECT_EQ(verdict(plan, "w2"), "version-skew");
  EXPECT_EQ(plan.kubernetes.contradiction,
            "label io.kubernetes.version says that the image carries Kubernetes v1.33.7, but node "
            "w1 runs it as v1.34.0, which counts");
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_EQ(plan.warnings[0].reason, "ImageVersionDiffers");

  s.node_named("w1").kubelet_version = "v1.33.9";
  EXPECT_TRUE(s.plan().warnings.empty()) << "another patch is no lie that matters";
  EXPECT_EQ(verdict(s.plan(), "w2"), "goes");
}

TEST(VersionSkewOfAPool, ANodeThatStillShowsTheKubeletFromBeforeItsRebootSaysNothing) {
  skewed s;
  s.image("v1.34.0").servers({"v1.33.0"}).arrived("w1", "v1.33.0").worker("w2", "v1.33.0");
  const_cast<bootc_node*>(s.world.bootc_nodes[0])->meta.annotations =
      with({}, std::string(names::approved_boot_id), "boot-1");
  const auto plan = s.plan();
  EXPECT_EQ(verdict(plan, "w2"), "version-skew");
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(VersionSkewOfAPool, ANodeInASlotIsNeitherDrainedNorTold) {
  skewed s;
  s.image("v1.34.0").servers({"v1.33.0"});
  s.slotted("w1", unit_state::staged);
  EXPECT_EQ(steps(s.plan()), "");
  EXPECT_EQ(verdict(s.plan(), "w1"), "version-skew");
  s.drain("w1", drain_progress::phase::succeeded);
  EXPECT_EQ(steps(s.plan()), "") << "drained, it is not told to boot";
  s.servers({"v1.34.0"});
  EXPECT_EQ(steps(s.plan()), "approve reboot w1");
}

TEST(VersionSkewOfAPool, APolicyThatNamesANodeDoesNotMoveIt) {
  skewed s;
  s.image("v1.34.0").servers({"v1.33.0"}).worker("w1", "v1.33.0");
  s.world.policy.is = policy_answer::kind::given;
  s.world.policy.start = {"w1"};
  EXPECT_EQ(verdict(s.plan(), "w1"), "version-skew");
  const auto plan = s.plan();
  EXPECT_TRUE(plan.units[0].beyond_skew);
  EXPECT_EQ(plan.kubernetes.image, "v1.34.0");
  EXPECT_EQ(plan.kubernetes.oldest, "v1.33.0");
}

TEST(VersionSkewOfAPool, WhoOnlyLooksShowsWhatTheServiceNoted) {
  skewed s;
  s.worker("w1", "v1.33.0").worker("w2", "v1.33.0");
  auto& object = const_cast<bootc_node&>(*s.world.bootc_nodes[0]);
  object.meta.annotations = with(with({}, std::string(names::hold), "version-skew"),
                                 std::string(names::hold_reason), "as the service said");
  EXPECT_EQ(verdict(s.plan(), "w1"), "goes") << "the service itself asks";
  s.world.kubernetes.are_noted = true;
  EXPECT_EQ(verdict(s.plan(), "w1"), "version-skew");
  EXPECT_EQ(sentence_of(s.plan(), "w1"), "as the service said");
  EXPECT_EQ(sentence_of(s.plan(), "w2"), "as the service said") << "one node speaks for the pool";
}

}  // namespace
}  // namespace bootc
