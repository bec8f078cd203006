#include "policies/host/matcher.hpp"

#include <gtest/gtest.h>
#include <lua.hpp>

#include <memory>
#include <random>
#include <string>

namespace policies {
namespace {

using namespace std::string_literals;

/// What a find gave, as one comparable text: "3-5 (cap)(@2)" or "none" or "!error".
std::string ours(const std::string& text, const std::string& pattern) {
  matcher m(text, pattern, 1'000'000);
  matcher::span whole;
  const bool found = is_literal_pattern(pattern) ? m.search_plain(0, whole) : m.search(0, whole);
  if (m.error() != nullptr) return std::string("!") + m.error();
  if (!found) return "none";
  std::string out = std::to_string(whole.begin + 1) + "-" + std::to_string(whole.end);
  for (std::size_t i = 0; i < m.captures(); ++i) {
    const matcher::capture c = m.get(i, whole);
    if (m.error() != nullptr) return std::string("!") + m.error();
    out += c.length == matcher::position
               ? "(@" + std::to_string(c.begin + 1) + ")"
               : "(" + text.substr(c.begin, static_cast<std::size_t>(c.length)) + ")";
  }
  return out;
}

class stock_lua {
public:
  stock_lua() : lua_(luaL_newstate(), &lua_close) { luaL_openlibs(lua_.get()); }
  std::string find(const std::string& text, const std::string& pattern) {
    lua_State* L = lua_.get();
    lua_settop(L, 0);
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "find");
    lua_remove(L, 1);
    lua_pushlstring(L, text.data(), text.size());
    lua_pushlstring(L, pattern.data(), pattern.size());
    if (lua_pcall(L, 2, LUA_MULTRET, 0) != 0) return std::string("!") + lua_tostring(L, -1);
    if (lua_isnil(L, 1)) return "none";
    std::string out = std::string(lua_tostring(L, 1)) + "-" + lua_tostring(L, 2);
    for (int i = 3; i <= lua_gettop(L); ++i) {
      const bool place = lua_type(L, i) == LUA_TNUMBER;
      std::size_t size = 0;
      const char* data = lua_tolstring(L, i, &size);
      out += (place ? "(@" : "(") + std::string(data, size) + ")";
    }
    return out;
  }

private:
  std::unique_ptr<lua_State, decltype(&lua_close)> lua_;
};

TEST(Matcher, FindsWhatStockLuaFinds) {
  stock_lua stock;
  const std::string texts[] = {"",
                               "a",
                               "abc",
                               "hello world",
                               "key = value",
                               "  trim me  ",
                               "a.b.c-d",
                               "THE (quick) fox",
                               "[x]]",
                               "f(a(b)c)d",
                               "aaa",
                               "xyzzy xyzzy",
                               "2026-11-21T10:00:00Z",
                               "a]",
                               "%d",
                               "^start$",
                               "nul\0l"s,
                               "\xff\x80\x01"};
  const std::string patterns[] = {"",
                                  "a",
                                  "^a",
                                  "a$",
                                  "^$",
                                  "(%w+)%s*=%s*(%w+)",
                                  "^%s*(.-)%s*$",
                                  "%b()",
                                  "%f[%w]%w+",
                                  "()a()",
                                  "[%a_][%w_]*",
                                  "[^%s]+",
                                  "[]]",
                                  "[^]]",
                                  "a-b",
                                  ".-",
                                  ".*",
                                  "(.)%1",
                                  "(%w+) %1",
                                  "%d+-%d+-%d+",
                                  "[a-c]+",
                                  "[a-]+",
                                  "[%a-z]+",
                                  "a?b?c?",
                                  "%S+$",
                                  "%",
                                  "[a",
                                  "(a",
                                  "a)",
                                  "%1",
                                  "%f",
                                  "%b",
                                  "%bx",
                                  "[%",
                                  "[]",
                                  "^^",
                                  "a^",
                                  "$a",
                                  "%$$",
                                  "%.",
                                  "(a*(.)%w(%s*))",
                                  "()",
                                  "((.)(.))",
                                  "%g+",
                                  "%G",
                                  "%z",
                                  "%x%X",
                                  "%u%l*",
                                  "%p",
                                  "%c",
                                  "[%z]",
                                  "[^%z]+",
                                  "(()a)",
                                  "()%1",
                                  "%0"};
  for (const auto& text : texts) {
    for (const auto& pattern : patterns)
      EXPECT_EQ(ours(text, pattern), stock.find(text, pattern)) << text << " | " << pattern;
  }
}

TEST(Matcher, AgreesWithStockLuaOnRandomPatterns) {
  stock_lua stock;
  std::mt19937 random(7);
  const std::string alphabet = "aab1 .%%[]^-*+?()$wsdfbl01";
  const std::string letters = "aab1 b(.)";
  for (int i = 0; i < 200'000; ++i) {
    std::string pattern, text;
    for (std::size_t n = random() % 8; n > 0; --n) pattern += alphabet[random() % alphabet.size()];
    for (std::size_t n = random() % 10; n > 0; --n) text += letters[random() % letters.size()];
    ASSERT_EQ(ours(text, pattern), stock.find(text, pattern)) << text << " | " << pattern;
  }
}

TEST(Matcher, GivesUpOnPatternsThatBacktrackForSeconds) {
  const std::string text(400, 'a');
  const std::string pattern = "a*a*a*a*a*a*a*b";
  matcher m(text, pattern, 100'000);
  matcher::span whole;
  EXPECT_FALSE(m.search(0, whole));
  EXPECT_TRUE(m.exhausted());
  EXPECT_LE(m.steps(), 100'500u);
}

TEST(Matcher, BoundsLiteralSearchesToo) {
  const std::string text(200'000, 'a');
  const std::string pattern = std::string(100'000, 'a') + "b";
  matcher m(text, pattern, 100'000);
  matcher::span whole;
  EXPECT_FALSE(m.search_plain(0, whole));
  EXPECT_TRUE(m.exhausted());
}

TEST(Matcher, RefusesPatternsThatNestTooDeeply) {
  std::string pattern;
  for (int i = 0; i < 300; ++i) pattern += "a?";
  const std::string text(300, 'a');
  matcher m(text, pattern, 1'000'000);
  matcher::span whole;
  EXPECT_FALSE(m.search(0, whole));
  EXPECT_STREQ(m.error(), "pattern too complex");
}

TEST(Matcher, FindsLiteralText) {
  matcher m("a.b.c", ".c", 1000);
  matcher::span whole;
  ASSERT_TRUE(m.search_plain(0, whole));
  EXPECT_EQ(whole.begin, 3u);
  EXPECT_EQ(whole.end, 5u);
  EXPECT_FALSE(m.search_plain(4, whole));
}

}  // namespace
}  // namespace policies
