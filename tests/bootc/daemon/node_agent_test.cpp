// One file although it is long: each verdict of one state machine, on one fixture of a host.
#include "bootc/daemon/node_agent.hpp"

#include "bootc/kinds/daemon_texts.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace testing;
using namespace std::chrono_literals;

host_entry deployed(char c, bool locked = false) {
  host_entry out;
  out.image = host_image{image_of(c), "registry", digest_of(c), "amd64", "", ""};
  out.download_only = locked;
  return out;
}

/// A node on image a, its agent, and a clock.
struct bench {
  explicit bench(host_traits t = {}) : traits(std::move(t)), agent(traits) {
    object.meta.name = "w1";
    object.meta.generation = 1;
    host.booted = deployed('a');
    if (traits.boot.id.empty()) traits.boot.id = "boot-1";
    agent = node_agent(traits);
  }
  bench& desire(char c, image_state state = image_state::staged) {
    object.spec.desired_image = image_of(c);
    object.spec.desired_state = state;
    ++object.meta.generation;
    return *this;
  }
  /// One pass of the daemon: read, decide, publish.
  agent_step pass() {
    agent.on_object(object);
    if (!agent.busy()) agent.on_host(host);
    agent_step step = agent.decide(now, noon);
    if (step.publish) object.status = step.status;
    return step;
  }
  /// "Staging -": Idle's reason and Degraded's message.
  std::string shown() const {
    const auto* idle = find_condition(object.status.conditions, "Idle");
    const auto* degraded = find_condition(object.status.conditions, "Degraded");
    return (idle ? idle->reason : "?") + " " +
           (degraded && degraded->status == "True" ? degraded->message : "-");
  }
  std::string idle() const { return find_condition(object.status.conditions, "Idle")->message; }
  void ended(const host_command& c, std::string failure = {}) {
    if (failure.empty())
      agent.on_ended(c, {}, now);
    else
      agent.on_ended(c, reactor::make_fault(reactor::errc::closed, "", failure), now);
  }
  /// The daemon's process starts again.
  void restart(std::string boot = "boot-1") {
    traits.boot.id = std::move(boot);
    agent = node_agent(traits);
  }

  host_traits traits;
  node_agent agent;
  bootc_node object;
  host_status host;
  reactor::steady_time now{};
};

host_traits lockable() {
  host_traits t;
  t.upgrade_download_only = true;
  return t;
}

/// How the pool wants its hosts to stage, as it is handed on.
void ask_to_stage(bench& b, const char* how) {
  b.object.meta.annotations = with(b.object.meta.annotations, std::string(names::stage), how);
}

TEST(InSlotStaging, AHostThatCannotLockFetchesNothingBeforeItIsToldToBoot) {
  bench b;
  ask_to_stage(b, "in-slot");
  b.desire('b');
  auto step = b.pass();
  EXPECT_FALSE(step.command);
  EXPECT_EQ(b.shown(), "Idle -");
  EXPECT_EQ(find_condition(b.object.status.conditions, "Idle")->message, stages_in_slot_text);
  EXPECT_EQ(b.object.status.observed_generation, b.object.meta.generation);
  b.desire('b', image_state::booted);
  step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::stage);
  EXPECT_EQ(b.shown(), "Staging -");
  b.ended(*step.command);
  b.host.staged = deployed('b');
  step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::reboot);
}

TEST(InSlotStaging, AHostThatCanLockStagesAheadAllTheSame) {
  bench b(lockable());
  ask_to_stage(b, "in-slot");
  const auto step = b.desire('b').pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::stage);
}

TEST(InSlotStaging, OnComposefsLockingAfterwardsIsNoLock) {
  bench b(lockable());
  b.host.booted->composefs = true;
  ask_to_stage(b, "in-slot");
  EXPECT_FALSE(b.desire('b').pass().command);
}

TEST(UnlockedStaging, NothingIsLockedWhereSomebodyElseReboots) {
  bench b(lockable());
  ask_to_stage(b, "unlocked");
  auto step = b.desire('b').pass();
  ASSERT_TRUE(step.command);
  EXPECT_TRUE(step.command->unlocked);
  b.ended(*step.command);
  b.host.staged = deployed('b');
  step = b.pass();
  EXPECT_FALSE(step.command) << "no lock";
  EXPECT_EQ(b.shown(), "Staged -");
}

/// What the API server hands out of an object that a newer controller wrote.
bootc_node read_node(const std::string& spec) {
  const std::string about = R"({"metadata":{"name":"w1","generation":2,"resourceVersion":"5",)"
                            R"("uid":"00000000-0000-4000-8000-000000000001"},"spec":)";
  auto read = k8s::parse_view<bootc_node>(about + spec + "}");
  EXPECT_TRUE(read) << read.error().message();
  return read ? *read : bootc_node();
}

TEST(OlderDaemon, SaysWhatItDoesNotKnowAndDoesNothing) {
  const std::string image = R"("desiredImage":")" + image_of('b') + R"(",)";
  struct row {
    std::string spec, annotation, value, unknown;
  };
  const std::string booted = "{" + image + R"("desiredImageState":"Booted"})";
  const row rows[] = {
      {"{" + image + R"("desiredImageState":"Booted","fetchBefore":"2027-01-01","again":{}})", "", "",
       "spec.fetchBefore, spec.again"},
      {"{" + image + R"("desiredImageState":"Warmed"})", "", "", "spec.desiredImageState: Warmed"},
      {booted, std::string(names::stage), "by-night", "windlass.dev/stage: by-night"},
      {booted, std::string(names::reboot_policy), "Kexec", "windlass.dev/reboot-policy: Kexec"},
      {booted, std::string(names::stage), "", ""},
      {booted, std::string(names::reboot_policy), "RebootOnly", ""},
      {booted, "", "", ""}};
  for (const row& r : rows) {
    SCOPED_TRACE(r.spec + r.annotation + r.value);
    bench b(lockable());
    b.object = read_node(r.spec);
    if (!r.annotation.empty())
      b.object.meta.annotations = with(b.object.meta.annotations, r.annotation, r.value);
    const auto step = b.pass();
    EXPECT_EQ(step.command.has_value(), r.unknown.empty());
    EXPECT_EQ(b.shown(), r.unknown.empty() ? "Staging -"
                                           : "Idle " + std::string(unknown_order_text) + r.unknown);
  }
  const bootc_node many = read_node("{" + image + R"("a":1,")" + std::string(5'000, 'x') + R"(":1})");
  EXPECT_LE(many.spec.unknown.size(), 200u);
}

TEST(OlderDaemon, GoesOnWithWhatItHasBegun) {
  bench b(lockable());
  auto step = b.desire('b').pass();
  ASSERT_TRUE(step.command);
  b.object.spec.unknown = "spec.fetchBefore";
  ++b.object.meta.generation;
  const auto next = b.pass();
  EXPECT_FALSE(next.cancel_stage);
  EXPECT_EQ(b.shown(), "Staging " + std::string(unknown_order_text) + "spec.fetchBefore");
  b.ended(*step.command);
  b.host.staged = deployed('b');
  EXPECT_FALSE(b.pass().command) << "neither a lock nor a reboot";
}

TEST(NodeAgent, IdleWhenTheDesiredImageIsBooted) {
  bench b;
  b.desire('a');
  const auto step = b.pass();
  EXPECT_FALSE(step.command);
  EXPECT_EQ(b.shown(), "Idle -");
  EXPECT_EQ(b.object.status.observed_generation, 2);
  EXPECT_FALSE(b.pass().publish) << "the same again writes nothing";
}

TEST(NodeAgent, StagesThenWaitsThenRebootsWhenApproved) {
  bench b;
  b.desire('b');
  auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::stage);
  EXPECT_EQ(step.command->image, image_of('b'));
  EXPECT_EQ(b.shown(), "Staging -");
  EXPECT_FALSE(b.pass().command) << "one at a time";

  b.host.staged = deployed('b');
  b.ended(*step.command);
  step = b.pass();
  EXPECT_FALSE(step.command);
  EXPECT_EQ(b.shown(), "Staged -");

  b.desire('b', image_state::booted);
  step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::reboot);
  EXPECT_EQ(b.shown(), "Rebooting -");
  EXPECT_EQ(find_condition(b.object.status.conditions, "Idle")->message,
            "boot boot-1/0 into " + image_of('b'));
  EXPECT_TRUE(b.agent.reboot_issued());
  EXPECT_FALSE(b.pass().publish) << "nothing more until it is back";
}

TEST(NodeAgent, ApprovalWithAnotherImageStagedStagesFirst) {
  bench b;
  b.host.staged = deployed('b');
  b.desire('c', image_state::booted);
  const auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::stage);
  EXPECT_EQ(step.command->image, image_of('c'));
}

TEST(NodeAgent, AFailedStageWaitsLongerEachTimeAndStaysDegradedWhileRetrying) {
  bench b;
  b.desire('b');
  for (const auto delay : {5s, 10s, 20s, 40s, 80s, 160s, 320s, 320s}) {
    auto step = b.pass();
    ASSERT_TRUE(step.command) << delay.count();
    b.ended(*step.command, "no such manifest");
    step = b.pass();
    EXPECT_EQ(b.shown(), "Idle bootc stage failed: no such manifest");
    EXPECT_FALSE(step.command);
    EXPECT_EQ(step.look_again, b.now + delay);
    b.now += delay;
  }
  auto step = b.pass();
  EXPECT_EQ(b.shown(), "Staging bootc stage failed: no such manifest");
  b.host.staged = deployed('b');
  b.ended(*step.command);
  b.pass();
  EXPECT_EQ(b.shown(), "Staged -");
}

TEST(NodeAgent, ANewImageForgetsTheFailure) {
  bench b;
  b.desire('b');
  b.ended(*b.pass().command, "boom");
  b.desire('c');
  const auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->image, image_of('c'));
  EXPECT_EQ(b.shown(), "Staging -");
}

TEST(NodeAgent, ASupersededStageIsCancelledAndItsEndSaysNothing) {
  bench b;
  b.desire('b');
  const auto first = b.pass();
  b.desire('c');
  auto step = b.pass();
  EXPECT_TRUE(step.cancel_stage);
  EXPECT_FALSE(step.command) << "not before the first one has ended";
  b.ended(*first.command, "killed");
  step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->image, image_of('c'));
  EXPECT_EQ(b.shown(), "Staging -");
}

TEST(NodeAgent, SaysHowFarAStageIsAtMostOnceInTenSeconds) {
  host_traits t;
  t.progress = true;
  bench b(t);
  const auto at = [](int quarter) {
    return R"({"type":"ProgressBytes","task":"pulling","bytes":)" + std::to_string(quarter) +
           R"(,"bytesTotal":4})";
  };
  EXPECT_FALSE(b.agent.on_progress(at(1), b.now)) << "nothing is staged";
  b.desire('b');
  auto step = b.pass();
  ASSERT_TRUE(step.command);
  std::size_t writes = 0;
  for (int second = 0; second < 60; ++second, b.now += 1s)
    if (b.agent.on_progress(at(second % 4 + 1), b.now) && b.pass().publish) ++writes;
  EXPECT_EQ(writes, 6u);
  EXPECT_EQ(find_condition(b.object.status.conditions, "Idle")->message, "pulling: 75 % of 1 MB");
  b.host.staged = deployed('b');
  b.ended(*step.command);
  b.pass();
  EXPECT_EQ(find_condition(b.object.status.conditions, "Idle")->message.find("pulling"),
            std::string::npos);
  EXPECT_FALSE(b.agent.on_progress(at(1), b.now + 60s));
}

TEST(NodeAgent, AHostThatOffersNoProgressIsNotHeard) {
  bench b;
  b.desire('b');
  ASSERT_TRUE(b.pass().command);
  EXPECT_FALSE(b.agent.follows_progress());
  EXPECT_FALSE(b.agent.on_progress(
      R"({"type":"ProgressSteps","task":"staging","steps":1,"stepsTotal":2})", b.now));
}

TEST(NodeAgent, AStageThatClaimsSuccessWithoutStagingIsAFailure) {
  bench b;
  b.desire('b');
  b.ended(*b.pass().command);
  const auto step = b.pass();
  EXPECT_FALSE(step.command);
  EXPECT_EQ(b.shown(),
            "Idle bootc stage failed: the command succeeded, but the image is not staged");
}

TEST(NodeAgent, UnreadableStatusKeepsWhatWasKnown) {
  bench b;
  b.desire('a');
  b.pass();
  b.agent.on_host_unreadable("getting bootc status: exit code 1", b.now);
  b.agent.on_object(b.object);
  const auto step = b.agent.decide(b.now, noon);
  ASSERT_TRUE(step.publish);
  EXPECT_TRUE(step.status.booted);
  EXPECT_EQ(find_condition(step.status.conditions, "Degraded")->message,
            "populating bootc fields: getting bootc status: exit code 1");
  EXPECT_EQ(find_condition(step.status.conditions, "Idle")->reason, "Idle");
  EXPECT_EQ(step.look_again, b.now + 5s);
}

TEST(NodeAgent, AHostThatAnAdministratorUpdatesIsBusyAndNotDegraded) {
  bench b;
  b.desire('b');
  b.agent.on_host_updated_by_others("another program updates the host", b.now);
  b.agent.on_object(b.object);
  EXPECT_FALSE(b.agent.decide(b.now, noon).publish) << "nothing is known of the host yet";
  b.desire('a');
  b.pass();
  b.agent.on_host_unreadable("getting bootc status: exit code 1", b.now);
  b.agent.on_host_updated_by_others("another program updates the host", b.now);
  b.desire('b');
  b.agent.on_object(b.object);
  const auto step = b.agent.decide(b.now, noon);
  ASSERT_TRUE(step.publish);
  EXPECT_FALSE(step.command) << "it would wait for the lock";
  EXPECT_TRUE(step.status.booted);
  EXPECT_EQ(find_condition(step.status.conditions, "Degraded")->status, "False");
  EXPECT_EQ(find_condition(step.status.conditions, "Idle")->reason, "Staging");
  EXPECT_EQ(find_condition(step.status.conditions, "Idle")->message,
            "another program updates the host");
  EXPECT_GT(step.look_again, b.now);
  EXPECT_LT(step.look_again, b.now + 10min);
  EXPECT_TRUE(b.pass().command) << "the lock is free again";
}

TEST(NodeAgent, HostsThatBootcDoesNotRunAreDegradedWithAClearText) {
  bench b;
  b.desire('b');
  b.host.booted.reset();
  b.pass();
  EXPECT_EQ(b.shown(), "Idle bootc status has no booted entry");
  b.host.booted = host_entry{};
  b.pass();
  EXPECT_NE(b.shown().find("no container image"), std::string::npos);
  b.host.booted->incompatible = true;
  b.pass();
  EXPECT_NE(b.shown().find("layered packages"), std::string::npos);
}

TEST(NodeAgent, AnUnusableDesiredImageWaitsForAnother) {
  bench b;
  b.desire('b');
  b.object.spec.desired_image = "os:latest";
  EXPECT_FALSE(b.pass().command);
  EXPECT_EQ(b.shown().rfind("Idle invalid image ref \"os:latest\": ", 0), 0u);
  b.object.spec.desired_image = "quay.io/a/os:1";
  b.pass();
  EXPECT_EQ(b.shown(), "Idle image ref \"quay.io/a/os:1\" has no digest");
}

TEST(NodeAgent, AReadOnlyHostIsNotUpdated) {
  bench b;
  b.desire('b');
  b.host.read_only = true;
  EXPECT_FALSE(b.pass().command);
  EXPECT_NE(b.shown().find("read-only"), std::string::npos);
}

TEST(NodeAgent, AnUnlockedStagedImageIsLockedWhereTheHostCan) {
  bench b(lockable());
  b.desire('b');
  b.host.staged = deployed('b');
  auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::lock);
  EXPECT_EQ(b.shown(), "Staged -");
  b.host.staged = deployed('b', true);
  b.ended(*step.command);
  EXPECT_FALSE(b.pass().command);

  b.desire('b', image_state::booted);
  step = b.pass();
  EXPECT_EQ(step.command->action, host_action::reboot);
  EXPECT_TRUE(step.command->locked);
}

TEST(NodeAgent, WhereItCannotBeLockedTheMessageSaysSo) {
  bench b;
  b.desire('b');
  b.host.staged = deployed('b');
  EXPECT_FALSE(b.pass().command);
  EXPECT_EQ(find_condition(b.object.status.conditions, "Idle")->message, "staged without lock");
}

TEST(NodeAgent, AnArmedImageThatNobodyWantsIsLockedOrReported) {
  host_traits had_it_staged = lockable();
  had_it_staged.staged = image_of('b');
  bench can(had_it_staged);
  can.desire('a');
  can.host.staged = deployed('b');
  const auto step = can.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::lock);
  can.ended(*step.command, "no");
  can.pass();
  EXPECT_NE(can.shown().find("is armed: no"), std::string::npos);

  bench cannot;
  cannot.desire('b');
  cannot.ended(*cannot.pass().command);
  cannot.desire('a');
  cannot.host.staged = deployed('b');
  EXPECT_FALSE(cannot.pass().command);
  EXPECT_NE(cannot.shown().find(image_of('b') + " is armed"), std::string::npos);
}

TEST(NodeAgent, WhatAnAdministratorStagedIsLeftAloneAndNamed) {
  host_traits had_another_staged = lockable();
  had_another_staged.staged = image_of('c');
  for (const host_traits& traits : {lockable(), had_another_staged, host_traits()}) {
    bench b(traits);
    b.desire('a');
    b.host.staged = deployed('b');
    EXPECT_FALSE(b.pass().command) << "it is not locked: the next reboot boots it";
    EXPECT_EQ(b.shown(), "Idle -");
    EXPECT_EQ(b.idle(), image_of('b') + " was staged by hand: the next reboot boots it");
    b.host.staged = deployed('b', true);
    EXPECT_FALSE(b.pass().command);
    EXPECT_EQ(b.idle(), "") << "locked, and not by us: no reboot boots it";
    b.host.staged = deployed('b');
    EXPECT_EQ(b.desire('c').pass().command->action, host_action::stage)
        << "the pool's image replaces it";
    EXPECT_EQ(b.idle(), "");
  }
}

TEST(NodeAgent, AnImageStagedByHandThatThePoolWantsIsThePools) {
  bench b(lockable());
  b.desire('b');
  b.host.staged = deployed('b');
  const auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::lock) << "it boots in the node's slot";
}

TEST(NodeAgent, ARollbackThatAnAdministratorQueuedIsNamed) {
  bench b;
  b.desire('a');
  b.host.rollback = deployed('b');
  b.host.rollback_queued = true;
  EXPECT_FALSE(b.pass().command);
  EXPECT_EQ(b.idle(), "a rollback to " + image_of('b') + " is queued: the next reboot boots it");
  b.host.rollback_queued = false;
  b.pass();
  EXPECT_EQ(b.idle(), "");
}

/// Told to boot b, rebooted, and back on a with b as the first in the boot order.
bench fallen_back() {
  bench b;
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  b.pass();
  b.host.staged.reset();
  b.host.rollback = deployed('b');
  b.host.rollback_queued = true;
  b.restart("boot-2");
  return b;
}

TEST(NodeAgent, AnImageThatDidNotBootIsNotLeftToTheNextReboot) {
  bench b = fallen_back();
  const auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::stay);
  EXPECT_EQ(step.command->image, image_of('b'));
  EXPECT_TRUE(b.shown().starts_with("Idle rebooted but not on target: ")) << b.shown();
  EXPECT_FALSE(b.pass().command) << "it runs";
  b.ended(*step.command);
  b.host.rollback_queued = false;
  EXPECT_FALSE(b.pass().command);
  b.host.rollback_queued = true;
  EXPECT_FALSE(b.pass().command) << "an administrator wants to try it once more";
}

TEST(NodeAgent, AnImageThatDidNotBootIsRememberedWhateverIsAskedForNow) {
  for (const bool restarted : {false, true}) {
    bench b = fallen_back();
    const auto step = b.pass();
    ASSERT_TRUE(step.command);
    b.ended(*step.command, "the sysroot is read-only");
    if (restarted) b.restart("boot-2");
    b.desire('a');
    const auto again = b.pass();
    ASSERT_TRUE(again.command) << restarted;
    EXPECT_EQ(again.command->action, host_action::stay);
    b.ended(*again.command, "the sysroot is read-only");
    EXPECT_FALSE(b.pass().command) << "not before its time";
    EXPECT_EQ(b.shown(), "Idle " + image_of('b') +
                             " is the next to boot and cannot be taken back: the sysroot is "
                             "read-only");
    b.now += 10s;
    EXPECT_TRUE(b.pass().command);
  }
}

TEST(NodeAgent, AnotherImageReplacesOneThatDidNotBootAndNothingStagedIsDroppedForIt) {
  bench b = fallen_back();
  b.desire('c');
  const auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::stage);
  b.ended(*step.command);
  b.host.staged = deployed('c', true);
  EXPECT_FALSE(b.pass().command) << "a rollback would drop what is staged";
}

TEST(NodeAgent, BackOnTheOldImageAfterARebootIsNotTriedAgain) {
  bench b;
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  EXPECT_EQ(b.pass().command->action, host_action::reboot);
  b.host.staged.reset();
  b.restart("boot-2");
  EXPECT_FALSE(b.pass().command);
  EXPECT_EQ(b.shown().rfind("Idle rebooted but not on target: ", 0), 0u) << b.shown();
  b.restart("boot-2");
  EXPECT_FALSE(b.pass().command) << "a restart of the daemon does not forget it";
  b.desire('b', image_state::staged);
  EXPECT_EQ(b.pass().command->action, host_action::stage) << "until the spec changes";
}

TEST(NodeAgent, ARotatedSecretIsNoReasonToRebootOnceMore) {
  bench b;
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  b.pass();
  ++b.object.meta.generation;  // while it reboots, the hash of a pull secret changes
  b.host.staged = deployed('b');
  b.restart("boot-2");
  EXPECT_FALSE(b.pass().command);
  EXPECT_NE(b.shown().find(not_on_target_text), std::string::npos) << b.shown();
  ++b.object.meta.generation;
  b.restart("boot-3");
  EXPECT_FALSE(b.pass().command) << "nor does the next start forget it";
  b.desire('c', image_state::booted);
  b.restart("boot-3");
  EXPECT_EQ(b.pass().command->action, host_action::stage) << "another image is another attempt";
}

TEST(NodeAgent, AStageThatBeganBeforeItIsWaitedFor) {
  bench b;
  b.desire('b');
  b.object.status.booted = booted('a');
  b.traits.staging = image_of('b');
  b.restart();
  auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_TRUE(step.command->adopted);
  EXPECT_EQ(step.command->image, image_of('b'));
  EXPECT_FALSE(step.cancel_stage);
  EXPECT_EQ(b.shown(), "Staging -");
  EXPECT_TRUE(b.object.status.booted) << "what was known stays";
  EXPECT_FALSE(b.pass().command);

  b.host.staged = deployed('b');
  b.ended(*step.command);
  EXPECT_FALSE(b.pass().command);
  EXPECT_EQ(b.shown(), "Staged -");
}

TEST(NodeAgent, AStageThatBeganBeforeItForAnotherImageIsCancelled) {
  bench b;
  b.desire('c');
  b.traits.staging = image_of('b');
  b.restart();
  auto step = b.pass();
  EXPECT_TRUE(step.command && step.command->adopted && step.cancel_stage);
  b.ended(*step.command, "stopped");
  step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->image, image_of('c'));
  EXPECT_EQ(b.shown(), "Staging -") << "its end says nothing about the present image";
}

TEST(NodeAgent, AnAdoptedStageIsNotForgottenWhenItsStatusCouldNotBeWritten) {
  bench b;
  b.desire('b');
  b.traits.staging = image_of('b');
  b.restart();
  b.pass();
  b.agent.withdrawn();
  EXPECT_TRUE(b.agent.busy());
  EXPECT_TRUE(b.pass().command->adopted);
}

TEST(NodeAgent, AHostThatCannotBeInspectedIsDegraded) {
  bench b;
  b.desire('a');
  b.agent = node_agent();
  b.agent.on_object(b.object);
  b.agent.on_uninspected("nsenter: not found", b.now);
  const auto step = b.agent.decide(b.now, noon);
  ASSERT_TRUE(step.publish);
  EXPECT_EQ(find_condition(step.status.conditions, "Degraded")->message,
            "inspecting the host: nsenter: not found");
  EXPECT_EQ(step.look_again, b.now + 5s);
  b.agent.on_traits({});
  EXPECT_FALSE(b.agent.decide(b.now, noon).publish) << "not before its status was read";
}

TEST(NodeAgent, NothingIsStagedWithoutThePullSecretButWhatIsStagedGoesOn) {
  bench b;
  b.desire('b');
  b.agent.on_auth("pull secret ops/pull: not found", b.now);
  EXPECT_FALSE(b.agent.may_try_auth(b.now));
  auto step = b.pass();
  EXPECT_FALSE(step.command);
  EXPECT_EQ(b.shown(), "Idle pull secret ops/pull: not found");
  EXPECT_EQ(step.look_again, b.now + 5s);
  b.host.staged = deployed('b');
  b.pass();
  EXPECT_EQ(b.shown(), "Staged -");
  b.host.staged.reset();
  b.agent.on_auth({}, b.now);
  EXPECT_TRUE(b.pass().command);
}

TEST(NodeAgent, ASoftRebootIsARebootToo) {
  bench b;
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  b.pass();
  b.traits.boot.soft_reboots = 1;
  b.restart();
  b.pass();
  EXPECT_NE(b.shown().find(not_on_target_text), std::string::npos);
}

TEST(NodeAgent, ADaemonRestartedBeforeTheRebootIssuesItAgain) {
  bench b;
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  b.pass();
  b.restart("boot-1");
  EXPECT_EQ(b.pass().command->action, host_action::reboot);
}

TEST(NodeAgent, AFailedRebootIsReportedAndTriedAgain) {
  bench b;
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  const auto first = b.pass();
  b.ended(*first.command, "systemd is busy");
  auto step = b.pass();
  EXPECT_EQ(b.shown(), "Staged reboot failed: systemd is busy");
  EXPECT_EQ(step.look_again, b.now + 5s);
  b.now += 5s;
  EXPECT_EQ(b.pass().command->action, host_action::reboot);
}

TEST(NodeAgent, ACommandIsWithdrawnWhenItsStatusCouldNotBeWritten) {
  bench b;
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  b.pass();
  b.agent.withdrawn();
  EXPECT_EQ(b.pass().command->action, host_action::reboot);
}

TEST(NodeAgent, ComposefsGoesBackByRollback) {
  bench b;
  b.host.booted = deployed('b');
  b.host.booted->composefs = true;
  b.host.rollback = deployed('a');
  b.desire('a');
  EXPECT_FALSE(b.pass().command) << "nothing to stage";
  EXPECT_EQ(b.shown(), "Staged -");
  EXPECT_EQ(b.object.status.staged->digest, digest_of('a'))
      << "so that the controller sees it ready";
  b.desire('a', image_state::booted);
  auto step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_EQ(step.command->action, host_action::roll_back);
  EXPECT_FALSE(step.command->queued);
  b.ended(*step.command, "systemctl reboot: refused");
  b.host.rollback_queued = true;
  b.now += 10s;
  step = b.pass();
  ASSERT_TRUE(step.command);
  EXPECT_TRUE(step.command->queued) << "asked again bootc would take it back";
}

TEST(NodeAgent, AComposefsHostDoesNotGoBackThatItsPoolNoLongerHasGoBack) {
  for (const bool restarted : {false, true}) {
    bench b;
    b.host.booted = deployed('b');
    b.host.booted->composefs = true;
    b.host.rollback = deployed('a');
    auto step = b.desire('a', image_state::booted).pass();
    ASSERT_TRUE(step.command);
    b.ended(*step.command, "systemctl reboot: refused");
    b.host.rollback_queued = true;
    if (restarted) b.restart();
    if (!restarted) {
      EXPECT_FALSE(b.pass().command) << "it waits for its next attempt";
    }
    step = b.desire('b').pass();
    ASSERT_TRUE(step.command) << "any reboot would boot it";
    EXPECT_EQ(step.command->action, host_action::stay);
    EXPECT_EQ(step.command->image, image_of('a'));
  }
}

TEST(NodeAgent, SoftRebootNeedsThePoolsLeaveAndACapableImage) {
  for (const bool capable : {true, false}) {
    bench b;
    b.desire('b', image_state::booted);
    b.host.staged = deployed('b');
    b.host.staged->soft_reboot_capable = capable;
    b.object.meta.annotations = with({}, std::string(names::reboot_policy), "AllowSoftReboot");
    EXPECT_EQ(b.pass().command->soft, capable);
  }
}

TEST(NodeAgent, OtherRebootersAreNamed) {
  host_traits t;
  t.uncoordinated = {"bootc-fetch-apply-updates.timer"};
  bench b(t);
  b.desire('a');
  b.pass();
  EXPECT_EQ(find_condition(b.object.status.conditions, "Idle")->message,
            "this host is also rebooted by bootc-fetch-apply-updates.timer");
}

TEST(NodeAgent, OtherRebootersAreNamedInEveryStateAndConfuseNoMemory) {
  host_traits t;
  t.uncoordinated = {"kured"};
  bench b(t);
  b.desire('b', image_state::booted);
  b.host.staged = deployed('b');
  b.pass();
  EXPECT_EQ(find_condition(b.object.status.conditions, "Idle")->message,
            "boot boot-1/0 into " + image_of('b') + "; this host is also rebooted by kured");
  b.host.staged.reset();
  b.restart("boot-2");
  EXPECT_FALSE(b.pass().command);
  EXPECT_NE(b.shown().find(not_on_target_text), std::string::npos) << b.shown();
}

TEST(NodeAgent, NoObjectNothingToDo) {
  node_agent agent{host_traits{}};
  agent.on_object(std::nullopt);
  agent.on_host({});
  const auto step = agent.decide({}, noon);
  EXPECT_FALSE(step.publish || step.command);
}

}  // namespace
}  // namespace bootc
