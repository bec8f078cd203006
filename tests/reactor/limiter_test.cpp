#include "reactor/limiter.hpp"

#include "reactor/backoff.hpp"
#include "tests/reactor/run.hpp"

#include <vector>

namespace reactor {
namespace {

class Limiter : public testing::Test {
protected:
  void run(std::function<awaitable<void>()> body) { run_task(l, std::move(body)); }
  void TearDown() override { EXPECT_EQ(l.live(), nothing_live); }
  double seconds_since(steady_time start) const {
    return std::chrono::duration<double>(l.now() - start).count();
  }
  loop l{loop::mode::simulated, 1};
};

TEST_F(Limiter, LetsABurstThroughAndThenKeepsTheRate) {
  limiter limit(l, {.per_second = 10, .burst = 5});
  run([&]() -> awaitable<void> {
    const steady_time start = l.now();
    for (int i = 0; i < 5; ++i) co_await limit.acquire();
    EXPECT_EQ(l.now(), start);
    for (int i = 0; i < 20; ++i) co_await limit.acquire();
    EXPECT_NEAR(seconds_since(start), 2.0, 0.01);
    co_await l.sleep_for(10s);
    const steady_time later = l.now();
    for (int i = 0; i < 5; ++i) co_await limit.acquire();
    EXPECT_EQ(l.now(), later);
  });
}

TEST_F(Limiter, ServesInOrderOfArrival) {
  limiter limit(l, {.per_second = 10, .burst = 1});
  run([&]() -> awaitable<void> {
    std::vector<int> order;
    task_group tasks(l);
    for (int i = 0; i < 5; ++i) {
      tasks.start("caller", [&, i]() -> awaitable<void> {
        co_await limit.acquire();
        order.push_back(i);
      });
    }
    co_await tasks.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  });
}

TEST_F(Limiter, HoldsEverythingUntilThenWithoutABurstAfterwards) {
  limiter limit(l, {.per_second = 5, .burst = 10});
  run([&]() -> awaitable<void> {
    const steady_time start = l.now();
    limit.hold_until(start + 3s);
    limit.hold_until(start + 1s);  // no sooner than what was said before
    co_await limit.acquire();
    EXPECT_NEAR(seconds_since(start), 3.0, 0.01);
    co_await limit.acquire();
    EXPECT_NEAR(seconds_since(start), 3.2, 0.01);
  });
}

TEST_F(Limiter, APauseAlsoHoldsThoseWhoWaitAlready) {
  limiter limit(l, {.per_second = 1, .burst = 1});
  run([&]() -> awaitable<void> {
    const steady_time start = l.now();
    co_await limit.acquire();
    task_group tasks(l);
    tasks.start("waiting", [&]() -> awaitable<void> {
      co_await limit.acquire();
      EXPECT_GE(seconds_since(start), 10.5);
    });
    co_await l.sleep_for(500ms);
    limit.hold_until(l.now() + 10s);
    co_await tasks.join();
  });
}

TEST_F(Limiter, ANewRateCountsForThoseWhoWaitAlready) {
  limiter limit(l, {.per_second = 0.1, .burst = 1});
  run([&]() -> awaitable<void> {
    co_await limit.acquire();
    const steady_time start = l.now();
    task_group tasks(l);
    tasks.start("waiting", [&]() -> awaitable<void> {
      co_await limit.acquire();
      EXPECT_NEAR(seconds_since(start), 1.9, 0.01);  // a tenth in the first second
    });
    co_await l.sleep_for(1s);
    limit.set_rate(1);
    co_await tasks.join();
    limit.set_rate(20);
    for (int i = 0; i < 20; ++i) co_await limit.acquire();
    EXPECT_NEAR(seconds_since(start), 2.9, 0.01);
  });
}

TEST_F(Limiter, AnExpiredOrCancelledWaitUsesNothingUp) {
  limiter limit(l, {.per_second = 1, .burst = 1});
  run([&]() -> awaitable<void> {
    co_await limit.acquire();
    const steady_time start = l.now();
    const bool granted = co_await limit.acquire_until(l.now() + 100ms);
    EXPECT_FALSE(granted);
    task_group tasks(l);
    tasks.start("cancelled", [&]() -> awaitable<void> { co_await limit.acquire(); });
    co_await l.sleep_for(100ms);
    co_await tasks.cancel_and_join();
    EXPECT_EQ(limit.waiting(), 0u);
    co_await limit.acquire();
    EXPECT_NEAR(seconds_since(start), 1.0, 0.01);
  });
}

TEST(Backoff, GrowsToItsCapWithinTheJitterAndStartsAgainAfterReset) {
  seeded_entropy random(5);
  backoff wait({.initial = 1s, .cap = 30s, .factor = 2, .jitter = 0.2});
  nanoseconds base = 1s;
  for (int i = 0; i < 8; ++i) {
    const nanoseconds delay = wait.next(random);
    EXPECT_GE(delay, base * 8 / 10);
    EXPECT_LE(delay, std::min<nanoseconds>(base * 12 / 10, 30s));
    base = std::min<nanoseconds>(base * 2, 30s);
  }
  EXPECT_EQ(wait.attempts(), 8u);
  wait.reset();
  EXPECT_LE(wait.next(random), 1200ms);
  EXPECT_EQ(wait.attempts(), 1u);
}

TEST(Backoff, StaysAtItsCapHoweverOftenItIsAsked) {
  seeded_entropy random(5);
  backoff wait({.initial = 1s, .cap = 5min, .factor = 10, .jitter = 0});
  for (int i = 0; i < 1'000; ++i) (void)wait.next(random);
  EXPECT_EQ(wait.next(random), 5min);
}

}  // namespace
}  // namespace reactor
