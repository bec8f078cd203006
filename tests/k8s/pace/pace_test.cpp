#include "k8s/pace/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace k8s {
namespace {

using namespace std::chrono_literals;
using reactor::nanoseconds;
using reactor::steady_time;

/// What a second of answers is like.
struct second {
  nanoseconds took = 10ms;
  bool held = true;      // requests waited
  bool fairness = true;  // the server names a priority level
  int answers = 20;
};

class Pace : public testing::Test {
protected:
  /// So many answers, the last one as the second ends.
  double after(const second& s) {
    for (int i = 1; i <= s.answers; ++i) {
      paced_answer a;
      a.took = s.took;
      a.held_others = s.held;
      a.fairness = s.fairness;
      is.answered(a, now + i * (nanoseconds(1s) / s.answers) + (i == s.answers ? 1ms : 0ms));
    }
    now += 1001ms;
    return is.rate();
  }
  double after_429(std::optional<nanoseconds> retry_after = std::nullopt) {
    paced_answer a;
    a.throttled = true;
    a.retry_after = retry_after;
    is.answered(a, now);
    return is.rate();
  }

  steady_time now{1h};
  pace is{now};
};

TEST_F(Pace, ChangesAsATableOfSecondsSays) {
  struct row {
    const char* what;
    std::vector<second> seconds;
    double rate;
  };
  const second busy{}, idle{.held = false}, unguarded{.fairness = false};
  const second slow{.took = 300ms}, very_slow{.took = 30s, .answers = 8};
  const row rows[] = {
      {"nothing was answered yet", {}, 400},
      {"the server answers well and requests wait: doubled", {busy}, 800},
      {"and again", {busy, busy}, 1'600},
      {"up to the bound", {busy, busy, busy, busy, busy}, 3'200},
      {"a server without priority and fairness has a lower one",
       {unguarded, unguarded, unguarded, unguarded},
       1'600},
      {"and falls back to it", {busy, busy, busy, unguarded}, 1'600},
      {"no request waits: no reason to grow", {idle, idle, idle}, 400},
      {"one that is far away is not slow", {slow, slow}, 1'600},
      {"answers grow slow: half", {busy, busy, slow}, 800},
      {"once for each slow second", {busy, busy, slow, slow}, 400},
      {"requests end without an answer", {busy, busy, very_slow}, 800},
      {"never below what other reasons may excuse",
       {busy, slow, slow, slow, slow, slow, slow},
       100},
      {"after trouble it grows by a quarter of the first rate", {busy, busy, slow, busy}, 900},
      {"below the first rate it recovers a tenth of that", {busy, slow, slow, busy, busy}, 280},
      {"whether requests wait or not", {busy, slow, slow, idle, idle}, 280},
      {"too few answers to call it slow", {busy, {.took = 10s, .answers = 7}}, 1'600},
  };
  for (const row& r : rows) {
    now = steady_time{1h};
    is = pace{now};
    for (const second& s : r.seconds) after(s);
    EXPECT_DOUBLE_EQ(is.rate(), r.rate) << r.what;
  }
}

TEST_F(Pace, IsSlowByTheMedianSoThatSomeLongListsDoNotCount) {
  after({});
  for (int i = 0; i < 20; ++i) {
    paced_answer a;
    a.took = i % 5 < 2 ? nanoseconds(5s) : nanoseconds(10ms);
    a.held_others = a.fairness = true;
    is.answered(a, now + 1001ms);
  }
  EXPECT_DOUBLE_EQ(is.rate(), 1'600);
}

TEST_F(Pace, A429HalvesOnceASecondAndPausesForAsLongAsIsAsked) {
  EXPECT_DOUBLE_EQ(after_429(3s), 200);
  for (int i = 0; i < 20; ++i) EXPECT_DOUBLE_EQ(after_429(1s), 200);  // of the same overload
  EXPECT_EQ(is.paused_until(), now + 3s) << "the longest counts";
  now += 1s;
  EXPECT_DOUBLE_EQ(after_429(), 100);
  now += 10s;
  EXPECT_DOUBLE_EQ(after_429(), 50);
  EXPECT_EQ(is.paused_until(), now + 1s) << "without Retry-After a second";
  EXPECT_DOUBLE_EQ(after_429(-5s), 50);
  EXPECT_EQ(is.paused_until(), now + 1s);
}

TEST_F(Pace, A429NeverHalvesBelowOneAndNeverRaises) {
  for (int i = 0; i < 20; ++i, now += 1s) after_429(0s);
  EXPECT_DOUBLE_EQ(is.rate(), 1);
  now = is.paused_until();
  EXPECT_DOUBLE_EQ(after({}), 41);
  for (int i = 0; i < 8; ++i) after({.took = 1s});
  EXPECT_DOUBLE_EQ(is.rate(), 41) << "slow answers have a higher bound; they raise nothing to it";
}

TEST_F(Pace, GrowsAgainOnlyAfterThePause) {
  after_429(5s);
  now += 1s;
  EXPECT_DOUBLE_EQ(after({}), 200) << "these were sent before the pause";
  now = is.paused_until();
  EXPECT_DOUBLE_EQ(after({}), 240);
  for (int i = 0; i < 4; ++i) after({});
  EXPECT_DOUBLE_EQ(is.rate(), 400);
  EXPECT_DOUBLE_EQ(after({}), 500);
}

TEST_F(Pace, ForgetsAfterAMinuteOfSilenceHowFastItWas) {
  after({});
  after({});
  EXPECT_DOUBLE_EQ(is.rate(), 1'600);
  now += 30s;
  EXPECT_DOUBLE_EQ(after({.held = false}), 1'600);
  now += 60s;
  EXPECT_DOUBLE_EQ(after({.held = false}), 400);
  after_429(0s);
  now += 2min;
  EXPECT_DOUBLE_EQ(after({.held = false}), 200) << "and is not faster for having been silent";
}

TEST_F(Pace, AServerThatMovedFartherAwayIsNotSlowForEver) {
  after({.took = 200ms});
  EXPECT_DOUBLE_EQ(after({.took = 700ms}), 400);
  int seconds = 0;
  while (is.rate() < 3'200 && seconds < 120) {
    after({.took = 700ms});
    ++seconds;
  }
  EXPECT_LT(seconds, 120);
}

}  // namespace
}  // namespace k8s
