#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace testing;
using kind = units::upgrade_answer::kind;

/// A control plane of one pool that has staged an image with 1.`target`, beside servers of 1.30.
struct gated : situation {
  explicit gated(unsigned target = 31) {
    world.kubernetes.are_gated = true;
    world.kubernetes.servers = {"v1.30.4"};
    world.kubernetes.images[digest_of('b')] = {"v1." + std::to_string(target) + ".0", "a label"};
    for (const char* name : {"p1", "p2", "p3"}) {
      member(name, unit_state::staged);
      auto& n = node_named(name);
      n.meta.labels = with(n.meta.labels, std::string(names::control_plane_role), "");
      n.kubelet_version = "v1.30.4";
    }
  }
  gated& answered(kind is, minor_step about = {30, 31}) {
    world.kubernetes.asked = about;
    world.kubernetes.answer = {is, is == kind::fine ? "" : "it breaks web", "web is changed",
                               std::chrono::minutes(2)};
    return *this;
  }
};

std::string verdict(const rollout_plan& plan, std::string_view unit) {
  for (const action& a : plan.actions)
    if (a.kind == action_kind::take_slot && a.node == unit) return "goes";
  for (const hold& h : plan.holds)
    if (h.unit == unit) return h.code + ": " + h.sentence;
  return "nothing";
}

TEST(RemovedApis, ANewerMinorAsksAndNobodyGoesBeforeTheAnswer) {
  const gated s;
  const auto plan = s.plan();
  EXPECT_EQ(plan.kubernetes.asks, (minor_step{30, 31}));
  EXPECT_TRUE(verdict(plan, "p1").starts_with("removed-apis: ")) << verdict(plan, "p1");
}

TEST(RemovedApis, EachAnswerHoldsButThatNothingBreaks) {
  for (const kind is : {kind::found, kind::looking, kind::unknown}) {
    gated s;
    const auto plan = s.answered(is).plan();
    EXPECT_EQ(verdict(plan, "p1"), "removed-apis: it breaks web");
    EXPECT_EQ(plan.look_again, noon + std::chrono::minutes(2));
    EXPECT_EQ(plan.held.at("removed-apis"), 3u);
  }
  gated s;
  EXPECT_EQ(verdict(s.answered(kind::fine).plan(), "p1"), "goes");
}

TEST(RemovedApis, AnAnswerAboutAnotherStepIsNone) {
  for (const minor_step other : {minor_step{30, 32}, minor_step{29, 31}, minor_step{}}) {
    gated s;
    EXPECT_TRUE(verdict(s.answered(kind::fine, other).plan(), "p1").starts_with("removed-apis"));
  }
}

TEST(RemovedApis, OfTheSameMinorAnOlderOneOrAnUnknownOneNothingIsAsked) {
  for (const unsigned target : {30u, 29u}) {
    const gated s(target);
    EXPECT_EQ(s.plan().kubernetes.asks, minor_step());
  }
  gated unknown;
  unknown.world.kubernetes.images.clear();
  EXPECT_EQ(unknown.plan().kubernetes.asks, minor_step());
  EXPECT_EQ(verdict(unknown.plan(), "p1"), "goes");
}

TEST(RemovedApis, WithoutTheGateAndForWorkersNothingIsAsked) {
  gated off;
  off.world.kubernetes.are_gated = false;
  EXPECT_EQ(verdict(off.plan(), "p1"), "goes");
  situation s;
  s.world.kubernetes.are_gated = true;
  s.world.kubernetes.servers = {"v1.31.0"};
  s.world.kubernetes.images[digest_of('b')] = {"v1.31.0", "a label"};
  s.member("w1", unit_state::staged);
  s.node_named("w1").kubelet_version = "v1.30.0";
  EXPECT_EQ(verdict(s.plan(), "w1"), "goes");
}

TEST(RemovedApis, TheSkewComesFirst) {
  const gated s(33);
  EXPECT_TRUE(verdict(s.plan(), "p1").starts_with("version-skew: ")) << verdict(s.plan(), "p1");
  EXPECT_EQ(s.plan().kubernetes.asks, minor_step());
}

TEST(RemovedApis, ACommandShowsWhatTheServiceNoted) {
  situation s;
  auto& b = s.member("p1", unit_state::staged);
  const hold why{"p1", "removed-apis", "it breaks web", "web is changed"};
  b.meta.annotations = with(b.meta.annotations, std::string(names::hold), why.code);
  b.meta.annotations = with(b.meta.annotations, std::string(names::hold_reason), why.sentence);
  s.world.kubernetes.are_noted = true;
  EXPECT_EQ(verdict(s.plan(), "p1"), "removed-apis: it breaks web");
}

}  // namespace
}  // namespace bootc
