// Packs whose source text is the attack, and packs that say strange things about themselves.

#include "bench/hostile/packs_table.hpp"

namespace bench::hostile {
namespace {

using namespace std::string_literals;

std::string times(std::size_t n, std::string_view piece) {
  std::string out;
  out.reserve(n * piece.size());
  while (n-- > 0) out += piece;
  return out;
}

std::string numbered(std::size_t n, std::string_view before, std::string_view after) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i)
    out += std::string(before) + std::to_string(i) + std::string(after);
  return out;
}

}  // namespace

void add_sources(std::vector<pack>& all) {
  using enum pack::verdict;
  for (const char* number : {"1LL", "1ULL", "0xfLL", "1i", "2.5i", "1e3I", "0b1ll", "7llu"})
    all.push_back({std::string("source: the number ") + number,
                   plans("return {look_again = " + std::string(number) + "}"), refused});
  all.push_back({"source: 1LL in a place that is never reached",
                 plans("if false then local x = 1LL end return {}"), refused});
  all.push_back({"source: 1LL in a text and a comment",
                 plans("local x = '1LL' --[[ 1LL ]] return {}"), answered});
  all.push_back(
      {"source: 1LL as a text in arithmetic", plans("return {look_again = '1LL' + 1}"), fault});
  all.push_back({"source: 1LL as a text for tonumber",
                 plans("return {look_again = tonumber('1LL') or 1}"), answered});
  all.push_back({"source: compiled Lua", "\033LJ\2\0\0"s, refused});
  all.push_back(
      {"source: compiled Lua behind a mark of byte order", "\xef\xbb\xbf\033LJ\2", refused});
  all.push_back({"source: compiled Lua behind a first line", "#!/usr/bin/lua\n\033LJ\2", refused});
  all.push_back({"source: nothing", "", refused});
  all.push_back({"source: a zero byte", "return\0{name = 'hostile'}"s, refused});
  all.push_back({"source: noise", "\x01\xff\xfe\x80((((", refused});
  all.push_back({"source: a text without end", "return {name = 'x", refused});
  all.push_back(
      {"source: a long bracket without end", "return [==[" + times(60'000, "]=]"), refused});
  all.push_back({"source: brackets, 60,000 deep", times(60'000, "("), refused});
  all.push_back({"source: tables, 30,000 deep", times(30'000, "{"), refused});
  all.push_back({"source: functions, 5,000 deep", times(5'000, "return function() "), refused});
  all.push_back({"source: blocks, 10,000 deep", times(10'000, "do "), refused});
  all.push_back({"source: minus, 60,000 times", "return " + times(60'000, "- ") + "1", refused});
  all.push_back({"source: not, 15,000 times", "return " + times(15'000, "not ") + "1", refused});
  all.push_back({"source: a concatenation of 10,000",
                 "local s = 'x' return " + times(10'000, "s..") + "s", refused});
  all.push_back({"source: a power of 10,000", "return " + times(10'000, "2^") + "2", refused});
  all.push_back({"source: or, 6,000 times",
                 "local a\nif " + times(6'000, "a or ") + "a then end\n" + plans("return {}"),
                 answered});
  all.push_back(
      {"source: elseif, 3,500 times",
       "local a\nif a then " + times(3'500, "elseif a then ") + "end\n" + plans("return {}"),
       answered});
  all.push_back({"source: goto, 8,000 times",
                 "do " + times(8'000, "goto a ") + "::a:: end\n" + plans("return {}"), answered});
  all.push_back({"source: labels, 5,000",
                 "do " + numbered(5'000, "::l", ":: ") + "end\n" + plans("return {}"), refused});
  all.push_back({"source: gotos to 2,000 labels",
                 "do " + numbered(2'000, "goto l", " ") + numbered(2'000, "::l", ":: ") + "end\n" +
                     plans("return {}"),
                 refused});
  all.push_back(
      {"source: breaks, 5,000",
       "while true do " + times(5'000, "if x then break end ") + "break end " + plans("return {}"),
       refused});
  all.push_back({"source: 300 locals", times(300, "local a ") + plans("return {}"), refused});
  all.push_back({"source: 10,000 names on the left",
                 "local " + numbered(10'000, "a", ",") + "b = 1", refused});
  all.push_back({"source: 60,000 numbers",
                 "local t = {" + times(25'000, "1,") + "}\n" + plans("return {}"), answered});
  all.push_back({"source: 5,000 names in a table",
                 "local t = {" + numbered(5'000, "k", "=1,") + "}\n" + plans("return {}"),
                 answered});
  all.push_back({"source: 3,000 functions",
                 times(3'000, "(function() end)()\n;") + plans("return {}"), answered});
  all.push_back({"source: 60,000 lines", times(60'000, "\n") + plans("return {}"), answered});
  all.push_back(
      {"source: a line of 60,000 bytes with a mistake", times(60'000, " ") + "=", refused});
  all.push_back(
      {"source: larger than a file may be", times(70'000, "\n") + plans("return {}"), refused});
  all.push_back({"source: it returns nothing", "local x = 1", refused});
  all.push_back({"source: it returns a text", "return 'hostile'", refused});
  all.push_back({"source: it returns a function", "return function() end", refused});
  all.push_back({"source: it raises nil", "error()", refused});
  all.push_back({"source: it raises itself",
                 "error(setmetatable({}, {__tostring = function() error('again') end}))", refused});
  all.push_back({"source: it requires itself", "return require('policy')", refused});
  all.push_back({"about: no name", "return {}", refused});
  all.push_back({"about: a name with control characters", "return {name = '\\27[31m'}", refused});
  all.push_back({"about: a name of 1 KB", "return {name = ('x'):rep(1000)}", refused});
  all.push_back({"about: a name that is a path", "return {name = '../../x'}", refused});
  all.push_back({"about: a version with control characters",
                 "return {name = 'hostile', version = '\\27[2J'}", refused});
  all.push_back({"about: a version of 400 KB",
                 "return {name = 'hostile', version = ('x'):rep(400000)}", refused});
  all.push_back(
      {"about: an order of not-a-number", "return {name = 'hostile', order = 0 / 0}", refused});
  all.push_back(
      {"about: an order of infinity", "return {name = 'hostile', order = -1 / 0}", refused});
  all.push_back(
      {"about: applies to a text", "return {name = 'hostile', applies = 'all'}", refused});
  all.push_back({"about: applies to a function",
                 "return {name = 'hostile', applies = {clusters = {a = pairs}}}", refused});
  all.push_back({"about: applies to itself",
                 "local t = {} t.clusters = t return {name = 'hostile', applies = t}", refused});
  all.push_back({"about: applies to 50,000 labels",
                 "local t = {} for i = 1, 20000 do t['l' .. i] = true end return {name = "
                 "'hostile', applies = {clusters = t}}",
                 refused});
  all.push_back({"about: applies to a list with a gap",
                 "return {name = 'hostile', applies = {apis = {'a', nil, 'b'}}}", refused});
  all.push_back({"about: a hook that is no function",
                 "return {name = 'hostile', rollout = {plan = 'x'}}", refused});
  all.push_back({"about: a hook that can be called",
                 "return {name = 'hostile', rollout = {plan = setmetatable({}, {__call = "
                 "function() return {} end})}}",
                 refused});
  all.push_back({"about: hooks that are a function",
                 "return {name = 'hostile', rollout = function() end}", refused});
  all.push_back({"about: keys that are tables", "return {name = 'hostile', [{}] = 1}", refused});
}

}  // namespace bench::hostile
