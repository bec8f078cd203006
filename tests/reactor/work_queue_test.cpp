#include "reactor/work_queue.hpp"

#include "tests/reactor/run.hpp"

#include <vector>

namespace reactor {
namespace {

std::string cluster_of(const std::string& key) {
  return key.substr(0, key.find('/'));
}

class WorkQueue : public testing::Test {
protected:
  void run(std::function<awaitable<void>()> body) { run_task(l, std::move(body)); }
  void TearDown() override {
    queue.close();
    EXPECT_TRUE(l.timers().empty());
    EXPECT_EQ(l.live(), nothing_live);
  }
  /// Takes everything that is ready, in order.
  awaitable<std::vector<std::string>> drain() {
    std::vector<std::string> order;
    while (queue.depth() > 0) {
      auto key = co_await queue.get();
      order.push_back(*key);
      queue.done(*key);
    }
    co_return order;
  }
  loop l{loop::mode::simulated, 1};
  work_queue<std::string> queue{l, cluster_of, {.initial = 1s, .cap = 10s, .jitter = 0}};
};

using keys = std::vector<std::string>;
const keys only{"a/1"};  // named: GCC 12 mistreats a braced list inside a coroutine

TEST_F(WorkQueue, HoldsAKeyOnceHoweverOftenItIsAdded) {
  run([&]() -> awaitable<void> {
    for (int i = 0; i < 5; ++i) queue.add("a/1");
    EXPECT_EQ(queue.depth(), 1u);
    const keys order = co_await drain();
    EXPECT_EQ(order, only);
    EXPECT_EQ(queue.known(), 0u);
  });
}

TEST_F(WorkQueue, RunsAKeyAgainWhenItWasAddedDuringItsRunAndNeverTwiceAtOnce) {
  run([&]() -> awaitable<void> {
    queue.add("a/1");
    auto first = co_await queue.get();
    queue.add("a/1");
    queue.add("a/1");
    EXPECT_EQ(queue.depth(), 0u);
    queue.done(*first);
    EXPECT_EQ(queue.depth(), 1u);
    const keys order = co_await drain();
    EXPECT_EQ(order, only);
  });
}

TEST_F(WorkQueue, LetsGroupsTakeTurnsSoThatANoisyOneCannotStarveTheRest) {
  run([&]() -> awaitable<void> {
    for (int i = 0; i < 4; ++i) queue.add("noisy/" + std::to_string(i));
    queue.add("b/1");
    queue.add("c/1");
    const keys expected{"noisy/0", "b/1", "c/1", "noisy/1", "noisy/2", "noisy/3"};
    const keys order = co_await drain();
    EXPECT_EQ(order, expected);
  });
}

TEST_F(WorkQueue, AddsAfterTheEarliestOfSeveralDelays) {
  run([&]() -> awaitable<void> {
    const steady_time start = l.now();
    queue.add_after("a/1", 10s);
    queue.add_after("a/1", 3s);
    queue.add_after("a/1", 5s);
    EXPECT_EQ(queue.delayed(), 1u);
    auto key = co_await queue.get();
    EXPECT_EQ(l.now() - start, 3s);
    queue.done(*key);
    EXPECT_EQ(queue.known(), 0u);
  });
}

TEST_F(WorkQueue, ARunDropsTheDelayThatWasPendingAndMayAskForAnother) {
  run([&]() -> awaitable<void> {
    queue.add_after("a/1", 10s);
    queue.add("a/1");
    EXPECT_EQ(queue.delayed(), 0u);
    auto key = co_await queue.get();
    queue.add_after(*key, 20s);
    queue.done(*key);
    EXPECT_EQ(queue.delayed(), 1u);
    const steady_time start = l.now();
    (void)co_await drain();
    key = co_await queue.get();
    EXPECT_EQ(l.now() - start, 20s);
    queue.done(*key);
  });
}

TEST_F(WorkQueue, ADelayThatEndsDuringTheRunRunsTheKeyAgain) {
  run([&]() -> awaitable<void> {
    queue.add("a/1");
    auto key = co_await queue.get();
    queue.add_after(*key, 1s);
    co_await l.sleep_for(5s);
    EXPECT_EQ(queue.depth(), 0u);
    queue.done(*key);
    EXPECT_EQ(queue.depth(), 1u);
    (void)co_await drain();
  });
}

TEST_F(WorkQueue, RetriesAtGrowingDelaysUntilForgotten) {
  EXPECT_EQ(queue.retry("a/1"), 1s);
  EXPECT_EQ(queue.retry("a/1"), 2s);
  EXPECT_EQ(queue.retry("a/1"), 4s);
  EXPECT_EQ(queue.retry("b/1"), 1s);
  EXPECT_EQ(queue.retry("a/1"), 8s);
  EXPECT_EQ(queue.retry("a/1"), 10s);
  EXPECT_EQ(queue.failures("a/1"), 5u);
  queue.forget("a/1");
  EXPECT_EQ(queue.failures("a/1"), 0u);
  EXPECT_EQ(queue.retry("a/1"), 1s);
}

TEST_F(WorkQueue, HandsEachKeyToOneOfManyWorkersAndEndsThemAllOnClose) {
  std::map<std::string, int> seen;
  run([&]() -> awaitable<void> {
    task_group workers(l);
    for (int i = 0; i < 3; ++i) {
      workers.start("worker", [&]() -> awaitable<void> {
        for (;;) {
          auto key = co_await queue.get();
          if (!key) co_return;
          ++seen[*key];
          co_await l.sleep_for(1s);
          queue.done(*key);
        }
      });
    }
    co_await l.sleep_for(1s);
    const steady_time start = l.now();
    for (int i = 0; i < 9; ++i) queue.add("a/" + std::to_string(i));
    co_await l.sleep_for(2500ms);
    EXPECT_EQ(queue.running(), 3u);
    co_await l.sleep_until(start + 4s);
    EXPECT_EQ(queue.running(), 0u);
    queue.close();
    queue.add("a/after");
    co_await workers.join();
  });
  EXPECT_EQ(seen.size(), 9u);
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
}

TEST_F(WorkQueue, AKeyIsNotLostWhenTheWorkerThatWasWokenForItIsCancelled) {
  run([&]() -> awaitable<void> {
    keys taken;
    task_group first(l), second(l);
    first.start("first", [&]() -> awaitable<void> { (void)co_await queue.get(); });
    co_await l.sleep_for(1s);
    second.start("second", [&]() -> awaitable<void> {
      auto key = co_await queue.get();
      taken.push_back(*key);
      queue.done(*key);
    });
    co_await l.sleep_for(1s);
    queue.add("a/1");  // wakes the first in the next turn …
    first.cancel();    // … which it no longer sees
    co_await second.join();
    co_await first.join();
    EXPECT_EQ(taken, only);
  });
}

}  // namespace
}  // namespace reactor
