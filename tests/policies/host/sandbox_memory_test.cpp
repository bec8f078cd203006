#include "run.hpp"

#include <gmock/gmock.h>

#include <iostream>

namespace policies {
namespace {

using reactor::errc;

/// What a pack may do that allocates: each ends with an answer when memory lasts.
const char* const programs[] = {
    "local t = {} for i = 1, 100 do t[i] = {i, tostring(i)} end return #t",
    "local f = {} for i = 1, 40 do f[i] = function() return i .. 'x' end end "
    "local n = 0 for i = 1, 40 do n = n + #f[i]() end return n",
    "local ok, why = pcall(function() error({code = ('x'):rep(2000)}) end) return type(why)",
    "local ok, why = pcall(function() local t = nil return t.x end) return why",
    "local n = 0 while true do local ok = pcall(function() local t = {} for i = 1, 50 do t['k' .. "
    "i] = i end "
    "end) n = n + 1 if n > 3 then return n end end",
    "local s = '' for i = 1, 60 do s = s .. i end return (s:gsub('1', '<%0>'))",
    "local m = require('lib.more') local n = 0 for k, v in pairs(m.make(30)) do n = n + v end "
    "return n",
    "local function f(n, ...) if n == 0 then return select('#', ...) end return f(n - 1, n, ...) "
    "end return f(120)",
    "local mt = {__index = function(t, k) return k .. k end, __concat = function(a, b) return 'c' "
    "end} "
    "local t = setmetatable({}, mt) return t.x .. t.y .. (t .. t)",
    "local w = setmetatable({}, {__mode = 'kv'}) for i = 1, 200 do w[i] = {} end return 1",
    "log('a', 1, {}) return table.concat({1, 2, 3}, ', ') .. string.format('%5d %q', 3, 'x')",
    "local t = {} for i = 1, 300 do t[i] = (i * 7919) % 300 end table.sort(t) return t",
};

struct tried {
  evaluated outcome;
  memory_trial trial;
};

tried with_failure(const char* source, std::uint64_t from, std::uint64_t count) {
  tried t;
  t.trial.fail_from = from;
  t.trial.fail_count = count;
  sandbox_limits limits;
  limits.trial = &t.trial;
  limits.heap_bytes = 4 * 1024 * 1024;
  reactor::loop l(reactor::loop::mode::simulated, 1);
  pack_files files{{"main.lua", source},
                   {"lib/more.lua",
                    "local t = {} function t.make(n) local out = {} for i = 1, n do "
                    "out['k' .. i] = i end return out end return t"}};
  auto box = sandbox::open(l, "test", std::move(files), limits);
  if (!box) {
    t.outcome.code = box.error().code;
    t.outcome.error = box.error().message();
    return t;
  }
  run_task(l, [&]() -> reactor::awaitable<void> {
    for (int again = 0; again < 2;
         ++again) {  // the state is good for the next call, whatever happened to this one
      std::vector<argument> arguments{argument(value("main"))};
      auto ran = co_await sandbox::run(*box, "evaluate", std::move(arguments), 2'000'000);
      if (ran) {
        t.outcome.answer = *ran->answer;
      } else {
        t.outcome.error = ran.error().message();
        t.outcome.code = ran.error().code;
      }
    }
  });
  return t;
}

/// The first allocation behind the opening of the sandbox, which is the same for all.
std::uint64_t opening() {
  memory_trial trial;
  sandbox_limits limits;
  limits.trial = &trial;
  reactor::loop l(reactor::loop::mode::simulated, 1);
  auto box = sandbox::open(l, "test", {}, limits);
  EXPECT_TRUE(box);
  return trial.asked;
}

TEST(SandboxMemory, SurvivesTheFailureOfEveryAllocation) {
  std::uint64_t points = 0, from = 0;
  const std::uint64_t opened = opening();
  for (const char* program : programs) {
    ASSERT_TRUE(with_failure(program, 0, 0).outcome.answer)
        << program << with_failure(program, 0, 0).outcome.error;
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}}) {
      // The opening is gone through once.
      for (std::uint64_t n = from;; ++n) {
        const tried t = with_failure(program, n, count);
        if (t.trial.failed == 0) break;
        ++points;
        if (!t.outcome.answer) {
          EXPECT_TRUE(t.outcome.code == errc::limit || t.outcome.code == errc::refused)
              << program << " at " << n << ": " << t.outcome.error;
          EXPECT_FALSE(t.outcome.error.empty());
        }
      }
      from = opened;
    }
  }
  std::cout << "## policy sandbox: " << points << " failing allocations survived\n";
  EXPECT_GT(points, 2000u);
}

TEST(SandboxMemory, SurvivesEveryLimitOfTheHeap) {
  for (const char* program : programs) {
    for (std::size_t bytes = 40'000; bytes < 240'000; bytes += 997) {
      sandbox_limits limits;
      limits.heap_bytes = bytes;
      const evaluated e = evaluate(program, 100'000, limits);
      EXPECT_TRUE(e.answer || !e.error.empty()) << bytes;
    }
  }
}

}  // namespace
}  // namespace policies
