#include "policies/host/sandbox.hpp"

#include "run.hpp"

#include <gmock/gmock.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace policies {
namespace {

using reactor::errc;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Sandbox, RunsPlainLua) {
  EXPECT_EQ(text_of("local t = {} for i = 1, 3 do t[i] = i * i end return t"), "[1,4,9]");
  EXPECT_EQ(text_of("return {a = 1, b = {'x', true}, c = 0.5}"),
            R"({"a":1,"b":["x",true],"c":0.5})");
}

TEST(Sandbox, NamesFileAndLineOfAnError) {
  EXPECT_EQ(text_of("local x\nreturn x.y"),
            "!test/main.lua:2: attempt to index local 'x' (a nil value)");
  EXPECT_THAT(text_of("return 1 +"), StartsWith("!test/main.lua:1: unexpected symbol near"));
  EXPECT_EQ(text_of("\nerror('no')"), "!test/main.lua:2: no");
  EXPECT_EQ(text_of("\n\nlocal t = {3, 'a'} table.sort(t)"),
            "!test/main.lua:3: attempt to compare string with number");
}

TEST(Sandbox, OffersNothingThatReachesOut) {
  for (const char* name :
       {"io",         "os",       "ffi",    "jit",     "debug",   "package",  "load",
        "loadstring", "loadfile", "dofile", "getfenv", "setfenv", "newproxy", "collectgarbage",
        "coroutine",  "module",   "rawset", "next",    "xpcall",  "gcinfo"}) {
    EXPECT_THAT(text_of(std::string("return ") + name), HasSubstr("no global")) << name;
  }
  for (const char* member : {"string.dump", "math.random", "math.randomseed"})
    EXPECT_EQ(text_of(std::string("return ") + member + " == nil"), "true") << member;
}

TEST(Sandbox, KeepsTheStringMetatableAndLibrariesAsTheyAre) {
  EXPECT_EQ(text_of("return getmetatable('')"), "false");
  EXPECT_THAT(text_of("string.find = 1"), HasSubstr("string cannot be changed"));
  EXPECT_THAT(text_of("table.x = 1"), HasSubstr("table cannot be changed"));
  EXPECT_THAT(text_of("setmetatable(string, {})"), HasSubstr("protected"));
  EXPECT_THAT(text_of("setmetatable(_G, nil)"), HasSubstr("protected"));
  EXPECT_THAT(text_of("x = 1"), HasSubstr("policies keep no state"));
  EXPECT_THAT(text_of("_G.pairs = 1"), HasSubstr("policies keep no state"));
  EXPECT_EQ(text_of("return rawget(_G, 'pairs') == nil and rawget(string, 'find') == nil"), "true");
}

TEST(Sandbox, RefusesCompiledLua) {
  EXPECT_THAT(text_of("\033LJ\2\0\0"), HasSubstr("only source text is accepted"));
}

TEST(Sandbox, WhatWeWroteIsCompiledOnceAndSaysTheSame) {
  const auto ours = [](const char* source) {
    const evaluated e = evaluate(source, 2'000'000, {}, {}, nullptr, {}, author::ourselves);
    return e.answer ? to_text(*e.answer) : "!" + e.error;
  };
  for (const char* again : {"once", "twice"}) {
    EXPECT_EQ(ours("return 1"), "1") << again;
    EXPECT_EQ(ours("return 2"), "2") << again;
    EXPECT_EQ(ours("\nlocal x\nreturn x.y"), text_of("\nlocal x\nreturn x.y")) << again;
    EXPECT_EQ(ours("return 1 +"), text_of("return 1 +")) << again;
    EXPECT_THAT(ours("while true do end"), HasSubstr("budget")) << again;
  }
}

TEST(Sandbox, EndsLoopsAtTheBudget) {
  for (const char* source :
       {"while true do end", "repeat until false", "for i = 1, 1e15 do end",
        "local function f() return f() end f()", "::a:: goto a", "while true do pcall(error) end",
        "while true do pcall(function() while true do end end) end",
        "local function f() pcall(f) return f() end f()",
        "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
        "local m = {__lt = function() while true do end end} return setmetatable({}, m) < "
        "setmetatable({}, m)",
        "local m = {__concat = function() while true do end end} return setmetatable({}, m) .. 'x'",
        "table.sort({2, 1}, function() while true do end end)",
        "(('x'):rep(10)):gsub('x', function() while true do end end)",
        "tostring(setmetatable({}, {__tostring = function() while true do end end}))",
        "for k in pairs({1}) do while true do end end",
        "for _ in ('x'):gmatch('x') do while true do end end",
        "local t = {} while true do t[#t % 10 + 1] = {} end"}) {
    const evaluated e = evaluate(source, 200'000);
    EXPECT_EQ(e.code, errc::limit) << source;
    EXPECT_THAT(e.error, HasSubstr("200000 instructions")) << source;
  }
}

TEST(Sandbox, PausesOftenEnough) {
  const evaluated e =
      evaluate("local n = 0 for i = 1, 250000 do n = n + i end return n", 2'000'000);
  ASSERT_TRUE(e.answer) << e.error;
  EXPECT_GE(e.cost.turns, static_cast<std::size_t>(e.cost.instructions / 11'000));
  EXPECT_GE(e.cost.turns, 50u);
}

TEST(Sandbox, SaysWhatACallTookThatFailed) {
  const evaluated looped = evaluate("while true do end", 200'000);
  EXPECT_GE(looped.cost.instructions, 199'000);
  EXPECT_GT(looped.cost.turns, 10u);
  const evaluated raised = evaluate("error('no')", 200'000);
  EXPECT_EQ(raised.code, errc::refused);
  EXPECT_LT(raised.cost.instructions, 20'000);
  EXPECT_EQ(raised.cost.turns, 1u);
}

/// How many pieces a call is cut into depends on how its state hashes, which no seed repeats.
TEST(Sandbox, ACallIsOneJobWhereJobsTakeTime) {
  const char* source = "local n = 0 for i = 1, 250000 do n = n + i end return n";
  for (const std::uint64_t seed : {1, 2, 3}) {
    reactor::loop l(reactor::loop::mode::simulated, seed);
    l.set_longest_job(std::chrono::seconds(1));
    const auto before = l.now();
    const evaluated e = evaluate(source, 2'000'000, {}, {}, &l);
    ASSERT_TRUE(e.answer) << e.error;
    EXPECT_EQ(e.cost.turns, 1u);
    EXPECT_GT(l.now(), before);
    EXPECT_EQ(evaluate("while true do end", 200'000, {}, {}, &l).code, errc::limit);
  }
}

TEST(Sandbox, LetsOtherTasksRunInBetween) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  int turns = 0;
  bool ended = false;
  reactor::task_group tasks(l);
  tasks.start("other", [&]() -> reactor::awaitable<void> {
    while (!ended) {
      ++turns;
      co_await l.yield();
    }
  });
  pack_files files{{"main.lua", "for i = 1, 1e15 do end"}};
  auto box = *sandbox::open(l, "test", files);
  tasks.start("policy", [&]() -> reactor::awaitable<void> {
    std::vector<argument> arguments{argument(value("main"))};
    auto ran = co_await sandbox::run(box, "evaluate", std::move(arguments), 1'000'000);
    EXPECT_FALSE(ran);
    ended = true;
  });
  l.run();
  EXPECT_GE(turns, 90);
}

TEST(Sandbox, StopsAtTheMemoryCap) {
  for (const char* source : {"local t = {} while true do t[#t + 1] = {1, 2, 3} end",
                             "local s = 'x' while true do s = s .. s end",
                             "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
                             "local s = 'x' local function f() s = s .. s return f() end f()"}) {
    sandbox_limits limits;
    limits.heap_bytes = 4 * 1024 * 1024;
    const evaluated e = evaluate(source, 500'000'000, limits);
    EXPECT_EQ(e.code, errc::limit) << source << e.error;
    EXPECT_THAT(e.error, HasSubstr("not enough memory")) << source;
  }
}

TEST(Sandbox, SurvivesACatchOfTheMemoryError) {
  sandbox_limits limits;
  limits.heap_bytes = 4 * 1024 * 1024;
  const evaluated e = evaluate(
      "local kept = {} while true do pcall(function() for i = 1, 1e9 do kept[#kept + 1] = "
      "('x'):rep(100) .. i end end) end",
      3'000'000, limits);
  EXPECT_EQ(e.code, errc::limit) << e.error;
}

TEST(Sandbox, ReportsTooLittleMemoryToEvenBegin) {
  for (std::size_t bytes = 0; bytes < 200'000; bytes += 1999) {
    sandbox_limits limits;
    limits.heap_bytes = bytes;
    const evaluated e = evaluate("return 1", 10'000, limits);
    EXPECT_TRUE(e.answer || e.code == errc::limit) << bytes << e.error;
  }
}

TEST(Sandbox, BoundsDeepRecursion) {
  const evaluated e =
      evaluate("local function f(n) return 1 + f(n + 1) end return f(1)", 5'000'000);
  EXPECT_THAT(e.error, HasSubstr("stack overflow"));
  EXPECT_EQ(text_of("local function f(n) return 1 + f(n + 1) end return (pcall(f, 1))"), "false");
}

TEST(Sandbox, BoundsTextFunctions) {
  EXPECT_THAT(text_of("return ('x'):rep(1e9)"), HasSubstr("longer than"));
  EXPECT_THAT(text_of("return ('x'):rep(1e300, 'y')"), HasSubstr("longer than"));
  EXPECT_THAT(text_of("return ('x'):rep(500000):gsub('x', ('y'):rep(100))"), HasSubstr("!"));
  EXPECT_THAT(text_of("return string.format('%500d', 1)"), HasSubstr("no conversion"));
  EXPECT_THAT(text_of("return ('a'):rep(400):find(('a*'):rep(20) .. 'b')"),
              HasSubstr("too many steps"));
  EXPECT_THAT(text_of("return {('x'):rep(300):byte(1, -1)}"), HasSubstr("more than 250"));
  EXPECT_THAT(text_of("local t = {} for i = 1, 300 do t[i] = i end return {unpack(t)}"),
              HasSubstr("more than 250"));
}

TEST(Sandbox, TextFunctionsAnswerAsStockLuaDoes) {
  EXPECT_EQ(text_of("return {('hello'):find('l'), ('hello'):sub(-3), ('hello'):upper(), "
                    "('abc'):reverse(), #('abc')}"),
            R"([3,"llo","HELLO","cba",3])");
  EXPECT_EQ(text_of("return {('hello'):find('l', -2)}"), "[4,4]");
  EXPECT_EQ(text_of("return {('key = value'):match('(%w+) = (%w+)')}"), R"(["key","value"])");
  EXPECT_EQ(text_of("return {('hello world'):gsub('o', '0')}"), R"(["hell0 w0rld",2])");
  EXPECT_EQ(text_of("return {('hello'):gsub('', '-')}"), R"(["-h-e-l-l-o-",6])");
  EXPECT_EQ(text_of("return {('abc'):gsub('%w*', 'x')}"), R"(["xx",2])");
  EXPECT_EQ(text_of("return {('abc def'):gsub('(%w)(%w*)', '%2%1 %0')}"),
            R"(["bca abc efd def",2])");
  EXPECT_EQ(text_of("return {('$a $b'):gsub('%$(%w+)', {a = 'x', b = false})}"), R"(["x $b",2])");
  EXPECT_EQ(text_of("return {('abc'):gsub('.', function(c) if c == 'b' then return 'X' end end)}"),
            R"(["aXc",3])");
  EXPECT_EQ(text_of("return {('aaa'):gsub('^a', 'b')}"), R"(["baa",1])");
  EXPECT_EQ(text_of("return {('aaa'):gsub('a', 'b', 2)}"), R"(["bba",2])");
  EXPECT_EQ(
      text_of(
          "local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[k] = v end return t"),
      R"({"a":"1","b":"2"})");
  EXPECT_EQ(
      text_of("local t = {} for w in ('one two'):gmatch('%a+') do t[#t + 1] = w end return t"),
      R"(["one","two"])");
  EXPECT_EQ(text_of("return string.format('%5d|%-5s|%05.1f|%x|%q|%%|%s', 42, 'ab', 3.14159, 255, "
                    "'a\"b', true)"),
            R"("   42|ab   |003.1|ff|\"a\\\"b\"|%|true")");
  EXPECT_EQ(
      text_of("return {tonumber('10'), tonumber('ff', 16), tonumber(' 0x10 '), tonumber('1e2')}"),
      "[10,255,16,100]");
  EXPECT_EQ(
      text_of(
          "return tonumber('x') == nil and tonumber('', 16) == nil and tonumber('8', 8) == nil"),
      "true");
  EXPECT_EQ(text_of("return table.concat({1, 'b', 3}, '-', 2)"), R"("b-3")");
  EXPECT_EQ(text_of("local t = {1, 3} table.insert(t, 2, 2) table.insert(t, 4) local r = "
                    "table.remove(t, 1) return {t, r}"),
            "[[2,3,4],1]");
  EXPECT_EQ(text_of("return {unpack({1, 2, 3}, 2)}"), "[2,3]");
  EXPECT_EQ(text_of("return tostring(nil) .. tostring(1.5) .. tostring({}) .. tostring(pairs)"),
            R"("nil1.5tablefunction")");
}

TEST(Sandbox, SortIsStableAndSurvivesBadComparators) {
  EXPECT_EQ(text_of("local t = {3, 1, 2} table.sort(t) return t"), "[1,2,3]");
  EXPECT_EQ(text_of("local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t"),
            "[3,2,1]");
  EXPECT_EQ(text_of("local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function() return "
                    "true end) return #t"),
            "100");
  EXPECT_EQ(text_of("local t = {'b1', 'a1', 'b0', 'a0'} table.sort(t, function(a, b) return "
                    "a:sub(1, 1) < b:sub(1, 1) end) return t"),
            R"(["a1","a0","b1","b0"])");
  EXPECT_EQ(text_of("local t = {5, 4} local ok = pcall(table.sort, t, function() error('x') end) "
                    "return {ok, t}"),
            "[false,[5,4]]");
}

TEST(Sandbox, PairsHasTheSameOrderInEveryRun) {
  EXPECT_EQ(text_of("local out = {} for k in pairs({b = 1, a = 1, [3] = 1, [1] = 1, [true] = 1, c "
                    "= 1, [-1.5] = 1}) do "
                    "out[#out + 1] = tostring(k) end return table.concat(out, ' ')"),
            R"("-1.5 1 3 a b c true")");
  EXPECT_EQ(text_of("local t = {} for i = 1, 3000 do t['k' .. i] = i end local last = '' for k in "
                    "pairs(t) do "
                    "if k <= last then return 'wrong' end last = k end return last"),
            R"("k999")");
  EXPECT_EQ(
      text_of(
          "local t = {a = 1, b = 2, c = 3} for k in pairs(t) do t[k] = nil end return empty(t)"),
      "true");
  EXPECT_THAT(text_of("for k in pairs({[{}] = 1}) do end"), HasSubstr("no order"));
}

TEST(Sandbox, RefusesAnswersThatAreNoPlainData) {
  EXPECT_EQ(text_of("return {start = {'a', print and 1 or function() end}}").substr(0, 1), "!");
  EXPECT_EQ(text_of("return {start = {'a', function() end}}"),
            "!start[2]: is a function; only plain data can be answered");
  EXPECT_EQ(text_of("return {a = {b = 0/0}}"), "!a.b: is not a finite number");
  EXPECT_EQ(text_of("return {a = math.huge}"), "!a: is not a finite number");
  EXPECT_EQ(text_of("local t = {} t.t = t return t"), "!t: contains itself");
  EXPECT_EQ(text_of("return {1, 2, x = 3}"), "!the answer: mixes list entries with other keys");
  EXPECT_THAT(text_of("return {start = {'a', nil, 'c'}}"), HasSubstr("a list with a gap"));
  EXPECT_EQ(text_of("return {[true] = 1}"), "!the answer: has a boolean as key");
  EXPECT_EQ(text_of("return {['w-1'] = '\\255'}"), "![\"w-1\"]: is not valid UTF-8");
  EXPECT_THAT(
      text_of("local t = {} local top = t for i = 1, 40 do t.x = {} t = t.x end return top"),
      HasSubstr("nested more than 16"));
  EXPECT_THAT(text_of("local t = {} for i = 1, 100001 do t[i] = i end return t"),
              HasSubstr("more than 100000 values"));
}

TEST(Sandbox, KeepsNothingOfAnErrorThatIsNoText) {
  EXPECT_EQ(text_of("error({})"), "!raised an error that is no text but a table");
  EXPECT_EQ(text_of("error(setmetatable({}, {__tostring = function() while true do end end}))"),
            "!raised an error that is no text but a table");
}

TEST(Sandbox, EndsACallThatTakesTooLongByTheClock) {
  reactor::loop l;  // virtual time stands still while a policy is ready to run
  sandbox_limits limits;
  limits.wall_time = std::chrono::milliseconds(20);
  const evaluated e = evaluate("while true do end", 1'000'000'000'000, limits, {}, &l);
  EXPECT_EQ(e.code, errc::limit);
  EXPECT_THAT(e.error, HasSubstr("gave up after 20ms, the longest"));
}

TEST(Sandbox, EndsACallThatTakesTooMuchOfAProcessor) {
  reactor::loop l;
  sandbox_limits limits;
  limits.processor_time = std::chrono::milliseconds(20);
  const evaluated e = evaluate("while true do end", 1'000'000'000'000, limits, {}, &l);
  EXPECT_EQ(e.code, errc::limit);
  EXPECT_THAT(e.error, HasSubstr("gave up after 20ms of processor time"));
}

/// Nobody gets a verdict for what the rest of the machine does.
TEST(Sandbox, CountsTheProcessorsTimeAndNotTheClocks) {
  reactor::loop l;
  constexpr std::size_t beside = 6;
  std::atomic<bool> ended{false};
  std::vector<std::thread> busy;
  for (std::size_t i = 0; i < beside * std::thread::hardware_concurrency(); ++i)
    busy.emplace_back([&] {
      while (!ended) {
      }
    });
  sandbox_limits limits;
  const reactor::steady_time began = l.now();
  const evaluated e =
      evaluate("local n = 0 for i = 1, 3e6 do n = n + i end return n", 100'000'000, limits, {}, &l);
  const reactor::nanoseconds took = l.now() - began;
  ended = true;
  for (std::thread& t : busy) t.join();
  EXPECT_EQ(e.error, "");
  EXPECT_GT(e.cost.processor_time.count(), 0);
  EXPECT_LT(e.cost.processor_time, took / 2);
}

TEST(Sandbox, LeavesNothingBehindWhenCancelledAtAnyTurn) {
  for (int at = 0; at < 12; ++at) {
    reactor::loop l(reactor::loop::mode::simulated, 1);
    pack_files files{
        {"main.lua", "local n = 0 for i = 1, 50000 do n = n + #tostring(i) end return n"}};
    auto box = *sandbox::open(l, "test", files);
    bool ended = false;
    reactor::task_group tasks(l);
    tasks.start("policy", [&]() -> reactor::awaitable<void> {
      std::vector<argument> arguments{argument(value("main"))};
      auto ran = co_await sandbox::run(box, "evaluate", std::move(arguments), 5'000'000);
      ended = true;
    });
    tasks.start("stop", [&]() -> reactor::awaitable<void> {
      for (int i = 0; i < at; ++i) co_await l.yield();
      l.post([&] { tasks.cancel(); });
    });
    l.run();
    EXPECT_FALSE(ended);
    EXPECT_TRUE(tasks.empty());
    // The sandbox still works: another call in the same state.
    run_task(l, [&]() -> reactor::awaitable<void> {
      std::vector<argument> arguments{argument(value("main"))};
      auto again = co_await sandbox::run(box, "evaluate", std::move(arguments), 5'000'000);
      EXPECT_TRUE(again.has_value()) << again.error().message();
    });
  }
}

TEST(Sandbox, RunsCallsBesideEachOther) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  pack_files files{{"main.lua",
                    "local id = ... local n = 0 for i = 1, 20000 * id do n = n + 1 end return id * "
                    "1000000 + n"}};
  auto box = *sandbox::open(l, "test", files);
  std::vector<std::string> answers;
  reactor::task_group tasks(l);
  for (int id = 3; id >= 1; --id) {
    tasks.start("policy", [&, id]() -> reactor::awaitable<void> {
      std::vector<argument> arguments{argument(value("main")), argument(value(id))};
      auto ran = co_await sandbox::run(box, "evaluate", std::move(arguments), 5'000'000);
      answers.push_back(ran ? to_text(*ran->answer) : ran.error().message());
    });
  }
  l.run();
  EXPECT_THAT(answers, testing::ElementsAre("1020000", "2040000", "3060000"));
}

TEST(Sandbox, KeepsWhatAPolicyLogs) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  pack_files files{
      {"main.lua", "log('a', 1, nil, {}) for i = 1, 1000 do log(('x'):rep(5000)) end"}};
  auto box = *sandbox::open(l, "test", files);
  run_task(l, [&]() -> reactor::awaitable<void> {
    std::vector<argument> arguments{argument(value("main"))};
    auto ran = co_await sandbox::run(box, "evaluate", std::move(arguments), 5'000'000);
    EXPECT_TRUE(ran.has_value());
    if (!ran) co_return;
    EXPECT_EQ(ran->log.size(), 100u);
    EXPECT_EQ(ran->log[0], "a 1 nil table");
    EXPECT_EQ(ran->log[1].size(), 1000u);
  });
}

}  // namespace
}  // namespace policies
