#include "bootc/pool/rollout_planner.hpp"
#include "k8s/client/wire.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace testing;

const std::string failed_text = digest_of('b') + " halted its rollout; the nodes go back to " +
                                image_of('a') + " until the pool names another image";

/// w1 and w2 are ill on image b in their slots, w3 runs it, w4 waits on image a, which all ran.
struct failing : situation {
  failing() {
    max_unavailable(3);
    world.pool.spec.on_failure = "Return";
    world.pool.status.target_digest = digest_of('b');
    world.pool.status.deployed_digest = digest_of('a');
    for (const char* name : {"w1", "w2"}) {
      slotted(name, unit_state::up_to_date).spec.desired_state = image_state::booted;
      node_named(name).ready = k8s::condition_status::no;
    }
    member("w3", unit_state::up_to_date);
    member("w4", unit_state::staged);
  }
  /// As the pass before left it.
  failing& store(const rollout_plan& plan) {
    world.pool.status = plan.status;
    return *this;
  }
  std::string wanted(const rollout_plan& plan, const char* node) const {
    for (const action& a : plan.actions)
      if (a.kind == action_kind::sync_spec && a.node == node) return a.spec.desired_image;
    return "nothing";
  }
};

TEST(RolloutReturn, AHaltIsNotedFirstAndActedUponByTheNextPass) {
  failing s;
  const auto noted = s.plan();
  EXPECT_EQ(steps(noted), "") << "it is no one's business yet but the status's";
  EXPECT_TRUE(noted.halted);
  EXPECT_EQ(noted.status.failed_digest, digest_of('b'));
  EXPECT_EQ(noted.status.return_ref, image_of('a'));
  EXPECT_TRUE(noted.status_changed);

  const auto plan = s.store(noted).plan();
  EXPECT_FALSE(plan.halted);
  EXPECT_EQ(plan.status.target_digest, digest_of('a'));
  EXPECT_EQ(degraded_of(plan.status), "True/RolloutReturned/" + failed_text);
  for (const char* name : {"w1", "w2", "w3", "w4"}) {
    EXPECT_EQ(s.wanted(plan, name), image_of('a')) << name;
  }
  for (const action& a : plan.actions)
    EXPECT_TRUE(a.kind == action_kind::sync_spec && a.spec.desired_state == image_state::staged)
        << "approvals are withdrawn, and nobody starts before the image is on its host";
  for (const unit& u : plan.units) EXPECT_EQ(u.slotted, u.name < "w3") << u.name;
  EXPECT_EQ(s.store(plan).plan().status, plan.status) << "it stays so";
}

TEST(RolloutReturn, HaltAndNothingHalt) {
  for (const char* word : {"", "Halt"}) {
    failing s;
    s.world.pool.spec.on_failure = word;
    const auto plan = s.plan();
    EXPECT_TRUE(plan.halted) << word;
    EXPECT_EQ(plan.status.failed_digest, "") << word;
    EXPECT_EQ(held(plan), "w1:not-ready w2:not-ready w4:halted") << word;
  }
}

TEST(RolloutReturn, WithoutAnImageThatAllRanNobodyGoesBack) {
  for (const std::string& deployed : {std::string(), digest_of('b'), digest_of('c')}) {
    failing s;
    s.world.pool.status.deployed_digest = deployed;
    const auto plan = s.plan();
    EXPECT_TRUE(plan.halted);
    EXPECT_EQ(plan.status.failed_digest, "") << deployed;
    EXPECT_TRUE(degraded_of(plan.status)
                    .ends_with("; no host has an image that every node ran before, so none goes "
                               "back"))
        << degraded_of(plan.status);
  }
}

TEST(RolloutReturn, TheImageBeforeMayComeFromAnotherRepository) {
  failing s;
  auto& last = const_cast<bootc_node&>(*s.world.bootc_nodes.back());
  last.status.booted->image = "registry.example/former@" + digest_of('a');
  EXPECT_EQ(s.plan().status.return_ref, last.status.booted->image);
  last.status.booted = booted('b');
  last.status.rollback = booted('a');
  EXPECT_EQ(s.plan().status.return_ref, image_of('a'))
      << "of the one that a host would roll back to";
}

TEST(RolloutReturn, AnImageBeforeThatHaltsAsWellMovesNobody) {
  failing s;
  s.store(s.plan());
  for (const bootc_node* b : s.world.bootc_nodes) {
    auto& on_a = const_cast<bootc_node&>(*b);
    on_a.status.booted = booted('a');
    on_a.spec.desired_image = image_of('a');
  }
  const auto plan = s.plan();
  EXPECT_TRUE(plan.halted);
  EXPECT_EQ(plan.status.failed_digest, digest_of('b')) << "what failed first";
  EXPECT_EQ(plan.status.return_ref, image_of('a'));
  EXPECT_EQ(degraded_of(plan.status).rfind("True/RolloutHalted/", 0), 0u);
}

/// Both run image b; a policy watches them.
struct watched : situation {
  explicit watched(const char* code, bool halts) {
    max_unavailable(3);
    world.pool.spec.on_failure = "Return";
    world.pool.status.target_digest = digest_of('b');
    world.pool.status.deployed_digest = digest_of('a');
    for (const char* name : {"w1", "w2"}) member(name, unit_state::up_to_date);
    policy_answer& said = world.policy;
    said.is = policy_answer::kind::given;
    said.watched = "w2";
    said.holds["w2"] = {code, "errors is 0.2", false, "disruption/signals 1"};
    if (halts) said.halt = said.holds["w2"];
    said.look_again = noon + std::chrono::seconds(15);
    const_cast<bootc_node&>(*world.bootc_nodes[0]).status.rollback = booted('a');
  }
};

TEST(RolloutWatched, ItIsNotOverWhileAPolicyHasItsEyeOnTheLastNode) {
  watched s("SignalSoak", false);
  const auto plan = s.plan();
  EXPECT_FALSE(plan.halted);
  EXPECT_EQ(plan.status.deployed_digest, digest_of('a')) << "what all ran and was fine";
  EXPECT_EQ(held(plan), "w2:policy:SignalSoak");
  EXPECT_EQ(plan.look_again, noon + std::chrono::seconds(15));
  EXPECT_EQ(steps(plan), "");
  s.world.policy = {};
  s.world.pool.status = plan.status;
  EXPECT_EQ(s.plan().status.deployed_digest, digest_of('b'));
}

TEST(RolloutWatched, ABadSignalHaltsItOrTakesItBack) {
  watched s("signal-bad", true);
  const auto noted = s.plan();
  EXPECT_TRUE(noted.halted);
  EXPECT_EQ(held(noted), "w2:signal-bad");
  EXPECT_EQ(noted.status.deployed_digest, digest_of('a'));
  EXPECT_EQ(noted.status.return_ref, image_of('a'));
  s.world.policy = {};
  s.world.pool.status = noted.status;
  const auto back = s.plan();
  EXPECT_EQ(back.status.target_digest, digest_of('a'));
  EXPECT_EQ(steps(back), "set desired image w1, set desired image w2");

  watched halts("signal-bad", true);
  halts.world.pool.spec.on_failure = "Halt";
  const auto stays = halts.plan();
  EXPECT_TRUE(stays.halted);
  EXPECT_EQ(stays.status.failed_digest, "");
  EXPECT_EQ(degraded_of(stays.status), "True/RolloutHalted/Rollout halted: errors is 0.2");
}

TEST(RolloutReturn, AnotherImageOrHaltEndsIt) {
  failing s;
  s.store(s.plan());
  s.store(s.plan());
  s.target('c');
  auto plan = s.plan();
  EXPECT_EQ(plan.status.target_digest, digest_of('c'));
  EXPECT_EQ(plan.status.failed_digest, "");
  EXPECT_EQ(plan.status.return_ref, "");
  s.target('b');
  s.world.pool.spec.on_failure = "Halt";
  plan = s.plan();
  EXPECT_EQ(plan.status.target_digest, digest_of('b')) << "tried again";
  EXPECT_EQ(plan.status.failed_digest, "");
}

TEST(RolloutReturn, ATagThatNobodyIsAskedAboutStillNamesWhatFailed) {
  failing s;
  s.world.pool.spec.image_ref = "quay.io/example/os:latest";
  s.world.pool.status.resolved_ref = s.world.pool.spec.image_ref;
  s.store(s.plan());
  ASSERT_EQ(s.world.pool.status.failed_digest, digest_of('b'));
  s.store(s.plan());
  ASSERT_EQ(s.world.pool.status.target_digest, digest_of('a'));
  s.world.tag.reset();
  EXPECT_EQ(s.plan().status.failed_digest, digest_of('b'));
  s.world.tag = tag_resolution{};
  s.world.tag->ref = s.world.pool.spec.image_ref;
  s.world.tag->error = "connection refused";
  EXPECT_EQ(s.plan().status.target_digest, digest_of('a')) << "what failed is not rolled out anew";
  s.world.tag->error.clear();
  s.world.tag->digest = digest_of('c');
  EXPECT_EQ(s.plan().status.target_digest, digest_of('c')) << "the tag moved on";
}

TEST(RolloutReturn, ANoteThatNamesNoImageIsNone) {
  for (const std::string& note : {std::string("myos:latest"), std::string("quay.io/example/os:1"),
                                  image_of('b'), std::string()}) {
    failing s;
    s.world.pool.status.failed_digest = digest_of('b');
    s.world.pool.status.return_ref = note;
    const auto plan = s.plan();
    EXPECT_EQ(plan.status.target_digest, digest_of('b')) << note;
    EXPECT_TRUE(plan.halted) << note;
    EXPECT_EQ(plan.status.return_ref, image_of('a')) << note << ": noted anew";
  }
}

TEST(RolloutReturn, AnUnknownWordIsNamedAndTouchesNoNode) {
  failing s;
  s.world.pool.spec.on_failure = "Rollback";
  const auto plan = s.plan();
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(degraded_of(plan.status),
            "True/InvalidSpec/invalid onFailure \"Rollback\": it is Halt or Return");
}

TEST(RolloutReturn, IsReadFromThePoolAndWrittenToIt) {
  k8s::wire_parser parser;
  const auto object =
      parser.parse(R"({"metadata":{"name":"p"},"spec":{"rollout":{"onFailure":"Return"}},)"
                   R"("status":{"failedDigest":")" +
                   digest_of('b') + R"(","returnRef":")" + image_of('a') + R"("}})");
  ASSERT_TRUE(object);
  const node_pool p = node_pool::parse(*object);
  EXPECT_EQ(p.spec.on_failure, "Return");
  EXPECT_EQ(boost::json::serialize(status_patch({}, p.status)),
            R"({"status":{"failedDigest":")" + digest_of('b') + R"(","returnRef":")" +
                image_of('a') + "\"}}");
  EXPECT_EQ(boost::json::serialize(status_patch(p.status, {})),
            R"({"status":{"failedDigest":null,"returnRef":null}})");
}

/// w1 moved and is well, w2 waits; a policy halts it, as it does for a signal.
struct halted_by_policy : situation {
  explicit halted_by_policy(const char* on_failure) {
    world.pool.spec.on_failure = on_failure;
    world.pool.status.target_digest = digest_of('b');
    world.pool.status.deployed_digest = digest_of('a');
    member("w1", unit_state::up_to_date);
    member("w2", unit_state::staged);
    world.policy.is = policy_answer::kind::given;
    world.policy.holds["w2"] = {"WaitsForSlot", "waits for a free slot"};
    world.policy.halt = {"signal-bad", "errors is 0.2, at most 0.01 is allowed"};
  }
};

TEST(RolloutReturn, APolicyHaltsWithItsOwnWordAndGoesOnWhenItNoLongerDoes) {
  halted_by_policy s("Halt");
  const auto plan = s.plan();
  EXPECT_TRUE(plan.halted);
  EXPECT_EQ(steps(plan), "");
  EXPECT_EQ(held(plan), "w2:signal-bad");
  EXPECT_EQ(degraded_of(plan.status),
            "True/RolloutHalted/Rollout halted: errors is 0.2, at most 0.01 is allowed");
  EXPECT_EQ(plan.status.failed_digest, "");
  s.world.pool.status = plan.status;
  s.world.policy = {};
  s.world.policy.is = policy_answer::kind::given;
  s.world.policy.start = {"w2"};
  const auto after = s.plan();
  EXPECT_FALSE(after.halted);
  EXPECT_EQ(steps(after), "take slot w2, cordon Node w2, drain Node w2");
}

TEST(RolloutReturn, ThatOnlyTheNumbersOfAPolicysHaltMoveIsNoWrite) {
  halted_by_policy s("Halt");
  s.world.pool.status = s.plan().status;
  s.world.policy.halt->reason = "errors is 0.3, at most 0.01 is allowed";
  EXPECT_FALSE(s.plan().status_changed);
  s.world.policy.halt->reason = "latency is 3, at most 1 is allowed";
  EXPECT_TRUE(s.plan().status_changed);
}

TEST(RolloutReturn, APolicyThatHaltsSendsTheNodesBackAndHoldsNoneOfThemThere) {
  halted_by_policy s("Return");
  const auto noted = s.plan();
  EXPECT_EQ(noted.status.failed_digest, digest_of('b'));
  EXPECT_EQ(noted.status.return_ref, image_of('a'));
  s.world.pool.status = noted.status;
  const auto back = s.plan();
  EXPECT_FALSE(back.halted) << "the policy's word was about the image that failed";
  EXPECT_EQ(back.status.target_digest, digest_of('a'));
  EXPECT_EQ(back.status.failed_digest, digest_of('b'));
}

TEST(RolloutReturn, UnhealthyNodesAreNamedBeforeWhatAPolicySays) {
  failing s;
  s.world.policy.is = policy_answer::kind::given;
  s.world.policy.halt = {"signal-bad", "errors is 0.2"};
  s.world.pool.spec.on_failure = "Halt";
  const auto plan = s.plan();
  EXPECT_EQ(held(plan), "w1:not-ready w2:not-ready w4:halted");
}

}  // namespace
}  // namespace bootc
