#pragma once

#include "policies/host/sandbox.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

namespace policies {

/// Runs `body` as the one task of a loop until it ends.
inline void run_task(reactor::loop& l, std::function<reactor::awaitable<void>()> body) {
  bool ended = false;
  reactor::task_group tasks(
      l, [&](std::string_view, std::exception_ptr) { ADD_FAILURE() << "the task threw"; });
  tasks.start("test", [&]() -> reactor::awaitable<void> {
    co_await body();
    ended = true;
    l.post([&] { l.stop(); });
  });
  l.run();
  // The task has ended but the group may not know yet; what else the loop does goes on waiting.
  if (l.simulated()) {
    l.run_until(l.now());
  } else {
    l.run();
  }
  EXPECT_TRUE(ended && tasks.empty()) << "the loop ran out of work while the test was waiting";
  if (!tasks.empty()) {
    tasks.cancel();
    l.run();
  }
}

struct evaluated {
  std::optional<value> answer;
  std::string error;  // empty when there is an answer
  reactor::error_code code;
  call_cost cost;
};

/// What `source`, the body of a function, returns in a sandbox of its own.
inline evaluated evaluate(std::string source, std::int64_t instructions = 2'000'000,
                          sandbox_limits limits = {}, std::vector<argument> arguments = {},
                          reactor::loop* on = nullptr, const std::function<void()>& afterwards = {},
                          author by = author::stranger) {
  reactor::loop own(reactor::loop::mode::simulated, 1);
  reactor::loop& l = on != nullptr ? *on : own;
  evaluated out;
  pack_files files{{"main.lua", std::move(source)}};
  auto box = sandbox::open(l, "test", std::move(files), limits, by);
  if (!box) {
    out.error = box.error().message();
    out.code = box.error().code;
    return out;
  }
  arguments.insert(arguments.begin(), argument(value("main")));
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto ran = co_await sandbox::run(*box, "evaluate", arguments, instructions);
    if (ran) {
      out.answer = *ran->answer;
    } else {
      out.error = ran.error().message();
      out.code = ran.error().code;
    }
    out.cost = ran.cost;
    if (afterwards) afterwards();
  });
  return out;
}

/// The answer as text, or "!" and the error.
inline std::string text_of(std::string source) {
  const evaluated e = evaluate(std::move(source));
  return e.answer ? to_text(*e.answer) : "!" + e.error;
}

}  // namespace policies
