#include "bootc/pool/rollout_planner.hpp"
#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace testing;
using namespace std::chrono_literals;

const std::string os = "quay.io/example/os:latest";

/// A pool on a tag with one node on image a, and what the registry says.
struct tagged : situation {
  explicit tagged(tag_updates how = tag_updates::automatic) {
    world.pool.spec.image_ref = os;
    world.pool.spec.updates = how;
  }
  tagged& answer(char digest, const std::string& error = "") {
    tag_resolution t;
    t.ref = world.pool.spec.image_ref;
    if (digest) t.digest = digest_of(digest);
    t.error = error;
    t.next = noon + 5min;
    world.tag = t;
    return *this;
  }
  tagged& stored(char target) {
    world.pool.status.target_digest = digest_of(target);
    world.pool.status.resolved_ref = world.pool.spec.image_ref;
    world.pool.status.next_tag_resolution_time = "2026-11-21T12:01:00Z";
    return *this;
  }
  tagged& approve(const std::string& digest) {
    world.pool.meta.annotations = with({}, std::string(names::approve_digest), digest);
    return *this;
  }
};

TEST(TagResolution, ATagIsPinnedToWhatItNames) {
  tagged s;
  s.answer('b').node("w1");
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "create BootcNode w1");
  EXPECT_EQ(plan.actions[0].spec.desired_image, image_of('b')) << "without the tag";
  EXPECT_EQ(plan.status.target_digest, digest_of('b'));
  EXPECT_EQ(plan.status.resolved_ref, os);
  EXPECT_EQ(plan.status.next_tag_resolution_time, "2026-11-21T12:05:00Z");
}

TEST(TagResolution, ATagThatAnotherOperatorRefusedWaitsUntilAPersonAgrees) {
  tagged s;
  s.world.pool.status.conditions = {
      cond("Degraded", "True", "InvalidSpec",
           "image ref \"" + os + "\" has no digest (tag resolution not yet supported)")};
  s.answer('b').member("w1", unit_state::up_to_date).spec.desired_image = image_of('a');
  s.node("w2");
  auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  ASSERT_EQ(held(plan), "w1:invalid-spec w2:invalid-spec");
  EXPECT_EQ(plan.holds[0].released_by, "the annotation bootc.dev/approve-digest of the pool is " +
                                           digest_of('b') + ", or its image is edited");
  EXPECT_TRUE(degraded_of(plan.status)
                  .starts_with("True/InvalidSpec/image ref \"" + os +
                               "\" has no digest, and the operator before Windlass refused it"))
      << degraded_of(plan.status);

  s.world.pool.status = plan.status;
  EXPECT_EQ(steps(s.plan()), "") << "what we wrote is remembered as what was found";
  EXPECT_FALSE(s.plan().status_changed);
  s.approve(digest_of('c'));
  EXPECT_EQ(steps(s.plan()), "") << "that is not what the tag names";

  s.approve(digest_of('b'));
  plan = s.plan();
  EXPECT_EQ(steps(plan), "create BootcNode w2, set desired image w1");
  EXPECT_EQ(plan.status.approved_digest, digest_of('b'));
  EXPECT_TRUE(degraded_of(plan.status).starts_with("False/")) << degraded_of(plan.status);

  s.approve("");
  s.world.pool.spec.image_ref = "quay.io/example/os:stable";
  s.answer('c');
  EXPECT_EQ(steps(s.plan()), "create BootcNode w2, set desired image w1")
      << "who edits the image has seen what is said of it";
}

TEST(TagResolution, NothingIsTouchedBeforeTheFirstAnswer) {
  tagged s;
  s.member("w1", unit_state::up_to_date);
  s.node("w2");
  auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w1:tag-unresolved w2:tag-unresolved");
  EXPECT_FALSE(plan.status_changed) << "it is only being asked";
  s.answer(0, "connection refused");
  plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(degraded_of(plan.status),
            "True/TagResolutionError/cannot resolve \"" + os + "\": connection refused");
  EXPECT_EQ(plan.status.next_tag_resolution_time, "2026-11-21T12:05:00Z");
}

/// An API server takes no status with a message of more than 32 KiB.
TEST(TagResolution, WhatARegistrySaysIsNeverTooLongForTheStatus) {
  tagged s;
  s.answer(0, std::string(100'000, 'x')).node("w1");
  EXPECT_LT(degraded_of(s.plan().status).size(), 4'096u);
}

TEST(TagResolution, AFailureKeepsTheTargetAndTheRolloutGoesOn) {
  tagged s;
  s.stored('b').answer(0, "no route").member("w1", unit_state::staged);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "take slot w1, cordon Node w1, drain Node w1");
  EXPECT_EQ(plan.status.target_digest, digest_of('b'));
  EXPECT_TRUE(degraded_of(plan.status).starts_with("True/TagResolutionError/"));
}

TEST(TagResolution, AfterAStartTheKnownTargetAndTheKnownErrorStay) {
  tagged s;
  s.stored('b').answer(0).member("w1", unit_state::up_to_date);
  s.world.pool.status.conditions = {
      cond("Degraded", "True", "TagResolutionError", "cannot resolve: no route")};
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(degraded_of(plan.status), "True/TagResolutionError/cannot resolve: no route");
}

TEST(TagResolution, WhoAsksNoRegistrySaysWhatWasPublishedAboutThisReference) {
  tagged s;
  s.member("w1", unit_state::up_to_date);
  s.world.pool.meta.generation = 2;
  s.world.pool.status.conditions = {
      cond("Degraded", "True", "TagResolutionError", "cannot resolve: no such tag")};
  condition& said = s.world.pool.status.conditions.front();
  said.observed_generation = 2;
  auto plan = s.plan();
  EXPECT_EQ(degraded_of(plan.status), "True/TagResolutionError/cannot resolve: no such tag");
  ASSERT_EQ(held(plan), "w1:tag-unresolved");
  EXPECT_EQ(plan.holds[0].sentence, "cannot resolve: no such tag");
  said.observed_generation = 1;
  EXPECT_EQ(s.plan().holds.at(0).sentence.substr(0, 21), "the registry is asked")
      << "it was said of another reference";
}

TEST(TagResolution, AnotherReferenceNeverTakesTheFormerDigest) {
  tagged s;
  s.stored('b').answer('b').member("w1", unit_state::up_to_date);
  s.world.pool.spec.image_ref = "quay.io/other/os:latest";
  auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w1:tag-unresolved");
  s.answer('c');
  plan = s.plan();
  EXPECT_EQ(plan.actions.at(0).spec.desired_image, "quay.io/other/os@" + digest_of('c'));
}

TEST(TagResolution, ADigestNeedsNoRegistry) {
  tagged s;
  s.stored('a').answer('c');
  s.target('b').member("w1", unit_state::up_to_date);
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(plan.status.target_digest, digest_of('b'));
  EXPECT_EQ(plan.status.resolved_ref + plan.status.next_tag_resolution_time, "");
}

TEST(ManualUpdates, AreOfferedAndWaitForApproval) {
  tagged s(tag_updates::manual);
  s.answer('b').node("w0");
  EXPECT_EQ(s.plan().actions.at(0).spec.desired_image, image_of('b')) << "resolved once";
  tagged later(tag_updates::manual);
  later.stored('b').answer('c').member("w1", unit_state::up_to_date);
  auto plan = later.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(plan.status.target_digest, digest_of('b'));
  EXPECT_EQ(plan.status.available_digest, digest_of('c'));
  EXPECT_TRUE(plan.status.update_available);

  later.approve(digest_of('c'));
  plan = later.plan();
  EXPECT_EQ(steps(plan), "set desired image w1");
  EXPECT_EQ(plan.status.target_digest, digest_of('c'));
  EXPECT_EQ(plan.status.available_digest, "");
  EXPECT_EQ(plan.status.approved_digest, digest_of('c'));
}

TEST(ManualUpdates, AnApprovalIsActedUponOnce) {
  tagged s(tag_updates::manual);
  s.stored('b').answer('d').approve(digest_of('c'));
  s.world.pool.status.approved_digest = digest_of('c');
  EXPECT_EQ(s.plan().status.target_digest, digest_of('b'))
      << "it was moved on since, by another reference say, and the annotation was left";
}

TEST(ManualUpdates, APoolThatFollowsAReleaseIsNeverMovedByItsTag) {
  // Whatever its spec says: an image that is pushed again under its name is consented to, or not.
  tagged s(tag_updates::automatic);
  s.world.pool.meta.annotations = with({}, "windlass.dev/release", "cluster");
  s.stored('b').answer('c');
  s.member("w1", unit_state::up_to_date).spec.desired_image = image_of('b');
  auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(plan.status.target_digest, digest_of('b'));
  EXPECT_EQ(plan.status.available_digest, digest_of('c'));

  s.world.pool.meta.annotations =
      with(s.world.pool.meta.annotations, std::string(names::approve_digest), digest_of('c'));
  EXPECT_EQ(s.plan().status.target_digest, digest_of('c'));

  // Another reference is another image, which is asked for the first time.
  s.world.pool.spec.image_ref = "quay.io/example/os:other";
  s.answer('d');
  EXPECT_EQ(s.plan().status.target_digest, digest_of('c')) << "the consent is for what comes";
  s.world.pool.meta.annotations = with({}, "windlass.dev/release", "cluster");
  EXPECT_EQ(s.plan().status.target_digest, digest_of('d'));

  s.world.pool.meta.annotations = with({}, "windlass.dev/release", "no");
  s.stored('b').answer('c');
  EXPECT_EQ(s.plan().status.target_digest, digest_of('c')) << "who follows nothing follows its tag";
}

TEST(ManualUpdates, AnApprovalThatIsNoDigestIsAWarning) {
  tagged s(tag_updates::manual);
  s.stored('b').answer('c').approve("latest");
  const auto plan = s.plan();
  EXPECT_EQ(plan.status.target_digest, digest_of('b'));
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_EQ(plan.warnings[0].reason, "InvalidApproval");
}

TEST(ManualUpdates, AutomaticOnesHeedNoApproval) {
  tagged s;
  s.stored('b').answer('c').approve(digest_of('b'));
  EXPECT_EQ(s.plan().status.target_digest, digest_of('c'));
}

TEST(PullSecrets, WhatCannotBeReadIsReportedAndTheRolloutGoesOnWithTheLastKnownHash) {
  using kind = secret_state::kind;
  struct row {
    kind is;
    const char *problem, *text;
  };
  for (const auto& [is, problem, text] :
       {row{kind::missing, "", "True/SecretError/pull secret ops/pull does not exist"},
        {kind::without_key, "its keys are config.json",
         "True/SecretError/pull secret ops/pull has no .dockerconfigjson (its keys are "
         "config.json)"},
        {kind::unreadable, "forbidden",
         "True/SecretError/pull secret ops/pull cannot be read: forbidden"}}) {
    situation s;
    s.world.pool.spec.pull_secret = secret_ref{"pull", "ops"};
    s.world.secret = {is, "", problem};
    auto& b = s.member("w1", unit_state::staged);
    b.spec.pull_secret = s.world.pool.spec.pull_secret;
    b.spec.pull_secret_hash = "sha256:before";
    const auto plan = s.plan();
    EXPECT_EQ(steps(plan), "take slot w1, cordon Node w1, drain Node w1");
    EXPECT_EQ(degraded_of(plan.status), text);
  }
}

TEST(PullSecrets, ARotatedOneReachesTheNodeWithoutANewImage) {
  situation s;
  s.world.pool.spec.pull_secret = secret_ref{"pull", "ops"};
  s.world.secret = {secret_state::kind::usable, "sha256:new", ""};
  auto& b = s.slotted("w1", unit_state::rebooting);
  b.spec.desired_state = image_state::booted;
  b.spec.pull_secret = s.world.pool.spec.pull_secret;
  b.spec.pull_secret_hash = "sha256:old";
  b.meta.annotations =
      with(b.meta.annotations, std::string(names::approved_at), "2026-11-21T11:45:00Z");
  const auto plan = s.plan();
  ASSERT_EQ(steps(plan), "set desired image w1");
  EXPECT_EQ(plan.actions[0].spec.pull_secret_hash, "sha256:new");
  EXPECT_EQ(plan.actions[0].spec.desired_state, image_state::booted) << "its approval stands";
  EXPECT_FALSE(plan.actions[0].retarget);
}

}  // namespace
}  // namespace bootc
