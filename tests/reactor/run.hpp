#pragma once

#include "reactor/loop.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace reactor {

inline const live_counts nothing_live{};

/// Forty-two, a while later.
inline awaitable<result<int>> answer_after(loop& l, nanoseconds d) {  // borrowed
  co_await l.sleep_for(d);
  co_return 42;
}

/// Runs `body` as the one task of a loop until it ends. A body that waits for ever fails the test.
inline void run_task(loop& l, std::function<awaitable<void>()> body) {
  std::exception_ptr failure;
  task_group tasks(l, [&](std::string_view, std::exception_ptr why) {
    failure = why;
    l.stop();
  });
  bool ended = false;
  // The group learns of the end a turn after the coroutine.
  std::function<void()> stop_when_empty = [&] {
    if (tasks.empty())
      l.stop();
    else
      l.post(stop_when_empty);
  };
  tasks.start("test", [&]() -> awaitable<void> {
    co_await body();
    ended = true;
    stop_when_empty();
  });
  l.run();
  if (failure) {
    tasks.cancel();
    l.run();
    std::rethrow_exception(failure);
  }
  if (!ended || !tasks.empty()) {
    ADD_FAILURE() << "the loop ran out of work while the test was waiting";
    tasks.cancel();
    l.run();
  }
}

/// Everything up to the end of the stream; a fault's text follows after "!".
inline awaitable<std::string> read_all(stream& from) {  // borrowed
  std::string all;
  char piece[4096];
  for (;;) {
    auto n = co_await from.read_some(piece);
    if (!n) co_return all + "!" + n.error().code.message();
    if (*n == 0) co_return all;
    all.append(piece, *n);
  }
}

}  // namespace reactor
