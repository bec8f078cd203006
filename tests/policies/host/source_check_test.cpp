#include "policies/host/source_check.hpp"

#include "policies/host/pack.hpp"
#include "run.hpp"

#include <gmock/gmock.h>
#include <lua.hpp>

#include <filesystem>
#include <fstream>
#include <random>

namespace policies {
namespace {

using testing::HasSubstr;

/// "line: reason", or nothing.
std::string checked(std::string_view source) {
  const auto problem = check_source(source);
  return problem ? std::to_string(problem->line) + ": " + problem->reason : "";
}

TEST(SourceCheck, RefusesEveryFormOfA64BitOrImaginaryNumber) {
  for (const char* number :
       {"1LL", "1ll", "1lL", "1ULL", "1uLl", "0x1fLL", "0xFFull", "0b101LL", "1i", "1I", "2.5i",
        "1e3i", "0x1p4i", ".5i", "1LLU", "0x.8i", "1.i", "0LL", "00ull"}) {
    for (const char* around :
         {"return %", "local x = {%}", "x(%)", "return -%", "x=y.. %", "--[[ ]]x=%", "\n\r\n\t%"}) {
      std::string source(around);
      source.replace(source.find('%'), 1, number);
      EXPECT_THAT(checked(source), HasSubstr(number)) << source;
    }
  }
  EXPECT_EQ(checked("local a = 1\n-- 1LL\nreturn 7LL + 1"),
            "3: the number '7LL' is not available: no 64-bit and no imaginary numbers");
  EXPECT_EQ(checked("a = [[\n1LL\n]]\r\nb = 'x\\\ny' c = 1LL").substr(0, 2), "5:");
}

TEST(SourceCheck, LeavesTextAndCommentsAndOtherNumbersAlone) {
  for (const char* source : {"return '1LL'",
                             "return \"1i\"",
                             "-- 1LL",
                             "--[[ 1LL\n1i ]]",
                             "--[==[ 1LL ]] 1LL ]==]",
                             "return [[1LL]]",
                             "return [==[ ]] 1LL ]==]",
                             "return 0x1F",
                             "return 1e10",
                             "return 0xE+1",
                             "local LL = 1 return LL",
                             "return x1LL",
                             "return '\\'1LL'",
                             "return '\\\\' -- 1LL",
                             "return '\\z  \n 1LL'",
                             "#!/usr/bin/1LL\nreturn 1",
                             "return 1 ..LL",
                             "a.b1LL = 1",
                             "local _1i = 2",
                             "\xef\xbb\xbfreturn 1",
                             "",
                             "return a[1] --[ 1LL",
                             "--[=x 1LL\n",
                             "::a1LL:: goto a1LL"})
    EXPECT_EQ(checked(source), "") << source;
}

TEST(SourceCheck, RefusesCompiledLuaBehindAnyHeader) {
  for (const char* source :
       {"\033LJ\2", "\xef\xbb\xbf\033LJ\2", "#!x\n\033LJ", "\xef\xbb\xbf#x\r\n\033LJ"})
    EXPECT_THAT(checked(source), HasSubstr("compiled Lua")) << source;
}

/// Whether LuaJIT loads its FFI when it reads the source.
bool loads_ffi(const std::string& source) {
  lua_State* L = luaL_newstate();
  lua_pushcfunction(L, luaopen_package);
  lua_pushstring(L, LUA_LOADLIBNAME);
  lua_call(L, 1, 0);
  luaL_loadbuffer(L, source.data(), source.size(), "x");
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "ffi");
  const bool loaded = !lua_isnil(L, -1);
  lua_close(L);
  return loaded;
}

TEST(SourceCheck, SeesEveryNumberAtWhichLuaJitLoadsItsFfi) {
  ASSERT_TRUE(loads_ffi("return 1LL"));
  ASSERT_FALSE(loads_ffi("return '1LL'"));
  const char* const pieces[] = {
      "1",        "LL",         "ll",   "u",     "U",     "i",       "0x",
      "e",        "p",          "+",    "-",     ".",     "..",      "...",
      "--",       "[",          "]",    "[[",    "]]",    "=",       "[=",
      "[==[",     "]=",         "]==",  "]",     "\"",    "'",       "\\",
      "\\\\",     "\\'",        "\\z",  "\n",    "\r",    "\r\n",    " ",
      "\t",       "#",          "x",    "a",     "1LL",   "2i",      "0xfULL",
      "return",   "return 1LL", "x = ", "\\x41", "\\065", "\\u{41}", "\xef\xbb\xbf",
      "\xc3\xa4", "(",          ")",    "{",     "}",     ",",       "--[[",
      "--]]",     "f",          "9",    "0",     "\v",    "~=",      "::",
      ";",        "and ",       " or "};
  std::mt19937 random(7);
  std::size_t loaded = 0, refused = 0;
  for (int round = 0; round < 30'000; ++round) {
    // Beginnings that parse, so that the reader gets as far as the strange part.
    std::string source = round % 2 == 0 ? "return " : "local a, b = 1, x; ";
    const std::size_t count = 1 + random() % 8;
    for (std::size_t i = 0; i < count; ++i) source += pieces[random() % std::size(pieces)];
    const bool loads = loads_ffi(source), problem = check_source(source).has_value();
    loaded += loads;
    refused += problem;
    ASSERT_FALSE(loads && !problem) << testing::PrintToString(source);
  }
  EXPECT_GT(loaded, 300u);
  EXPECT_LT(refused, 30'000u);
}

TEST(SourceCheck, IsWhatAPackIsRefusedFor) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  const auto folder = std::filesystem::temp_directory_path() / "windlass-source-check";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "evil/lib");
  // The heap is filled in steps, so that the FFI that `1LL` asks for meets its end at some point of
  // its loading.
  std::ofstream(folder / "evil/policy.lua")
      << "local kept = {}\n"
         "for i = 1, 1e9 do\n"
         "  if not pcall(function() kept[#kept + 1] = ('x'):rep(100) .. i end) then break end\n"
         "end\n"
         "for i = 1, 200 do kept[#kept] = nil pcall(require, 'lib.number') end\n"
         "return {name = 'evil'}\n";
  std::ofstream(folder / "evil/lib/number.lua") << "-- a number\nreturn 1LL\n";
  std::vector<pack_report> reports;
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto tested = co_await test_packs(l, folder.string());
    if (tested) reports = std::move(*tested);
  });
  std::filesystem::remove_all(folder);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports[0].passed());
  ASSERT_TRUE(reports[0].fault);
  EXPECT_THAT(reports[0].fault->message(),
              HasSubstr("evil/lib/number.lua:2: the number '1LL' is not available"));
}

}  // namespace
}  // namespace policies
