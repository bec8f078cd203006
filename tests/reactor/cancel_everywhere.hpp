#pragma once

#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace reactor {

/// Starts a conversation again and again in virtual time, each time cancelling it one callback or
/// timer later than before, until it ends by itself; nothing may be left after any of them.
/// `start` puts its tasks into the group and returns what they use; it is dropped after their end.
/// Returns how many steps the whole conversation took.
inline std::size_t cancel_everywhere(
    const std::function<std::shared_ptr<void>(loop& l, task_group& tasks)>& start,
    std::size_t most_steps = 5'000) {
  for (std::size_t steps = 0; steps <= most_steps; ++steps) {
    loop l(loop::mode::simulated, 11);
    bool ended = false;
    {
      task_group tasks(l);
      std::shared_ptr<void> used = start(l, tasks);
      std::size_t done = 0;
      while (done < steps && !tasks.empty() && l.run_one()) ++done;
      ended = tasks.empty();
      tasks.cancel();
      const steady_time at = l.now();
      while (!tasks.empty() && l.run_one()) {
      }
      EXPECT_TRUE(tasks.empty()) << "cancelled after step " << steps << ", still waiting: "
                                 << (tasks.empty() ? "" : tasks.names().front());
      EXPECT_LE(l.now() - at, 1s) << "cancelled after step " << steps;
      used.reset();
    }
    l.run();
    EXPECT_EQ(l.live(), live_counts{}) << "cancelled after step " << steps;
    EXPECT_TRUE(l.timers().empty()) << "cancelled after step " << steps;
    if (testing::Test::HasFailure()) return steps;
    if (ended) return steps;
  }
  ADD_FAILURE() << "it never ends";
  return most_steps;
}

}  // namespace reactor
