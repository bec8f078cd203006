// What operations on strangers' texts may have in memory, over all of them, in virtual time.
#include "reactor/work_memory.hpp"

#include "tests/reactor/run.hpp"

#include <optional>
#include <string>
#include <vector>

namespace reactor {
namespace {

class WorkMemory : public testing::Test {
protected:
  void run(std::function<awaitable<void>()> body) { run_task(l, std::move(body)); }
  void TearDown() override {
    EXPECT_EQ(l.live(), nothing_live);
    EXPECT_EQ(all.resting(), 0u);
    EXPECT_EQ(all.waiting(), 0u);
  }
  loop l{loop::mode::simulated, 3};
  work_memory all{l};
};

TEST_F(WorkMemory, LittleIsTakenWithoutWaiting) {
  run([&]() -> awaitable<void> {
    work_memory::share large(&all, "a", 5min), small(&all, "b", 5min), free(nullptr, "c", 5min);
    const auto grown = co_await large.grow();
    EXPECT_TRUE(grown);
    EXPECT_EQ(small.most(), work_memory::small_bytes);
    EXPECT_EQ(large.most(), work_memory::share::unlimited);
    EXPECT_EQ(free.most(), work_memory::share::unlimited);
  });
}

TEST_F(WorkMemory, OneOperationAtATimeIsLarge) {
  run([&]() -> awaitable<void> {
    std::size_t now = 0, most = 0, done = 0;
    task_group tasks(l);
    for (int i = 0; i < 20; ++i)
      tasks.start("operation", [&]() -> awaitable<void> {
        work_memory::share mine(&all, "an operation", 5min);
        const auto grown = co_await mine.grow();
        EXPECT_TRUE(grown);
        most = std::max(most, ++now);
        co_await l.sleep_for(1s);
        --now;
        ++done;
      });
    co_await tasks.join();
    EXPECT_EQ(most, 1u);
    EXPECT_EQ(done, 20u);
  });
}

TEST_F(WorkMemory, ThoseThatRestKeepABoundedSumAndASingleOneAnything) {
  struct row {
    std::uint64_t each;
    std::size_t most_at_once;
  };
  const row rows[] = {{work_memory::resting_bytes / 4, 5}, {work_memory::resting_bytes * 3, 2}};
  for (const row& r : rows)
    run([&]() -> awaitable<void> {
      std::size_t now = 0, most = 0;
      task_group tasks(l);
      for (int i = 0; i < 20; ++i)
        tasks.start("operation", [&]() -> awaitable<void> {
          work_memory::share mine(&all, "an operation", 1h);
          const auto grown = co_await mine.grow();
          EXPECT_TRUE(grown);
          most = std::max(most, ++now);
          co_await mine.rest(r.each);
          EXPECT_EQ(mine.most(), work_memory::share::unlimited) << "it waits for nothing more";
          co_await l.sleep_for(1min);
          --now;
        });
      co_await tasks.join();
      EXPECT_EQ(most, r.most_at_once);
    });
}

TEST_F(WorkMemory, SaysForWhomAnOperationWaitedInVain) {
  run([&]() -> awaitable<void> {
    work_memory::share first(&all, "the release team/first", 5min);
    const auto taken = co_await first.grow();
    EXPECT_TRUE(taken);
    work_memory::share second(&all, "the release team/second", 2min);
    const auto began = l.now();
    const auto refused = co_await second.grow();
    EXPECT_FALSE(refused);
    EXPECT_EQ(l.now() - began, 2min);
    EXPECT_NE(refused.error().detail.find("the release team/first"), std::string::npos)
        << refused.error().detail;
    EXPECT_EQ(second.most(), work_memory::small_bytes);
  });
}

/// A cluster that answers slowly does not keep the others from their turn.
TEST_F(WorkMemory, WhoTakesLongWhileOthersWaitGivesUp) {
  run([&]() -> awaitable<void> {
    std::optional<work_memory::share> slow(std::in_place, &all, "a slow one", 5min);
    const auto taken = co_await slow->grow();
    EXPECT_TRUE(taken);
    co_await l.sleep_for(2 * work_memory::works_for);
    const auto alone = co_await slow->grow();
    EXPECT_TRUE(alone) << "nobody waits";
    bool got = false;
    task_group tasks(l);
    tasks.start("next", [&]() -> awaitable<void> {
      work_memory::share next(&all, "the next one", 5min);
      const auto grown = co_await next.grow();
      got = grown.has_value();
    });
    co_await l.sleep_for(1s);
    const auto late = co_await slow->grow();
    EXPECT_FALSE(late);
    slow.reset();
    co_await tasks.join();
    EXPECT_TRUE(got);
  });
}

TEST_F(WorkMemory, AWaitThatIsCancelledLeavesNothingBehind) {
  run([&]() -> awaitable<void> {
    work_memory::share first(&all, "first", 5min);
    const auto taken = co_await first.grow();
    EXPECT_TRUE(taken);
    for (const bool rests : {false, true}) {
      task_group tasks(l);
      tasks.start("waits", [&]() -> awaitable<void> {
        work_memory::share mine(&all, "mine", 5min);
        (void)co_await mine.grow();
        if (rests) co_await mine.rest(1);
      });
      co_await l.sleep_for(1s);
      EXPECT_EQ(all.waiting(), 1u);
      co_await tasks.cancel_and_join();
      EXPECT_EQ(all.waiting(), 0u);
    }
  });
}

}  // namespace
}  // namespace reactor
