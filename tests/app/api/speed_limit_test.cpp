// No more changes begin in a minute than the limits say, and each unit that waits has a turn.
#include "app/api/speed_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace units {
namespace {

using namespace std::chrono_literals;
using of = speed_limit::wait::of;

/// Ready to begin at `now`: its start is long ago.
speed_limit running(change_limits limits) {
  return speed_limit(limits);
}

TEST(SpeedLimit, ReadsANumberAMinute) {
  EXPECT_EQ(*read_changes_a_minute("30/minute"), 30u);
  EXPECT_EQ(*read_changes_a_minute("1/minute"), 1u);
  EXPECT_EQ(*read_changes_a_minute("10000/minute"), 10'000u);
  for (const char* wrong :
       {"", "30", "/minute", "0/minute", "-1/minute", "1.5/minute", "30/hour", "30 /minute",
        "10001/minute", "99999999999999999999/minute", "30/minutes"}) {
    const auto read = read_changes_a_minute(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().detail,
              "expected a whole number from 1 to 10000 and /minute, such as 30/minute");
  }
}

TEST(SpeedLimit, LetsEverythingBeginWithoutALimit) {
  speed_limit s = running({});
  s.starts_empty(reactor::steady_time(1h));
  for (int i = 0; i < 100'000; ++i) EXPECT_FALSE(s.begins("c", "u", reactor::steady_time(1h)));
}

TEST(SpeedLimit, LetsSoManyBeginInAnyMinute) {
  speed_limit s = running({.fleet = 3});
  reactor::steady_time now(1h);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(s.begins("c", "u", now));
    now += 10s;
  }
  auto held = s.begins("c", "u", now);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->by, of::fleet);
  EXPECT_EQ(held->limit, 3u);
  EXPECT_EQ(held->left, 30s) << "a minute after the first";
  now += 30s - 1ns;
  EXPECT_TRUE(s.waits("c", "u", now)) << "one nanosecond is missing";
  now += 1ns;
  EXPECT_FALSE(s.waits("c", "u", now));
  EXPECT_FALSE(s.begins("c", "u", now));
  held = s.begins("c", "u", now);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->left, 10s);
}

TEST(SpeedLimit, OfAClusterHoldsThatClusterAlone) {
  speed_limit s = running({.fleet = 3, .cluster = 1});
  const reactor::steady_time now(1h);
  EXPECT_FALSE(s.begins("a", "u", now));
  const auto held = s.begins("a", "u", now);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->by, of::cluster);
  EXPECT_EQ(held->limit, 1u);
  EXPECT_FALSE(s.begins("b", "u", now))
      << "a unit that waits for its own cluster keeps no other back";
  EXPECT_FALSE(s.begins("c", "u", now));
  EXPECT_EQ(s.begins("d", "u", now)->by, of::fleet);
}

TEST(SpeedLimit, OfClustersAloneIsTheirs) {
  speed_limit s = running({.cluster = 2});
  const reactor::steady_time now(1h);
  for (const char* cluster : {"a", "b", "c"})
    for (int i = 0; i < 3; ++i) {
      const auto held = s.begins(cluster, "u", now);
      EXPECT_EQ(held.has_value(), i == 2);
      if (held) {
        EXPECT_EQ(held->by, of::cluster);
      }
    }
}

TEST(SpeedLimit, LetsNothingBeginInTheFirstMinuteOfAProcess) {
  speed_limit s = running({.fleet = 2});
  reactor::steady_time now(1h);
  s.starts_empty(now);
  EXPECT_EQ(s.begins("c", "u", now)->left, 60s);
  now += 59s;
  EXPECT_EQ(s.begins("c", "u", now)->left, 1s);
  now += 1s;
  EXPECT_FALSE(s.begins("c", "u", now));
  EXPECT_FALSE(s.begins("c", "u", now));
  EXPECT_TRUE(s.begins("c", "u", now));
}

TEST(SpeedLimit, TakesNothingForWhoOnlyLooks) {
  speed_limit s = running({.fleet = 1});
  const reactor::steady_time now(1h);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(s.waits("c", "u", now));
  EXPECT_FALSE(s.begins("c", "u", now));
  EXPECT_FALSE(s.waits("c", "other", now)) << "it has not been refused, so it tries";
  EXPECT_TRUE(s.begins("c", "other", now));
  EXPECT_TRUE(s.waits("c", "other", now));
}

TEST(SpeedLimit, CountsWhatMayNotBeRefused) {
  speed_limit s = running({.fleet = 2});
  reactor::steady_time now(1h);
  for (int i = 0; i < 5; ++i) {
    s.began("c", "u", now);
    now += 1s;
  }
  EXPECT_EQ(s.begins("c", "u", now)->left, 58s) << "the two last ones count";
}

/// One wants thousands of changes, the others one each now and then: they come as each other's
/// equals.
TEST(SpeedLimit, LetsClustersTakeTurns) {
  speed_limit s = running({.fleet = 4});
  reactor::steady_time now(1h);
  std::map<std::string, int> had;
  std::map<std::string, reactor::steady_time> asks_at;
  for (const char* cluster : {"greedy", "b", "c", "d"}) asks_at[cluster] = now;
  for (const reactor::steady_time end = now + 20min; now < end; now += 1s)
    for (auto& [cluster, at] : asks_at)
      while (at <= now) {  // "greedy" is not the first of them; it always has another wish
        const auto held = s.begins(cluster, "u", now);
        if (held) at = now + held->left;
        had[cluster] += !held;
        if (cluster != "greedy" && !held) at = now + 30s;
      }
  for (const auto& [cluster, n] : had) EXPECT_GE(n, 15) << cluster << ": of 80 in 20 minutes";
}

TEST(SpeedLimit, LetsTheUnitsOfAClusterTakeTurns) {
  speed_limit s = running({.cluster = 1});
  reactor::steady_time now(1h);
  EXPECT_FALSE(s.begins("c", "bootc/big", now));
  EXPECT_EQ(s.begins("c", "bootc/big", now)->left, 60s);
  EXPECT_EQ(s.begins("c", "tenants/small", now)->left, 120s) << "after the one that waits";
  now += 60s;
  EXPECT_FALSE(s.begins("c", "bootc/big", now));
  EXPECT_EQ(s.begins("c", "bootc/big", now)->left, 120s) << "behind the other one now";
  now += 60s;
  EXPECT_FALSE(s.begins("c", "tenants/small", now));
}

TEST(SpeedLimit, ForgetsWhoDoesNotComeInItsTurn) {
  speed_limit s = running({.fleet = 1});
  reactor::steady_time now(1h);
  EXPECT_FALSE(s.begins("a", "u", now));
  EXPECT_TRUE(s.begins("gone", "u", now));
  EXPECT_EQ(s.begins("b", "u", now)->left, 120s);
  now += 60s + speed_limit::grace;
  EXPECT_TRUE(s.waits("b", "u", now));
  now += 1s;
  EXPECT_FALSE(s.waits("b", "u", now)) << "the place of the cluster that is gone is free";
  EXPECT_FALSE(s.begins("b", "u", now));
  EXPECT_EQ(s.waiting(), 0u);
}

TEST(SpeedLimit, KeepsAsManyWaitingAsItSays) {
  speed_limit s = running({.fleet = 1});
  const reactor::steady_time now(1h);
  EXPECT_FALSE(s.begins("c", "first", now));
  for (std::size_t i = 0; i < speed_limit::most_waiting + 100; ++i)
    EXPECT_TRUE(s.begins("c" + std::to_string(i % 7), "u" + std::to_string(i), now));
  EXPECT_EQ(s.waiting(), speed_limit::most_waiting);
  const auto held = s.waits("c", "one too many", now);
  ASSERT_TRUE(held) << "or it would be tried again at once";
  EXPECT_GT(held->left, 0s);
}

/// Whatever is asked when: no span of a minute has more beginnings than the limits say.
TEST(SpeedLimit, HoldsWhateverIsAskedWhen) {
  std::size_t began_in_all = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 dice(seed);
    const auto below = [&](unsigned n) { return dice() % n; };
    const change_limits limits{below(3) == 0 ? 0 : 1 + below(20), below(3) == 0 ? 0 : 1 + below(6)};
    speed_limit s = running(limits);
    reactor::steady_time now(1h);
    s.starts_empty(now);
    const reactor::steady_time started = now;
    std::vector<reactor::steady_time> fleet;
    std::map<std::string, std::vector<reactor::steady_time>> clusters;
    for (int step = 0; step < 2'000; ++step) {
      now += std::chrono::milliseconds(below(2'000));
      const std::string cluster(1, static_cast<char>('a' + below(5)));
      const std::string unit(1, static_cast<char>('u' + below(3)));
      if (below(4) == 0) (void)s.waits(cluster, unit, now);
      const auto held = s.begins(cluster, unit, now);
      if (held) {
        ASSERT_GT(held->left, 0s) << "seed " << seed;
        continue;
      }
      if (limits.any()) {
        ASSERT_GE(now, started + 60s) << "seed " << seed;
      }
      ++began_in_all;
      for (auto* of : {&fleet, &clusters[cluster]}) of->push_back(now);
      const auto in_a_minute = [&](const std::vector<reactor::steady_time>& all) {
        return static_cast<std::size_t>(
            std::ranges::count_if(all, [&](auto at) { return at + 60s > now; }));
      };
      if (limits.fleet > 0) {
        ASSERT_LE(in_a_minute(fleet), limits.fleet) << "seed " << seed;
      }
      if (limits.cluster > 0) {
        ASSERT_LE(in_a_minute(clusters[cluster]), limits.cluster) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(began_in_all, 10'000u);
}

}  // namespace
}  // namespace units
