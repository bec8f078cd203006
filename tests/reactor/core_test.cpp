// Longer than most files: each promise of the loop and what stands on it, on one fixture in virtual
// time.
#include "reactor/deadline.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/waiters.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/spend.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace reactor {
namespace {

using times = std::vector<int>;

TEST(TimerQueue, FiresInOrderOfTimeAndThenOfArming) {
  timer_queue timers;
  times fired;
  const steady_time start{};
  timers.arm(start + 2s, [&] { fired.push_back(3); });
  timers.arm(start + 1s, [&] { fired.push_back(1); });
  timers.arm(start + 1s, [&] { fired.push_back(2); });
  EXPECT_EQ(timers.next(), start + 1s);
  while (timers.fire_one(start + 1s)) {
  }
  EXPECT_EQ(fired, (times{1, 2}));
  EXPECT_TRUE(timers.fire_one(start + 5s));
  EXPECT_EQ(fired, (times{1, 2, 3}));
  EXPECT_EQ(timers.next(), never);
}

TEST(TimerQueue, ForgetsWhatWasDisarmedAndNeverArmsNever) {
  timer_queue timers;
  bool fired = false;
  const timer_id id = timers.arm(steady_time{}, [&] { fired = true; });
  timers.disarm(id);
  timers.disarm(id);
  timers.disarm(0);
  EXPECT_FALSE(timers.fire_one(never));
  EXPECT_FALSE(fired);
  EXPECT_EQ(timers.arm(never, [] {}), 0u);
  EXPECT_TRUE(timers.empty());
}

TEST(TimerQueue, LetsACallbackArmAndDisarm) {
  timer_queue timers;
  times fired;
  timer_id second = 0;
  timers.arm(steady_time{}, [&] {
    fired.push_back(1);
    timers.disarm(second);
    timers.arm(steady_time{}, [&] { fired.push_back(3); });
  });
  second = timers.arm(steady_time{}, [&] { fired.push_back(2); });
  while (timers.fire_one(steady_time{})) {
  }
  EXPECT_EQ(fired, (times{1, 3}));
}

TEST(TimerQueue, TellsTheLoopOnlyWhenTheFirstDeadlineChanged) {
  timer_queue timers;
  int told = 0;
  timers.on_next_changed = [&] { ++told; };
  timers.arm(steady_time(5s), [] {});
  timers.arm(steady_time(9s), [] {});
  EXPECT_EQ(told, 1);
  timers.arm(steady_time(1s), [] {});
  EXPECT_EQ(told, 2);
}

/// Against a sorted list of the same, which cannot be wrong: places in the heap and their slots are
/// used again and again here, in every order that chance offers.
TEST(TimerQueue, IsInTheOrderOfASortedListWhateverIsArmedAndDisarmed) {
  std::mt19937_64 random(1);
  timer_queue timers;
  std::map<std::pair<steady_time, int>, timer_id> model;
  std::vector<timer_id> gone;
  int names = 0;
  int fired = 0;
  steady_time now{};
  for (int step = 0; step < 20'000; ++step) {
    const auto chance = random() % 10;
    if (chance < 5) {
      const steady_time when = now + std::chrono::seconds(random() % 40);
      const int name = ++names;
      model[{when, name}] = timers.arm(when, [&fired, name] { fired = name; });
    } else if (chance < 7 && !model.empty()) {
      const auto chosen = std::next(model.begin(), static_cast<long>(random() % model.size()));
      timers.disarm(chosen->second);
      gone.push_back(chosen->second);
      model.erase(chosen);
    } else if (chance == 7 && !gone.empty()) {
      timers.disarm(gone[random() % gone.size()]);  // of a slot that is another's now
    } else {
      now += 1s;
      const bool due = !model.empty() && model.begin()->first.first <= now;
      ASSERT_EQ(timers.fire_one(now), due);
      if (due) {
        ASSERT_EQ(fired, model.begin()->first.second);
        gone.push_back(model.begin()->second);
        model.erase(model.begin());
      }
    }
    ASSERT_EQ(timers.size(), model.size());
    ASSERT_EQ(timers.next(), model.empty() ? never : model.begin()->first.first);
  }
  EXPECT_GT(names, 9'000);
}

class Core : public testing::Test {
protected:
  void run(std::function<awaitable<void>()> body) { run_task(l, std::move(body)); }
  void TearDown() override {
    EXPECT_EQ(l.live(), nothing_live);
    EXPECT_TRUE(l.timers().empty());
  }
  loop l{loop::mode::simulated, 1};
};

TEST_F(Core, VirtualTimeJumpsToTheNextTimer) {
  run([&]() -> awaitable<void> {
    const steady_time start = l.now();
    const wall_time wall = l.wall();
    co_await l.sleep_for(24h);
    EXPECT_EQ(l.now() - start, 24h);
    EXPECT_EQ(l.wall() - wall, 24h);
    l.shift_wall(-1h);
    EXPECT_EQ(l.wall() - wall, 23h);
    co_await l.sleep_for(-5s);
    EXPECT_EQ(l.now() - start, 24h);
  });
}

TEST_F(Core, RunUntilStopsAtItsTimeAndGoesOn) {
  times at;
  task_group tasks(l);
  const steady_time start = l.now();
  tasks.start("ticks", [&]() -> awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      co_await l.sleep_for(10s);
      at.push_back(i);
    }
  });
  l.run_until(start + 15s);
  EXPECT_EQ(at, times{0});
  EXPECT_EQ(l.now(), start + 15s);
  l.run();
  EXPECT_EQ(at.size(), 3u);
}

TEST_F(Core, WaitersAreWokenInOrderOfArrivalInALaterTurn) {
  run([&]() -> awaitable<void> {
    waiters place(l);
    times order;
    task_group tasks(l);
    for (int i = 0; i < 3; ++i) {
      tasks.start("waiter", [&, i]() -> awaitable<void> {
        const woken how = co_await place.wait();
        EXPECT_EQ(how, woken::by_call);
        order.push_back(i);
      });
    }
    co_await l.sleep_for(1s);
    place.wake_one();
    EXPECT_TRUE(order.empty());
    co_await l.sleep_for(1s);
    EXPECT_EQ(order, times{0});
    place.wake_all();
    co_await tasks.join();
    EXPECT_EQ(order, (times{0, 1, 2}));
  });
}

TEST_F(Core, AWaitEndsAtItsDeadline) {
  run([&]() -> awaitable<void> {
    waiters place(l);
    const steady_time until = l.now() + 3s;
    const woken how = co_await place.wait(until);
    EXPECT_EQ(how, woken::by_deadline);
    EXPECT_EQ(l.now(), until);
    EXPECT_EQ(place.size(), 0u);
  });
}

TEST_F(Core, AWaitUnwindsWhenItsPlaceIsDestroyed) {
  run([&]() -> awaitable<void> {
    auto place = std::make_unique<waiters>(l);
    task_group tasks(l);
    bool after = false;
    tasks.start("waiter", [&]() -> awaitable<void> {
      (void)co_await place->wait();
      after = true;
    });
    co_await l.sleep_for(1s);
    place.reset();
    co_await tasks.join();
    EXPECT_FALSE(after);
  });
}

TEST_F(Core, AnEventStaysSetUntilReset) {
  run([&]() -> awaitable<void> {
    event e(l);
    const bool early = co_await e.wait(l.now() + 1s);
    EXPECT_FALSE(early);
    e.set();
    e.set();
    const bool now = co_await e.wait();
    EXPECT_TRUE(now);
    e.reset();
    EXPECT_FALSE(e.is_set());
  });
}

TEST_F(Core, AGroupNamesItsTasksAndIsJoinedWhenTheyEnded) {
  run([&]() -> awaitable<void> {
    task_group tasks(l);
    tasks.start("short", [&]() -> awaitable<void> { co_await l.sleep_for(1s); });
    const auto id = tasks.start("endless", [&]() -> awaitable<void> {
      for (;;) co_await l.sleep_for(1h);
    });
    EXPECT_EQ(tasks.names(), (std::vector<std::string>{"short", "endless"}));
    EXPECT_EQ(l.live().tasks, 3u);
    co_await l.sleep_for(2s);
    EXPECT_EQ(tasks.size(), 1u);
    tasks.cancel(id);
    tasks.cancel(12345);
    co_await tasks.join();
    EXPECT_TRUE(tasks.empty());
    EXPECT_FALSE(tasks.cancelled());
  });
}

TEST_F(Core, ACancelledGroupEndsEveryTaskAndStartsNoMore) {
  run([&]() -> awaitable<void> {
    task_group tasks(l);
    int started = 0;
    for (int i = 0; i < 3; ++i) {
      tasks.start("endless", [&]() -> awaitable<void> {
        ++started;
        for (;;) co_await l.sleep_for(1h);
      });
    }
    co_await l.sleep_for(1s);
    const steady_time before = l.now();
    co_await tasks.cancel_and_join();
    EXPECT_EQ(l.now(), before);
    const auto late = tasks.start("late", [&]() -> awaitable<void> {
      ++started;
      co_return;
    });
    EXPECT_EQ(late, 0u);
    co_await l.sleep_for(1s);
    EXPECT_EQ(started, 3);
    co_await tasks.cancel_and_join();
  });
}

TEST_F(Core, ATaskThatIsCancelledBeforeItsFirstTurnLeavesNothing) {
  run([&]() -> awaitable<void> {
    task_group tasks(l);
    tasks.start("early", [&]() -> awaitable<void> { co_await l.sleep_for(1h); });
    co_await tasks.cancel_and_join();
  });
}

TEST_F(Core, ATaskThatIsCancelledBeforeTheLoopRunsHasNotFailed) {
  std::vector<std::string> failed;
  task_group tasks(l,
                   [&](std::string_view task, std::exception_ptr) { failed.emplace_back(task); });
  tasks.start("early", [&]() -> awaitable<void> { co_await l.sleep_for(1h); });
  tasks.cancel();
  EXPECT_NO_THROW(l.run());
  EXPECT_TRUE(tasks.empty());
  EXPECT_EQ(failed, std::vector<std::string>());
}

/// What a task does around cancelling its own group.
enum class habit { returns, waits_before, waits_after, waits_around };

class CoreOwnGroup : public testing::Test, public testing::WithParamInterface<habit> {};

TEST_P(CoreOwnGroup, CanBeCancelledByOneOfItsTasks) {
  loop l(loop::mode::simulated);
  bool other_ended = false, went_on = false;
  {
    task_group tasks(l);
    tasks.start("other", [&]() -> awaitable<void> {
      try {
        for (;;) co_await l.sleep_for(1h);
      } catch (const boost::system::system_error&) {
        other_ended = true;
      }
    });
    tasks.start("canceller", [&]() -> awaitable<void> {
      const habit h = GetParam();
      if (h == habit::waits_before || h == habit::waits_around) co_await l.sleep_for(1s);
      tasks.cancel();
      if (h == habit::waits_after || h == habit::waits_around) {
        co_await l.sleep_for(1s);
        went_on = true;
      }
    });
    EXPECT_NO_THROW(l.run());
    EXPECT_TRUE(tasks.empty());
  }
  EXPECT_TRUE(other_ended);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(l.live(), nothing_live);
}

TEST_P(CoreOwnGroup, CanBeCancelledByATaskThatStartsWithinTheLoop) {
  loop l(loop::mode::simulated);
  task_group tasks(l), outer(l);
  outer.start("outer", [&]() -> awaitable<void> {
    co_await l.yield();
    tasks.start("canceller", [&]() -> awaitable<void> {
      const habit h = GetParam();
      if (h == habit::waits_before || h == habit::waits_around) co_await l.sleep_for(1s);
      tasks.cancel();
      if (h == habit::waits_after || h == habit::waits_around) co_await l.sleep_for(1s);
    });
    co_await tasks.join();
  });
  EXPECT_NO_THROW(l.run());
  EXPECT_TRUE(tasks.empty());
  EXPECT_EQ(l.live(), nothing_live);
}

INSTANTIATE_TEST_SUITE_P(Habits, CoreOwnGroup,
                         testing::Values(habit::returns, habit::waits_before, habit::waits_after,
                                         habit::waits_around));

TEST_F(Core, AStopBeforeTheRunEndsItAtOnce) {
  for (const loop::mode m : {loop::mode::simulated, loop::mode::real}) {
    loop own(m);
    bool ran = false;
    own.post([&] { ran = true; });
    own.stop();
    own.run();
    EXPECT_FALSE(ran);
    own.run();  // one stop ends one run
    EXPECT_TRUE(ran);
  }
}

TEST_F(Core, AStopBeforeARunWithAnEndCountsToo) {
  const steady_time before = l.now();
  l.stop();
  l.run_until(before + 1h);
  EXPECT_EQ(l.now(), before);
  l.run_until(before + 1h);
  EXPECT_EQ(l.now(), before + 1h);
}

TEST_F(Core, ALoopInsideARunningOneOfItsThreadIsAProgrammingError) {
  for (const loop::mode outer : {loop::mode::simulated, loop::mode::real}) {
    loop other(loop::mode::simulated), first(outer);
    first.post([&] {
      EXPECT_THROW(loop second, std::logic_error);
      EXPECT_THROW(other.run(), std::logic_error);
      EXPECT_THROW(first.run(), std::logic_error);
    });
    first.run();
    loop after;  // the thread is free again
    std::size_t elsewhere = 0;
    std::thread([&] {
      loop of_its_own;
      of_its_own.post([&] { ++elsewhere; });
      of_its_own.run();
    }).join();
    after.run();
    EXPECT_EQ(elsewhere, 1u);
  }
}

TEST(CoreDeathTest, AGroupThatIsDestroyedWhileTasksRunSaysWhichAndEndsTheProcess) {
  const auto leave = [](bool throwing) {
    loop l(loop::mode::simulated);
    task_group tasks(l);
    tasks.start("endless", [&]() -> awaitable<void> {
      for (;;) co_await l.sleep_for(1h);
    });
    l.run_one();
    if (throwing) throw std::runtime_error("a reason");
  };
  EXPECT_DEATH(leave(false), "task_group destroyed while tasks run: endless");
  EXPECT_DEATH(
      {
        try {
          leave(true);
        } catch (const std::exception&) {
        }
      },
      "task_group destroyed while tasks run: endless");
}

TEST_F(Core, AFailureReachesTheOwnerByNameAndTheOthersGoOn) {
  run([&]() -> awaitable<void> {
    std::string failed;
    task_group tasks(l, [&](std::string_view task, std::exception_ptr why) {
      try {
        std::rethrow_exception(why);
      } catch (const std::runtime_error& e) {
        failed = std::string(task) + ": " + e.what();
      }
    });
    tasks.start("bad", [&]() -> awaitable<void> {
      co_await l.yield();
      throw std::runtime_error("a bug");
    });
    bool other = false;
    tasks.start("good", [&]() -> awaitable<void> {
      co_await l.sleep_for(1s);
      other = true;
    });
    co_await tasks.join();
    EXPECT_EQ(failed, "bad: a bug");
    EXPECT_TRUE(other);
  });
}

TEST_F(Core, AFailureThatNobodyClaimsComesOutOfTheLoop) {
  task_group tasks(l);
  tasks.start("bad", [&]() -> awaitable<void> {
    co_await l.yield();
    throw std::runtime_error("a bug");
  });
  EXPECT_THROW(l.run(), std::runtime_error);
  l.run();
}

TEST_F(Core, CapturesOfAStartedCallableLiveAsLongAsItsTask) {
  auto token = std::make_shared<int>(7);
  std::weak_ptr<int> watch = token;
  run([&]() -> awaitable<void> {
    task_group tasks(l);
    tasks.start("holder", [&, token = std::move(token)]() -> awaitable<void> {
      co_await l.sleep_for(1s);
      EXPECT_EQ(*token, 7);
    });
    co_await l.yield();
    EXPECT_FALSE(watch.expired());
    co_await tasks.join();
    co_await l.yield();
  });
  EXPECT_TRUE(watch.expired());
}

TEST_F(Core, ADeadlineLetsAFastAnswerThrough) {
  run([&]() -> awaitable<void> {
    auto answer = co_await with_deadline(l, answer_after(l, 1s), l.now() + 2s, "ask");
    EXPECT_EQ(answer.value(), 42);
    auto patient = co_await with_deadline(l, answer_after(l, 1h), never, "ask");
    EXPECT_EQ(patient.value(), 42);
  });
}

TEST_F(Core, ADeadlineEndsASlowAnswerWithAFaultThatSaysWhat) {
  run([&]() -> awaitable<void> {
    const steady_time start = l.now();
    auto answer = co_await with_deadline(l, answer_after(l, 1h), start + 2s, "ask the oracle");
    EXPECT_EQ(l.now() - start, 2s);
    EXPECT_EQ(answer.error(), make_fault(errc::timed_out, "ask the oracle"));
    auto past = co_await with_deadline(l, answer_after(l, 1h), start, "ask again");
    EXPECT_EQ(past.error().code, errc::timed_out);
  });
}

TEST_F(Core, CancellationReachesThroughADeadline) {
  run([&]() -> awaitable<void> {
    task_group tasks(l);
    bool after = false;
    tasks.start("asker", [&]() -> awaitable<void> {
      (void)co_await with_deadline(l, answer_after(l, 1h), l.now() + 2h, "ask");
      after = true;
    });
    co_await l.sleep_for(1s);
    const steady_time before = l.now();
    co_await tasks.cancel_and_join();
    EXPECT_EQ(l.now(), before);
    EXPECT_FALSE(after);
  });
}

TEST_F(Core, AnExceptionComesThroughADeadlineUnchanged) {
  const auto fail = [&]() -> awaitable<result<int>> {
    co_await l.yield();
    throw std::runtime_error("a bug");
  };
  EXPECT_THROW(run([&]() -> awaitable<void> {
                 (void)co_await with_deadline(l, fail(), l.now() + 1s, "ask");
               }),
               std::runtime_error);
}

TEST_F(Core, OffloadedWorkReturnsItsValueOrThrowsItsException) {
  run([&]() -> awaitable<void> {
    const auto value = [](int n) { return std::make_unique<int>(n); };
    const auto five = co_await l.offload(value, 5);
    EXPECT_EQ(*five, 5);
    const auto ran = std::make_shared<bool>(false);
    const auto nothing = [](const std::shared_ptr<bool>& done) { *done = true; };
    co_await l.offload(nothing, ran);
    EXPECT_TRUE(*ran);
    auto bad = []() -> int { throw std::out_of_range("worker"); };
    bool thrown = false;
    try {
      (void)co_await l.offload(std::move(bad));
    } catch (const std::out_of_range&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  });
}

TEST(RealLoop, RunsOffloadedWorkOnAnotherThreadAndGoesOnMeanwhile) {
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    task_group tasks(l);
    const auto turns = std::make_shared<std::atomic<int>>(0);
    tasks.start("work", [&]() -> awaitable<void> {
      const auto here = ::gettid();
      const auto job = [](const std::shared_ptr<std::atomic<int>>& passed) {
        while (*passed < 4) ::usleep(1'000);
        return ::gettid();
      };
      const auto there = co_await l.offload(job, turns);
      EXPECT_NE(there, here);
    });
    while (++*turns < 4) co_await l.sleep_for(1ms);
    co_await tasks.join();
  });
  EXPECT_EQ(l.live(), nothing_live);
}

TEST(RealLoop, AValueOfOffloadedWorkIsDroppedWhenItsCallerWasCancelled) {
  auto token = std::make_shared<int>(1);
  {
    loop l;
    run_task(l, [&]() -> awaitable<void> {
      task_group tasks(l);
      tasks.start("work", [&]() -> awaitable<void> {
        const auto job = [](const std::shared_ptr<int>& held) {
          ::usleep(20'000);
          return held;
        };
        (void)co_await l.offload(job, token);
        ADD_FAILURE() << "went on after cancellation";
      });
      co_await l.sleep_for(2ms);
      co_await tasks.cancel_and_join();
    });
    EXPECT_EQ(l.live(), nothing_live);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(RealLoop, KeepsTimeAndEndsWhenNothingIsLeft) {
  loop l;
  task_group tasks(l);
  tasks.start("sleep", [&]() -> awaitable<void> {
    const steady_time start = l.now();
    co_await l.sleep_for(10ms);
    EXPECT_GE(l.now() - start, 10ms);
  });
  l.run();
  EXPECT_TRUE(tasks.empty());
}

TEST(RealLoop, MeasuresItsLongestStallInProcessorTime) {
  loop l;
  (void)l.take_health();
  run_task(l, [&]() -> awaitable<void> {
    co_await l.sleep_for(100ms);  // waiting is not stalling
    EXPECT_LT(l.health().longest_stall, 100ms);
    co_await l.yield();
    spend(20ms);
    co_await l.yield();
  });
  const loop_health health = l.take_health();
  EXPECT_GT(health.longest_stall, 1ms);
  EXPECT_GE(health.busy, health.longest_stall);
  EXPECT_EQ(health.stalls > 0, health.longest_stall > loop_health::a_stall);
  EXPECT_GT(health.callbacks, 3u);
  EXPECT_EQ(l.health().callbacks, 0u);
  EXPECT_GE(l.health().since, health.since);
}

TEST(OffloadedWork, OfACallerThatWasCancelledRunsLaterAndBeforeTheLoopEnds) {
  const auto ran = std::make_shared<int>(0);
  {
    loop l(loop::mode::simulated, 7);
    l.set_longest_job(1s);
    run_task(l, [&]() -> awaitable<void> {
      for (int i = 0; i < 20; ++i) {
        task_group tasks(l);
        tasks.start("work", [&]() -> awaitable<void> {
          const auto job = [](const std::shared_ptr<int>& count) { ++*count; };
          co_await l.offload(job, ran);
          ADD_FAILURE() << "went on after cancellation";
        });
        co_await l.yield();
        co_await tasks.cancel_and_join();
      }
      EXPECT_EQ(*ran, 0) << "jobs end later than those who asked for them";
    });
    l.run_until(l.now() + 500ms);
    EXPECT_GT(*ran, 0);
    EXPECT_LT(*ran, 20);
    EXPECT_EQ(l.live(), nothing_live);
  }
  EXPECT_EQ(*ran, 20);
}

TEST(OffloadedWork, EndsAtMomentsThatASeedRepeatsAndAnotherChanges) {
  const auto order = [](std::uint64_t seed) {
    auto ended = std::make_shared<std::vector<int>>();
    loop l(loop::mode::simulated, seed);
    l.set_longest_job(1s);
    for (int i = 0; i < 12; ++i)
      l.start_on_worker(
          [](const std::shared_ptr<std::vector<int>>& all, int n) { all->push_back(n); }, ended, i);
    l.run_until(l.now() + 2s);
    return *ended;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

/// A struct with one field that is not its own, two levels down.
struct with_a_clock {
  std::string name;
  std::vector<std::pair<int, std::function<int()>>> asks;
};
struct with_a_pointer {
  std::optional<const int*> at;
};

TEST(OffloadedWork, ThatWouldHoldWhatIsNotItsOwnDoesNotCompile) {
  int local = 0;
  const auto by_reference = [&] { return local; };
  const auto by_pointer = [p = &local] { return *p; };
  const auto by_value = [local] { return local; };
  const auto plain = [](const auto&...) {};
  static_assert(!detached_job<decltype(by_reference)>);
  static_assert(!detached_job<decltype(by_pointer)>);
  static_assert(!detached_job<decltype(by_value)>, "nobody sees what a closure holds");
  using plain_t = std::remove_const_t<decltype(plain)>;
  static_assert(detached_job<plain_t, std::string, int, std::shared_ptr<int>>);
  static_assert(detached_job<plain_t, std::map<std::string, std::vector<std::string>>>);
  static_assert(!detached_job<plain_t, int*>);
  static_assert(!detached_job<plain_t, std::string_view>);
  static_assert(!detached_job<plain_t, std::span<const char>>);
  static_assert(!detached_job<plain_t, std::function<int()>>);
  static_assert(!detached_job<plain_t, decltype(by_reference)>);
  static_assert(!detached_job<plain_t, std::reference_wrapper<int>>);
  static_assert(!detached_job<plain_t, std::vector<std::optional<int*>>>);
  static_assert(!detached_job<plain_t, with_a_clock>);
  static_assert(!detached_job<plain_t, with_a_pointer>);
  static_assert(detached_job<plain_t, std::reference_wrapper<loop>>, "it waits for its jobs");
  // A callable that is a value is one that says what it holds.
  carried<int(int)> sum([](int a, int b) { return a + b; }, 3);
  static_assert(detached_job<plain_t, carried<int(int)>>);
  static_assert(!std::is_constructible_v<carried<int()>, decltype(by_reference)>);
  EXPECT_EQ(sum(4), 7);
  EXPECT_EQ(by_reference() + by_pointer() + by_value(), 0);
}

TEST(RealLoop, AJobOnWhatStrangersWroteHoldsUpNoneOfOurs) {
  loop l;
  const auto may_end = std::make_shared<std::promise<void>>();
  run_task(l, [&]() -> awaitable<void> {
    task_group tasks(l);
    tasks.start("theirs", [&]() -> awaitable<void> {
      const auto theirs = [](const std::shared_ptr<std::promise<void>>& until) {
        until->get_future().wait();
      };
      co_await l.offload_foreign(theirs, may_end);
    });
    const auto ours = [](int n) { return n; };
    for (int i = 0; i < 20; ++i) {
      const int got = co_await l.offload(ours, i);
      EXPECT_EQ(got, i);
    }
    EXPECT_EQ(tasks.size(), 1u);
    co_await tasks.cancel_and_join();
  });
  EXPECT_FALSE(l.finish_jobs(0s));
  may_end->set_value();
  EXPECT_TRUE(l.finish_jobs(60s));
}

TEST(RealLoop, IsPostedToFromAnyThread) {
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    event posted(l);
    const auto job = [](loop& to, const reactor::vouched<event*>& done) {
      to.post([set = done.value] { set->set(); });
    };
    co_await l.offload(job, std::ref(l), reactor::vouched<event*>{&posted});
    const bool came = co_await posted.wait(l.now() + 60s);
    EXPECT_TRUE(came);
  });
}

TEST(Entropy, RepeatsItselfForASeedAndDiffersForAnother) {
  seeded_entropy a(1), same(1), other(2);
  EXPECT_EQ(a.uuid(), same.uuid());
  EXPECT_EQ(a.next(), same.next());
  EXPECT_NE(a.next(), other.next());
}

TEST(Entropy, KeepsToItsRanges) {
  seeded_entropy random(3);
  bool low = false, high = false;
  for (int i = 0; i < 2'000; ++i) {
    const auto n = random.between(std::uint64_t{3}, std::uint64_t{7});
    low |= n == 3;
    high |= n == 7;
    EXPECT_GE(n, 3u);
    EXPECT_LE(n, 7u);
    const double f = random.fraction();
    EXPECT_GE(f, 0);
    EXPECT_LT(f, 1);
    const nanoseconds j = random.jitter(10s, 0.2);
    EXPECT_GE(j, 8s);
    EXPECT_LE(j, 12s);
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(random.between(nanoseconds(5), nanoseconds(5)), nanoseconds(5));
  (void)random.between(std::uint64_t{0}, ~std::uint64_t{0});
}

TEST(Entropy, MakesIdentifiersOfTheRightForm) {
  system_entropy random;
  const std::string id = random.uuid();
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(id[14], '4');
  EXPECT_NE(std::string_view("89ab").find(id[19]), std::string_view::npos);
  EXPECT_NE(id, random.uuid());
  const std::string suffix = random.suffix(200);
  EXPECT_EQ(suffix.find_first_of("aeiou013"), std::string::npos);
}

}  // namespace
}  // namespace reactor
