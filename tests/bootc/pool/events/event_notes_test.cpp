#include "bootc/pool/events/event_notes.hpp"

#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using phase = drain_progress::phase;

/// "Normal RolloutStarted/Rollout: …", a line each.
std::string told(const std::vector<k8s::event_note>& notes) {
  std::string out;
  for (const auto& n : notes)
    out += std::string(n.type == k8s::event_severity::warning ? "Warning " : "Normal ") + n.reason +
           "/" + n.action + ": " + n.note + "\n";
  return out;
}

node_pool_status status(const char* reason, char target) {
  node_pool_status out;
  out.target_digest = digest_of(target);
  out.conditions = {
      cond("UpToDate", reason == std::string("AllUpdated") ? "True" : "False", reason),
      cond("Degraded", "False", "Healthy")};
  return out;
}

std::string turn(const std::optional<node_pool_status>& before, const node_pool_status& after,
                 const std::string& ref = image_of('b')) {
  node_pool pool;
  pool.meta.name = "workers";
  pool.spec.image_ref = ref;
  if (before) pool.status = *before;
  return told(pool_events(pool, after));
}

constexpr const char* started_b =
    "Normal RolloutStarted/Rollout: Rollout started toward digest sha256:bbbbbbbbbbbb\n";

TEST(PoolEvents, T064_ATagThatMoves) {
  EXPECT_EQ(turn(status("RolloutInProgress", 'a'), status("RolloutInProgress", 'b'),
                 "quay.io/example/os:latest"),
            "Normal ImageUpdateAvailable/ResolveImage: Image tag quay.io/example/os:latest "
            "resolved to new digest sha256:bbbbbbbbbbbb (previously sha256:aaaaaaaaaaaa)\n" +
                std::string(started_b));
}

TEST(PoolEvents, T065_ADigestThatIsReplaced) {
  EXPECT_EQ(turn(status("RolloutInProgress", 'a'), status("RolloutInProgress", 'b')), started_b);
}

TEST(PoolEvents, T066_T067_ARolloutBegins) {
  EXPECT_EQ(turn(status("AllUpdated", 'b'), status("RolloutInProgress", 'b')), started_b);
  EXPECT_EQ(turn(status("Paused", 'b'), status("RolloutInProgress", 'b')), started_b);
}

TEST(PoolEvents, T068_ARolloutIsDone) {
  EXPECT_EQ(turn(status("RolloutInProgress", 'b'), status("AllUpdated", 'b')),
            "Normal RolloutCompleted/Rollout: Rollout completed at digest sha256:bbbbbbbbbbbb\n");
}

TEST(PoolEvents, T069_OneThatIsDoneAtFirstSight) {
  EXPECT_EQ(turn(std::nullopt, status("AllUpdated", 'b')), "");
}

TEST(PoolEvents, T070_T071_T072_WhatIsWrongIsToldWhenItChanges) {
  const auto wrong = [](const char* reason, const char* message) {
    node_pool_status out = status("RolloutInProgress", 'b');
    out.conditions[1] = cond("Degraded", "True", reason, message);
    return out;
  };
  EXPECT_EQ(turn(status("RolloutInProgress", 'b'), wrong("InvalidSpec", "a banana")),
            "Warning InvalidSpec/PoolDegraded: a banana\n");
  EXPECT_EQ(turn(wrong("NodeConflict", "a"), wrong("RolloutHalted", "b")),
            "Warning RolloutHalted/PoolDegraded: b\n");
  EXPECT_EQ(turn(wrong("NodeConflict", "a"), wrong("NodeConflict", "b")),
            "Warning NodeConflict/PoolDegraded: b\n");
  EXPECT_EQ(turn(wrong("NodeConflict", "a"), wrong("NodeConflict", "a")), "");
  EXPECT_EQ(turn(wrong("NodeConflict", "a"), status("RolloutInProgress", 'b')), "");
}

/// Idle's status and reason after what was remembered; on image b, which is desired, or still on a.
struct seen {
  const char *status, *reason;
  const char* remembered = "";
  char booted = 'b';
};
std::string step_of(const seen& s) {
  bootc_node b;
  b.meta.name = "w1";
  b.spec.desired_image = image_of('b');
  b.status.booted = booted(s.booted);
  b.status.conditions = {cond("Idle", s.status, s.reason)};
  if (*s.remembered)
    b.meta.annotations =
        with({}, std::string(names::last_observed_state), s.remembered + (":" + image_of('b')));
  node_pool pool;
  pool.meta.name = "workers";
  const auto step = next_step(b, nullptr, pool);
  if (!step) return "nothing";
  EXPECT_EQ(step->remember, std::string(s.status) + ":" + s.reason + ":" + image_of('b'));
  if (!step->note) return "remembered";
  EXPECT_EQ(step->note->regarding.name, "w1");
  EXPECT_EQ(step->note->related.name, "workers");
  EXPECT_EQ(step->note->reporter, "bootc-operator");
  return told({*step->note});
}

TEST(NodeEvents, T073_FirstSeenIdleIsRemembered) {
  EXPECT_EQ(step_of({"True", "Idle"}), "remembered");
}

TEST(NodeEvents, T074_IdleAfterAnActiveState) {
  EXPECT_EQ(step_of({"True", "Idle", "False:Rebooting"}),
            "Normal Idle/NodeUpdate: Node is up to date with image " + image_of('b') + "\n");
}

TEST(NodeEvents, T075_IdleAfterIdle) {
  EXPECT_EQ(step_of({"True", "Idle", "True:Idle"}), "nothing");
}

TEST(NodeEvents, T076_EachActiveState) {
  EXPECT_EQ(step_of({"False", "Staging", "", 'a'}),
            "Normal Staging/NodeUpdate: Staging image " + image_of('b') + "\n");
  EXPECT_EQ(
      step_of({"False", "Staged", "False:Staging", 'a'}),
      "Normal Staged/NodeUpdate: Image " + image_of('b') + " is staged and awaiting reboot\n");
  EXPECT_EQ(step_of({"False", "Rebooting", "False:Staged", 'a'}),
            "Normal Rebooting/NodeUpdate: Rebooting into image " + image_of('b') + "\n");
}

TEST(NodeEvents, T077_AnUnknownReasonIsRemembered) {
  EXPECT_EQ(step_of({"False", "Dreaming", "True:Idle", 'a'}), "remembered");
}

TEST(NodeEvents, IdleBetweenTwoAttemptsIsNoArrival) {
  EXPECT_EQ(step_of({"True", "Idle", "False:Staging", 'a'}), "nothing");
  EXPECT_EQ(step_of({"False", "Staging", "False:Staging", 'a'}), "nothing") << "the next attempt";
}

/// Of Nodes that nobody finds.
drain_teller::news tell(drain_teller& by, const node_pool& pool, const drains_by_node& all,
                        reactor::wall_time now) {
  drain_teller::news out;
  for (const auto& [node, d] : all) by.tell_one(pool, node, nullptr, d, now, out);
  by.forget(pool, all);
  return out;
}

TEST(DrainEvents, T079_AFailedDrainIsToldOnTheNodeAndRelatedToThePool) {
  drain_teller teller;
  node_pool pool;
  pool.meta.name = "workers";
  drains_by_node all;
  all["w1"].started = noon;
  all["w1"].state = phase::failed;
  all["w1"].detail = "evict pod db/db-0: no";
  const auto news = tell(teller, pool, all, noon);
  ASSERT_EQ(told(news.notes),
            "Warning DrainFailed/Drain: Failed to drain node: evict pod db/db-0: no; the drain "
            "will be retried\n");
  EXPECT_EQ(news.notes[0].regarding.kind, "Node");
  EXPECT_EQ(news.notes[0].related.kind, "BootcNodePool");
  EXPECT_EQ(told(tell(teller, pool, all, noon).notes), "");
  all["w1"].started = noon + 5s;
  EXPECT_NE(told(tell(teller, pool, all, noon + 5s).notes), "") << "the next attempt";
}

TEST(DrainEvents, T080_DigestsAreShortened) {
  EXPECT_EQ(short_digest(digest_of('a')), "sha256:aaaaaaaaaaaa");
  EXPECT_EQ(short_digest("sha256:abc"), "sha256:abc");
  EXPECT_EQ(short_digest(""), "");
}

TEST(DrainEvents, T082_ALongDrainIsToldOnceAndTheNextIsAwaited) {
  drain_teller teller;
  node_pool pool;
  pool.meta.name = "workers";
  drains_by_node all;
  all["w1"].started = noon - 6min;
  all["w2"].started = noon;
  auto news = tell(teller, pool, all, noon);
  EXPECT_EQ(told(news.notes),
            "Warning DrainTakingTooLong/Drain: Drain has been running for more than 5m0s; it may "
            "be blocked by a PodDisruptionBudget\n");
  EXPECT_EQ(news.look_again, noon + 5min);
  news = tell(teller, pool, all, noon + 1s);
  EXPECT_EQ(told(news.notes), "");
  EXPECT_EQ(news.look_again, noon + 5min);
}

TEST(DrainEvents, T083_TheEarlierTimeWins) {
  EXPECT_EQ(earlier(noon, noon + 1s), noon);
  EXPECT_EQ(earlier(noon + 1s, noon), noon);
  EXPECT_EQ(earlier(std::nullopt, noon), noon);
  EXPECT_EQ(earlier(noon, std::nullopt), noon);
  EXPECT_EQ(earlier(std::nullopt, std::nullopt), std::nullopt);
}

TEST(DrainEvents, ADrainThatTookTooLongIsToldWithWhatWasLeft) {
  drain_teller teller;
  drains_by_node all;
  all["w1"].state = phase::timed_out;
  all["w1"].detail = "db/db-0";
  EXPECT_EQ(told(tell(teller, {}, all, noon).notes),
            "Warning DrainTimedOut/Drain: Drain took longer than drainTimeoutSeconds and was given "
            "up; left: db/db-0\n");
}

TEST(RolloutWarnings, HostsThatRebootOnTheirOwnAndUnlockedImagesAreNamed) {
  situation s;
  auto& open = s.member("w1", unit_state::staged);
  open.status.conditions[0].message = "staged without lock";
  auto& other = s.member("w2", unit_state::up_to_date);
  other.status.conditions[0].message = "this host is also rebooted by kured";
  std::string said;
  for (const warning& w : s.plan().warnings)
    said += std::string(w.reason) + ": " + w.message + "\n";
  EXPECT_EQ(said,
            "StagedUnlocked: Staged without a lock, so that any reboot boots the new image: w1\n"
            "UncoordinatedReboots: Rebooted by others too, outside of every slot: w2\n");
}

}  // namespace
}  // namespace bootc
