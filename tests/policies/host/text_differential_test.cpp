#include "run.hpp"

#include <lua.hpp>

#include <memory>

namespace policies {
namespace {

/// Calls every function on text with random patterns, texts and arguments, and gathers what came
/// back. A generator of its own: both sides must draw the same. Errors count as one outcome, since
/// their words are ours.
constexpr const char* experiment = R"lua(
local seed = %d
local function draw(n)
  seed = (seed * 69069 + 12345) %% 2147483647
  return seed %% n
end
local function word(letters, most)
  local out = ""
  for _ = 1, draw(most + 1) do
    local at = draw(#letters) + 1
    out = out .. letters:sub(at, at)
  end
  return out
end
local out = {}
local function keep(...)
  local n = select("#", ...)
  for i = 1, n do out[#out + 1] = tostring((select(i, ...))) end
end
local function try(name, f, ...)
  local function pack_up(ok, ...)
    if not ok then
      out[#out + 1] = name .. " raised"
    else
      keep(name, ...)
    end
  end
  pack_up(pcall(f, ...))
end
local letters, signs = "aab1 b(.)", "aab1 .%%%%[]^-*+?()$wsdfbl01"
for _ = 1, %d do
  local text, pattern = word(letters, 10), word(signs, 7)
  local by = word("ab%%01x", 4)
  local from, limit = draw(14) - 4, draw(4)
  try("find", string.find, text, pattern, from)
  try("plain", string.find, text, word(letters, 2), from, true)
  try("match", string.match, text, pattern, from)
  -- A capture that never ends is an error in ours even where no part of it is asked for.
  if pcall(string.gsub, text, pattern, {}) then
    try("gsub", string.gsub, text, pattern, by)
    try("gsub limited", string.gsub, text, pattern, by, limit)
  end
  try("gsub table", string.gsub, text, pattern, { a = "<a>", b = false, ["1"] = 7 })
  try("gsub function", string.gsub, text, pattern, function(a, b) return a and b and a .. b or nil end)
  try("gmatch", function()
    local all = {}
    for a, b in string.gmatch(text, (pattern:gsub("^%%^", ""))) do
      all[#all + 1] = tostring(a) .. ":" .. tostring(b)
      if #all > 20 then break end
    end
    return table.concat(all, ",")
  end)
  try("sub", string.sub, text, from, limit + from)
  try("byte", string.byte, text, from, from + 1)
  try("rep", string.rep, text, draw(4) - 1)
  try("reverse", string.reverse, text)
  try("upper", string.upper, text)
  try("format", string.format, "%%" .. word("-+ 0", 2) .. draw(9) .. word("dxsg", 1) .. "|", draw(1000))
  try("format", string.format, "%%" .. draw(6) .. "." .. draw(5) .. word("sq", 1) .. "|", text)
end
return table.concat(out, "\n")
)lua";

std::string stock_answer(const std::string& source) {
  const std::unique_ptr<lua_State, void (*)(lua_State*)> state(luaL_newstate(), lua_close);
  lua_State* L = state.get();
  luaL_openlibs(L);
  if (luaL_dostring(L, source.c_str()) != 0) return std::string("!") + lua_tostring(L, -1);
  std::size_t size = 0;
  const char* text = lua_tolstring(L, -1, &size);
  return {text, size};
}

TEST(PolicyText, AgreesWithStockLuaOnRandomCalls) {
  for (int seed = 1; seed <= 40; ++seed) {
    char source[8192];
    std::snprintf(source, sizeof source, experiment, seed * 7919, 150);
    const evaluated ours = evaluate(source, 500'000'000);
    ASSERT_TRUE(ours.answer) << ours.error;
    const std::string theirs = stock_answer(source), &mine = *ours.answer->if_string();
    if (mine == theirs) continue;
    std::size_t at = 0;
    while (at < std::min(mine.size(), theirs.size()) && mine[at] == theirs[at]) ++at;
    const std::size_t from = at > 120 ? at - 120 : 0;
    FAIL() << "seed " << seed << ": ours\n"
           << mine.substr(from, 200) << "\nstock\n"
           << theirs.substr(from, 200);
  }
}

}  // namespace
}  // namespace policies
