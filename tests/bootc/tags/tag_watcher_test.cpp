#include "bootc/tags/tag_watcher.hpp"

#include "reactor/loop.hpp"
#include "tests/bootc/builders.hpp"
#include "tests/bootc/tags/scripted_tags.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using testing::digest_of;

class TagWatcher : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }

  tag_watcher::tag_request wish(const std::string& ref, const std::string& secret = "") {
    tag_watcher::tag_request w;
    w.ref = ref;
    w.image = *registry::parse_image_ref(ref);
    if (!secret.empty())
      w.secret = std::make_shared<registry::pull_secret>(
          registry::pull_secret{secret, reactor::secret("{}")});
    w.asked = [this] { ++told; };
    return w;
  }
  void run(std::function<awaitable<void>(tag_watcher&)> body) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      tag_watcher w(l, source, {.interval = 5min, .at_once = 3});
      co_await body(w);
      co_await w.stop();
    });
  }

  reactor::loop l{reactor::loop::mode::simulated, 7};
  testing::scripted_tags source{l};
  int told = 0;
  const std::string os = "quay.io/example/os:latest";
};

TEST_F(TagWatcher, T057_ATagThatMovesIsNoticedAfterTheInterval) {
  source.now[os] = digest_of('a');
  run([&](tag_watcher& w) -> awaitable<void> {
    w.follow("c/p", wish(os));
    co_await l.sleep_for(1s);
    EXPECT_EQ(w.of("c/p")->digest, digest_of('a'));
    EXPECT_EQ(told, 1);
    const auto wait = *w.of("c/p")->next - l.wall();
    EXPECT_GT(wait, 4min);
    EXPECT_LE(wait, 5min);
    source.now[os] = digest_of('b');
    co_await l.sleep_for(5min);
    EXPECT_EQ(w.of("c/p")->digest, digest_of('b'));
    EXPECT_EQ(source.asked, (std::vector<std::string>{os, os}));
    EXPECT_EQ(source.known.back(), digest_of('a')) << "so that an unchanged one costs nothing";
  });
}

TEST_F(TagWatcher, AFailureKeepsTheLastGoodAnswerAndIsTriedAgain) {
  source.now[os] = digest_of('a');
  run([&](tag_watcher& w) -> awaitable<void> {
    w.follow("c/p", wish(os));
    co_await l.sleep_for(1s);
    source.failure = registry::failed(registry::errc::unavailable, "connection refused");
    co_await l.sleep_for(5min);
    EXPECT_EQ(w.of("c/p")->digest, digest_of('a'));
    EXPECT_EQ(w.of("c/p")->error, "connection refused");
    source.failure.reset();
    co_await l.sleep_for(5min);
    EXPECT_EQ(w.of("c/p")->error, "");
  });
}

TEST_F(TagWatcher, ARegistryThatAsksForAPauseIsGivenIt) {
  source.failure = registry::failed(registry::errc::throttled, "429");
  source.failure->retry_after = 1h;
  run([&](tag_watcher& w) -> awaitable<void> {
    w.follow("c/p", wish(os));
    co_await l.sleep_for(59min);
    EXPECT_EQ(source.asked.size(), 1u);
    co_await l.sleep_for(2min);
    EXPECT_EQ(source.asked.size(), 2u);
  });
}

TEST_F(TagWatcher, PoolsShareWhatIsAskedWithTheSameCredential) {
  source.now[os] = digest_of('a');
  run([&](tag_watcher& w) -> awaitable<void> {
    for (const char* who : {"c1/p", "c2/p", "c3/q"}) w.follow(who, wish(os));
    w.follow("c1/secret", wish(os, "sha256:1"));
    w.follow("c2/secret", wish(os, "sha256:1"));
    co_await l.sleep_for(1s);
    EXPECT_EQ(source.asked.size(), 2u);
    EXPECT_EQ(told, 5) << "everybody hears of it";
    EXPECT_EQ(w.tags(), 2u);
    co_await w.leave_all("c2/");
    co_await w.leave_all("c1/");
    EXPECT_EQ(w.tags(), 1u);
    co_await w.leave_all("c3/");
    EXPECT_TRUE(w.idle());
    EXPECT_EQ(source.rests, 1);
  });
}

TEST_F(TagWatcher, AnotherReferenceIsAskedAboutAtOnce) {
  source.now[os] = digest_of('a');
  source.now["quay.io/example/os:next"] = digest_of('b');
  run([&](tag_watcher& w) -> awaitable<void> {
    w.follow("c/p", wish(os));
    co_await l.sleep_for(1s);
    w.follow("c/p", wish("quay.io/example/os:next"));
    EXPECT_EQ(w.of("c/p")->digest, "") << "the former answer is not the new one's";
    co_await l.sleep_for(1s);
    EXPECT_EQ(w.of("c/p")->digest, digest_of('b'));
    EXPECT_EQ(w.tags(), 1u);
  });
}

TEST_F(TagWatcher, WhatWasAskedBeforeAStartIsNotAskedAgainAtOnce) {
  run([&](tag_watcher& w) -> awaitable<void> {
    auto lately = wish(os);
    lately.not_before = l.wall() + 3min;
    w.follow("c/p", std::move(lately));
    auto another_clock = wish("quay.io/example/os:2");
    another_clock.not_before = l.wall() + 24h * 365;
    w.follow("c/q", std::move(another_clock));
    co_await l.sleep_for(2min);
    EXPECT_TRUE(source.asked.empty());
    co_await l.sleep_for(4min);
    EXPECT_EQ(source.asked.size(), 2u);
  });
}

TEST_F(TagWatcher, AsksOneQuestionAtATimeForATagAndAFewInAll) {
  source.takes = 20min;
  run([&](tag_watcher& w) -> awaitable<void> {
    for (int i = 0; i < 10; ++i)
      w.follow("c/" + std::to_string(i), wish("quay.io/example/os:" + std::to_string(i)));
    co_await l.sleep_for(15min);
    EXPECT_EQ(source.under_way, 3u);
    EXPECT_EQ(source.asked.size(), 3u);
    co_await l.sleep_for(2h);
    EXPECT_EQ(source.most_of_one, 1u);
  });
}

TEST_F(TagWatcher, WhoLeavesWhileItIsAskedHearsNothing) {
  source.takes = 10s;
  run([&](tag_watcher& w) -> awaitable<void> {
    w.follow("c/p", wish(os));
    co_await l.sleep_for(1s);
    w.leave("c/p");
    co_await l.sleep_for(1min);
    EXPECT_EQ(told, 0);
    EXPECT_EQ(w.of("c/p"), std::nullopt);
  });
}

}  // namespace
}  // namespace bootc
