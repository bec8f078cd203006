// Who goes first where several have something to do.
#include "reactor/loop_slice.hpp"

#include "reactor/allowance.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/spend.hpp"

#include <gtest/gtest.h>

#include <string>

namespace reactor {
namespace {

TEST(Turn, WhoGaveWayRunsAfterEverybodyWhoIsOrBecomesReady) {
  loop l(loop::mode::simulated);
  std::string order;
  run_task(l, [&]() -> awaitable<void> {
    task_group tasks(l);
    tasks.start("greedy", [&]() -> awaitable<void> {
      co_await loop_slice::yield();
      order += "greedy";
    });
    tasks.start("others", [&]() -> awaitable<void> {
      for (int i = 0; i < 5; ++i) {
        co_await l.yield();
        order += "o";
      }
    });
    co_await tasks.join();
  });
  EXPECT_EQ(order, "ooooogreedy");
}

TEST(Turn, WhoGaveWayRunsBeforeTimePasses) {
  loop l(loop::mode::simulated);
  const steady_time before = l.now();
  steady_time ran{};
  run_task(l, [&]() -> awaitable<void> {
    task_group tasks(l);
    tasks.start("later", [&]() -> awaitable<void> { co_await l.sleep_for(1s); });
    co_await loop_slice::yield();
    ran = l.now();
    co_await tasks.join();
  });
  EXPECT_EQ(ran, before);
}

TEST(Turn, NobodyKeepsThoseThatGaveWayWaitingWithoutEnd) {
  for (const auto mode : {loop::mode::simulated, loop::mode::real}) {
    loop l(mode);
    bool over = false;
    run_task(l, [&]() -> awaitable<void> {
      task_group tasks(l);
      tasks.start("never idle", [&]() -> awaitable<void> {
        while (!over) co_await l.yield();
      });
      co_await loop_slice::yield();
      co_await loop_slice::yield();
      over = true;
      co_await tasks.join();
    });
    EXPECT_TRUE(over);
  }
}

TEST(Turn, WhoGaveWayCanBeCancelled) {
  loop l(loop::mode::simulated);
  bool went_on = false;
  run_task(l, [&]() -> awaitable<void> {
    task_group tasks(l);
    tasks.start("greedy", [&]() -> awaitable<void> {
      co_await loop_slice::yield();
      went_on = true;
    });
    co_await l.yield();
    co_await tasks.cancel_and_join();
  });
  EXPECT_FALSE(went_on);
  EXPECT_EQ(l.live(), live_counts{});
}

TEST(Turn, WhatAPeerTakesIsItsOwnExpenseAndNobodyElses) {
  loop l;
  const auto greedy = std::make_shared<allowance>(), modest = std::make_shared<allowance>();
  run_task(l, [&]() -> awaitable<void> {
    co_await l.yield();
    EXPECT_TRUE(loop_slice::charge(greedy));
    spend(2 * allowance::at_once);
    co_await l.yield();
    EXPECT_FALSE(loop_slice::charge(greedy));
    EXPECT_TRUE(loop_slice::charge(modest));
    spend(allowance::at_once / 10);
    co_await l.yield();
    EXPECT_TRUE(loop_slice::charge(modest));
    EXPECT_FALSE(loop_slice::charge(greedy));
    EXPECT_TRUE(loop_slice::charge(nullptr));
  });
}

TEST(Allowance, IsAFiftiethOfWhatTheLoopSpends) {
  allowance a;
  EXPECT_TRUE(a.is_left(0ms));
  a.use(allowance::at_once);
  EXPECT_FALSE(a.is_left(0ms));
  EXPECT_TRUE(a.is_left(1ms));
  a.use(1ms);
  EXPECT_FALSE(a.is_left(2ms));
  EXPECT_TRUE(a.is_left(100ms));
}

TEST(Allowance, OneLongCallbackIsNotHeldAgainstAPeerForEver) {
  allowance a;
  a.use(1h);
  EXPECT_FALSE(a.is_left(allowance::one_of * allowance::deepest_debt));
  EXPECT_TRUE(a.is_left(allowance::one_of * (allowance::deepest_debt + 1us)));
}

}  // namespace
}  // namespace reactor
