// Which lines of a pack hold code is asked of the compiler: the pack is compiled in a state of its
// own and never run.

#include "policies/host/coverage.hpp"

#include "policies/host/source_check.hpp"

#include <lua.hpp>

#include <memory>

namespace policies {
namespace {

/// The lines of a function's instructions and of those inside it. The first instruction is the
/// function's head.
constexpr const char* walker = R"lua(
local util = require("jit.util")
local seen = {}
local function walk(f)
  local about = util.funcinfo(f)
  for pc = 1, about.bytecodes - 1 do
    local line = util.funcinfo(f, pc).currentline
    if line and line > 0 then seen[line] = true end
  end
  if not about.children then return end
  for i = 1, 65536 do
    local inner = util.funck(f, -i)
    if inner == nil then break end
    if type(inner) == "proto" then walk(inner) end
  end
end
walk(...)
return seen
)lua";

std::set<int> code_lines(const std::string& source) {
  std::set<int> lines;
  if (check_source(source)) return lines;
  const std::unique_ptr<lua_State, void (*)(lua_State*)> state(luaL_newstate(), lua_close);
  lua_State* L = state.get();
  if (L == nullptr) return lines;
  luaL_openlibs(L);
  const bool walked =
      luaL_loadbuffer(L, walker, std::char_traits<char>::length(walker), "=walker") == 0 &&
      luaL_loadbufferx(L, source.data(), source.size(), "=pack", "t") == 0 &&
      lua_pcall(L, 1, 1, 0) == 0;
  if (!walked) return lines;
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1))
    lines.insert(static_cast<int>(lua_tointeger(L, -2)));
  return lines;
}

}  // namespace

std::vector<file_coverage> lines_of(const pack_files& files, const line_coverage& seen) {
  std::vector<file_coverage> all;
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".lua") || name.ends_with("_test.lua")) continue;
    file_coverage one{name, 0, 0, {}};
    const auto ran = seen.ran.find(name);
    for (const int line : code_lines(content)) {
      ++one.lines;
      if (ran != seen.ran.end() && ran->second.contains(line)) {
        ++one.ran;
      } else {
        one.missed.insert(line);
      }
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace policies
