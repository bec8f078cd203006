// Packs that reach for what is not theirs. What they get hold of they show as the escape mark.

#include "bench/hostile/packs_table.hpp"

namespace bench::hostile {
namespace {

/// Answers the mark when `expression` has a value, and an empty answer when it is nil, false or an
/// error.
std::string reaches(const std::string& expression) {
  return plans("local ok, got = pcall(function() return " + expression +
               " end)\nif ok and got then error('ESCAPED ' .. tostring(got)) end\nreturn {}");
}

/// Does `body` under pcall; then everything must still be what it was.
std::string poisons(const std::string& body) {
  return plans("pcall(function() " + body +
                   R"( end)
  local sound = ('a-b'):find('-', 1, true) == 2 and ('x'):rep(3) == 'xxx' and #('abc'):gsub('b', 'c') == 3
    and tostring(12) == '12' and type({}) == 'table' and select('#', 1, 2) == 2 and math.floor(1.5) == 1
    and table.concat({1, 2}, ',') == '1,2' and next_of({a = 1}) == 'a' and rawget({x = 1}, 'x') == 1
    and pcall(error) == false and (getmetatable('')) == false and tonumber('7') == 7
  if not sound then error('ESCAPED: something is not what it was') end
  return {})",
               "local function next_of(t) for k in pairs(t) do return k end end");
}

}  // namespace

void add_reach(std::vector<pack>& all) {
  using enum pack::verdict;
  for (const char* name : {"io",
                           "os",
                           "ffi",
                           "jit",
                           "debug",
                           "package",
                           "load",
                           "loadstring",
                           "loadfile",
                           "dofile",
                           "getfenv",
                           "setfenv",
                           "newproxy",
                           "collectgarbage",
                           "coroutine",
                           "module",
                           "rawset",
                           "next",
                           "xpcall",
                           "gcinfo",
                           "bit",
                           "print",
                           "string.dump",
                           "string.buffer",
                           "math.random",
                           "math.randomseed",
                           "table.foreach",
                           "table.getn",
                           "table.new",
                           "string.gfind",
                           "arg",
                           "_G.io",
                           "_G._G._G.os"})
    all.push_back({std::string("reach: ") + name, reaches(name), answered});
  const struct {
    const char* name;
    const char* expression;
  } expressions[] = {
      {"the metatable of texts", "getmetatable('')"},
      {"the metatable of a view", "getmetatable(units)"},
      {"the metatable of a unit", "getmetatable(units[1])"},
      {"the metatable of the globals", "getmetatable(_G)"},
      {"the metatable of string", "getmetatable(string)"},
      {"the metatable of a function", "getmetatable(print or pairs)"},
      {"the metatable of nil", "getmetatable(nil)"},
      {"the raw globals", "rawget(_G, 'pairs') or rawget(_G, 'string')"},
      {"the raw libraries", "rawget(string, 'find') or rawget(math, 'floor')"},
      {"raw access to a view", "rawget(units, 1)"},
      {"require of io", "require('io')"},
      {"require of ffi", "require('ffi')"},
      {"require of another pack", "require('..a-neighbour.policy')"},
      {"require of the folder above", "require('..a-neighbour.policy')"},
      {"require of an absolute path", "require('/etc/passwd')"},
      {"require with slashes", "require('../a-neighbour/policy')"},
      {"require of a file that is no Lua", "require('policy.lua')"},
      {"a file above", "file('../a-neighbour/policy.lua')"},
      {"a file of the machine", "file('/etc/hostname')"},
      {"a file by a zero byte", "file('\\0')"},
      {"a file by an empty name", "file('')"},
      {"a file of the process", "file('/proc/self/environ')"},
      {"the prelude", "file('prelude.lua') or require('prelude')"},
      {"a table of entries in the registry", "_G['windlass.entries']"},
      {"an upvalue of pairs", "pairs.keys"},
      {"a field of a function", "(function() end).x"},
      {"an index of a text", "('x').format and ('x')[1]"},
      {"a number's fields", "(1).x"},
      {"a view's fields by number", "units[1][1]"},
      {"a view before its beginning", "units[0] or units[-1]"},
      {"a view behind its end", "units[1e9] or units[2 ^ 53] or units[1 / 0]"},
      {"a view at not-a-number", "units[0 / 0]"},
      {"a view between two", "units[1.5]"},
      // A hook that is given plain data has a copy of its own.
      {"setmetatable on a view", "type(units) == 'userdata' and setmetatable(units, {}) or nil"},
      {"setmetatable on a text", "setmetatable('x', {})"},
      {"setmetatable on the globals", "setmetatable(_G, {})"},
      {"an address in a text",
       "tostring({}):find('0x') or tostring(pairs):find('0x') or ('%s'):format({}):find('0x')"},
      {"an address in an error", "(select(2, pcall(error, {})) .. ''):find('0x')"},
      {"an address in a concatenation",
       "(function() local _, why = pcall(function() return {} .. 'x' end) return why:find('0x') "
       "end)()"},
      {"a host's path in an error",
       "(function() local _, why = pcall(function() return nil + 1 end) return why:find('/tmp') or "
       "why:find('/work') end)()"},
      {"the stack of its caller",
       "(function() local _, why = pcall(error, 'x', 50) return why ~= 'x' end)()"},
      {"a function of C behind sort", "pcall(table.sort, {1, 2}, table.sort) and nil"},
      {"a pack of the same name", "require('policy') == nil"},
  };
  for (const auto& e : expressions)
    all.push_back({std::string("reach: ") + e.name, reaches(e.expression), answered});
  const struct {
    const char* name;
    const char* body;
  } poison[] = {
      {"string.find replaced", "string.find = function() return 1 end"},
      {"string replaced", "_G.string = {}"},
      {"a global function replaced", "pairs = function() end"},
      {"a local of the prelude through _G", "_G.pcall = function() return true end"},
      {"the metatable of texts replaced", "getmetatable('').__index = function() return 'x' end"},
      {"table.concat replaced by rawset", "rawset(table, 'concat', function() return '' end)"},
      {"the globals replaced", "setmetatable(_G, {__index = function() return 1 end})"},
      {"the environment of a function replaced", "setfenv(1, {})"},
      {"a library emptied", "for k in pairs(string) do string[k] = nil end"},
      {"math.floor replaced", "math.floor = function() return 0 end"},
      {"tostring replaced", "tostring = function() return '' end"},
      {"type replaced through _G._G", "_G._G.type = function() return 'nil' end"},
      {"a loaded module replaced",
       "require('policy').name = 'neighbour' require('policy').rollout = nil"},
      {"__metatable of its own", "setmetatable(string, {__metatable = 1})"},
      {"a view changed", "units[1].name = 'other'"},
      {"a view grown", "units[#units + 1] = {}"},
      {"the fleet changed", "fleet.free = 1e9 fleet.capacity = 1e9"},
      {"now changed", "now.unix = 0 for k in pairs(now) do now[k] = nil end"},
      {"an insert into a view", "table.insert(units, {})"},
      {"a remove from a view", "table.remove(units, 1)"},
      {"sort of the globals", "table.sort(_G)"},
      {"a poisoned text library by a method", "local s = 'x' s.upper = function() return 'y' end"},
  };
  for (const auto& p : poison)
    all.push_back({std::string("poison: ") + p.name, poisons(p.body), answered});
  all.push_back(
      {"reach: a view kept from an earlier call",
       plans("if kept then error('ESCAPED ' .. kept[1].name) end\nreturn {}", "local kept = nil"),
       answered});
  all.push_back(
      {"reach: a unit kept in an upvalue",
       plans("kept = kept or units[1] local n = kept.name return {start = {n}}", "local kept"),
       answered});
  all.push_back({"reach: a pack that takes the neighbour's name",
                 "return {name = 'neighbour', order = -1e9}", refused});
  all.push_back({"reach: a hook that is not there",
                 "return {name = 'hostile', rollout = {destroy = function() end}}", refused});
  all.push_back({"reach: a family that is not there",
                 "return {name = 'hostile', root = {shell = function() end}}", refused});
}

}  // namespace bench::hostile
