#include "bootc/daemons/wave_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace bootc {
namespace {

using namespace std::chrono_literals;

struct fleet {
  explicit fleet(std::size_t nodes) {
    facts.newest = "new";
    facts.wanted = nodes;
    for (std::size_t i = 0; i < nodes; ++i) {
      daemon_pod pod;
      pod.node = "w" + std::to_string(100 + i);
      pod.name = pod.uid = "daemon-" + pod.node;
      pod.revision = "old";
      pod.ready = true;
      pod.seen_for = pod.ready_for = 24h;
      facts.pods.push_back(std::move(pod));
    }
  }
  daemon_pod& pod(std::size_t i) { return facts.pods[i]; }
  fleet& renewed(std::size_t i, reactor::nanoseconds ago, bool ready = true) {
    pod(i).revision = "new";
    pod(i).ready = ready;
    pod(i).seen_for = pod(i).ready_for = ago;
    return *this;
  }
  wave_plan plan() const { return plan_wave(facts); }
  std::string replaced() const {
    std::string out;
    for (const daemon_pod& p : plan().replace) out += (out.empty() ? "" : " ") + p.node;
    return out;
  }

  wave_facts facts;
};

TEST(DaemonWaves, BeginWithOneAndGrowToATenth) {
  fleet f(40);
  EXPECT_EQ(f.replaced(), "w100");
  f.renewed(0, 1min);
  EXPECT_EQ(f.replaced(), "w101");
  f.renewed(1, 1min);
  EXPECT_EQ(f.replaced(), "w102 w103");
  f.renewed(2, 1min).renewed(3, 1min);
  EXPECT_EQ(f.replaced(), "w104 w105 w106 w107");
  for (std::size_t i = 4; i < 20; ++i) f.renewed(i, 1min);
  EXPECT_EQ(f.replaced(), "w120 w121 w122 w123") << "never more than a tenth";
  for (std::size_t i = 20; i < 40; ++i) f.renewed(i, 1min);
  EXPECT_EQ(f.plan().older, 0u);
  EXPECT_EQ(f.plan().waits, "");
}

TEST(DaemonWaves, WaitUntilTheWaveBeforeHasSettled) {
  fleet f(40);
  f.renewed(0, 1min).renewed(1, 10s);
  EXPECT_EQ(f.replaced(), "");
  EXPECT_EQ(f.plan().waits, "the wave under way: w101");
  f.renewed(1, 1min, false);
  EXPECT_EQ(f.plan().waits, "the wave under way: w101");
  EXPECT_FALSE(f.plan().halted);
  f.pod(1).leaving = true;
  EXPECT_EQ(f.plan().waits, "the wave under way: w101");
  f.facts.pods.erase(f.facts.pods.begin() + 1);
  EXPECT_EQ(f.plan().waits, "1 of 40 nodes has no daemon yet");
}

TEST(DaemonWaves, HaltAtANewOneThatIsNotReady) {
  fleet f(40);
  f.renewed(0, 6min, false);
  const wave_plan p = f.plan();
  EXPECT_TRUE(p.halted);
  EXPECT_TRUE(p.replace.empty());
  EXPECT_EQ(p.waits, "the new daemon on w100 (pod daemon-w100) is not ready");
}

TEST(DaemonWaves, LeaveNodesAloneThatAreBusy) {
  fleet f(3);
  f.facts.busy = {{"w100", "holds a slot"}, {"w102", "fetches an image"}};
  EXPECT_EQ(f.replaced(), "w101");
  f.renewed(1, 1min);
  EXPECT_EQ(f.replaced(), "");
  EXPECT_EQ(f.plan().waits, "w100 holds a slot, w102 fetches an image");
}

TEST(DaemonWaves, SilentNodesHoldNobodyUp) {
  fleet f(6);
  f.facts.silent = {"w100", "w101", "w102"};
  f.renewed(0, 1h, false);  // new, and its node went away since
  f.pod(1).leaving = true;  // its kubelet is gone, so it never ends
  EXPECT_EQ(f.replaced(), "w103");
  for (std::size_t i = 3; i < 6; ++i) f.renewed(i, 1min);
  EXPECT_EQ(f.replaced(), "");
  EXPECT_EQ(f.plan().waits, "w102 is silent");
  EXPECT_FALSE(f.plan().halted);
}

TEST(DaemonWaves, ANodeWithoutADaemonIsMissedBesideSilentOnes) {
  fleet f(10);
  f.facts.silent = {"w100", "w101"};
  f.facts.pods.pop_back();
  EXPECT_EQ(f.replaced(), "");
  EXPECT_EQ(f.plan().waits, "1 of 10 nodes has no daemon yet");
}

TEST(DaemonWaves, PodsThatDoNotRunAreFirst) {
  fleet f(40);
  f.pod(7).ready = false;
  EXPECT_EQ(f.replaced(), "w107");
}

// Whatever comes of each pod, the rule holds at every moment.
TEST(DaemonWaves, NeverMoreThanATenthIsAwayAndAllAreReplacedInTheEnd) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::uint32_t dice = seed * 2654435761u;
    const auto roll = [&dice](std::uint32_t below) {
      dice = dice * 1664525u + 1013904223u;
      return (dice >> 16) % below;
    };
    fleet f(1 + roll(60));
    const std::size_t tenth = (f.facts.wanted + 9) / 10;
    int passes = 0;
    for (; passes < 4'000 && f.plan().older > 0; ++passes) {
      f.facts.busy.clear();
      for (const daemon_pod& p : f.facts.pods)
        if (roll(5) == 0) f.facts.busy[p.node] = "holds a slot";
      for (const daemon_pod& chosen : f.plan().replace) {
        EXPECT_FALSE(f.facts.busy.contains(chosen.node));
        const auto at = std::ranges::find(f.facts.pods, chosen.uid, &daemon_pod::uid);
        at->leaving = true;
      }
      std::size_t away = 0;
      for (daemon_pod& p : f.facts.pods) {
        p.seen_for += 10s;
        if (p.ready) p.ready_for += 10s;
        if (p.leaving && roll(2) == 0) {
          p = daemon_pod{p.name, p.node, p.uid + "'", "new"};
        } else if (!p.leaving && !p.ready && roll(3) == 0) {
          p.ready = true;
        }
        away += p.leaving || !p.ready;
      }
      ASSERT_LE(away, tenth) << "seed " << seed;
    }
    EXPECT_EQ(f.plan().older, 0u) << "seed " << seed << " after " << passes;
  }
}

}  // namespace
}  // namespace bootc
