// Packs that go for the heap: its limit, its collector, its tables.

#include "bench/hostile/packs_table.hpp"

namespace bench::hostile {
namespace {

/// 65,536 doubles with the same low 13 bits of LuaJIT's hash, which has no seed for numbers: its
/// two rotations and one exclusive or, solved for the low word of 2^52 + n. A rehash of n of them
/// looks at n * n / 2 nodes.
constexpr const char* collisions = R"(
  local function flip(n, bit) return math.floor(n / bit) % 2 == 1 and n - bit or n + bit end
  local t = {}
  for middle = 0, 63 do for b = 0, 3 do for a = 0, 255 do
    local low = a + b * 1024
    local word = (low + middle * 8192 + (low + 4864) % 8192 * 524288 + 8600) % 4294967296
    for _, bit in ipairs({2147483648, 67108864, 33554432, 4194304, 2097152}) do word = flip(word, bit) end
    t[4503599627370496 + word] = true
  end end end
  for i = 1, 1e9 do for k in pairs(t) do end end)";

}  // namespace

void add_memory(std::vector<pack>& all) {
  using enum pack::verdict;
  const struct {
    const char* name;
    const char* body;
    pack::verdict expected;
  } forms[] = {
      {"a list without end", "local t = {} for i = 1, 1e9 do t[i] = i end", fault},
      {"tables in tables", "local t = {} while true do t = {t, {}, {}} end", fault},
      {"a text that doubles", "local s = 'x' while true do s = s .. s end", fault},
      {"texts that all differ", "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
       fault},
      {"a tower of concatenations",
       "local s = ('x'):rep(500000) local t = s .. s .. s .. s .. s .. s .. s .. s return {}",
       fault},
      {"rep of a huge count", "return ('x'):rep(1e15)", fault},
      {"rep with a separator", "return ('x'):rep(1e300, 'yyyy')", fault},
      {"a closure for everything",
       "local t = {} for i = 1, 1e9 do t[i] = function() return t, i end end", fault},
      {"recursion that never ends", "local function f(n) return 1 + f(n + 1) end f(1)", fault},
      {"recursion through pcall", "local function f() local ok, why = pcall(f) error(why) end f()",
       fault},
      {"recursion through a metamethod",
       "local t t = setmetatable({}, {__index = function(_, k) return t[k .. 1] end}) return t.x",
       fault},
      {"recursion with many arguments", "local function f(...) return f(1, ...) end f()", fault},
      {"recursion with many results", "local function f(n) return n, f(n + 1) end f(1)", fault},
      {"recursion through tostring",
       "local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) tostring(t)",
       fault},
      {"recursion through sort",
       "local function f() table.sort({3, 2, 1}, function(a, b) f() return a < b end) end f()",
       fault},
      {"recursion through gsub", "local function f() return (('ab'):gsub('.', f)) end f()", fault},
      {"recursion through __concat",
       "local t t = setmetatable({}, {__concat = function(a, b) return t .. 'x' end}) return t .. "
       "'y'",
       fault},
      {"recursion through __eq",
       "local m = {} m.__eq = function(a, b) return setmetatable({}, m) == setmetatable({}, m) end "
       "return setmetatable({}, m) == setmetatable({}, m)",
       fault},
      {"the memory error is caught for ever",
       "local kept = {} while true do pcall(function() for i = 1, 1e9 do kept[#kept + 1] = "
       "('x'):rep(9000) .. i end end) end",
       fault},
      {"the memory error, then an answer",
       "pcall(function() local s = 'x' while true do s = s .. s end end) return {}", answered},
      {"the memory error in the handler of a memory error",
       "local s = ('x'):rep(500000) local ok = pcall(function() pcall(function() local t = s .. s "
       ".. s end) local t = s .. s .. s end) return {holds = {}}",
       answered},
      {"a stack overflow, caught, then an answer",
       "local function f() return 1 + f() end pcall(f) pcall(f) return {}", answered},
      {"doubles half a key apart", "local t = {} for i = 1, 1e9 do t[i * 4294967296 + 0.5] = i end",
       fault},
      {"doubles that all collide", collisions, fault},
      {"doubles that collide by their exponent",
       "local t, x = {}, 1 for i = 1, 1e9 do t[2 ^ -(i % 1000) * (1 + i * 2 ^ -20)] = i end",
       fault},
      {"subnormal doubles as keys",
       "local t = {} for i = 1, 1e9 do t[i * 4.9406564584124654e-324] = i end", fault},
      {"multiples of a power of two as keys",
       "local t = {} for i = 1, 1e9 do t[i * 2 ^ 32] = i end", fault},
      {"multiples of 2^52 as keys", "local t = {} for i = 1, 1e9 do t[i * 2 ^ 52] = i end", fault},
      {"negative keys", "local t = {} for i = 1, 1e9 do t[-i] = i end", fault},
      {"tables as keys", "local t = {} for i = 1, 1e9 do t[{}] = i end", fault},
      {"functions as keys", "local t = {} for i = 1, 1e9 do t[function() return i end] = i end",
       fault},
      {"texts that differ where no hash looks",
       "local t, a = {}, ('x'):rep(20) for i = 1, 1e9 do t[i] = a .. ('%06d'):format(i) .. "
       "('y'):rep(35) end",
       fault},
      {"long texts that differ where no hash looks",
       "local t, a = {}, ('x'):rep(900) for i = 1, 1e9 do t[i] = a .. ('%06d'):format(i) .. "
       "('y'):rep(1500) end",
       fault},
      {"long texts as keys", "local t, a = {}, ('x'):rep(5000) for i = 1, 1e9 do t[a .. i] = i end",
       fault},
      {"keys that come and go",
       "local t = {} for i = 1, 1e9 do t['k' .. i] = i t['k' .. i - 100] = nil end", fault},
      {"a table that is emptied and filled",
       "local t = {} while true do for i = 1, 9000 do t[i * 1.5] = i end for i = 1, 9000 do t[i * "
       "1.5] = nil end end",
       fault},
      {"a million weak keys",
       "local w = setmetatable({}, {__mode = 'k'}) for i = 1, 1e9 do w[{}] = i end", fault},
      {"a thousand weak tables",
       "local t = {} for i = 1, 1e9 do t[i] = setmetatable({{}, {}}, {__mode = 'kv'}) end", fault},
      {"__mode that is no text",
       "local t = {} for i = 1, 1e9 do t[i] = setmetatable({}, {__mode = t}) end", fault},
      {"__gc on a table",
       "for i = 1, 1e9 do setmetatable({}, {__gc = function() while true do end end}) end", fault},
      {"tables that the collector must look at twice",
       "local t = {} for i = 1, 40000 do t[i] = {0} end while true do for i = 1, 40000 do t[i][1] "
       "= {} end end",
       fault},
      {"a list of 131,072 and its holes",
       "local t = {} for i = 1, 131072 do t[i] = '' end for i = 1, 131072, 2 do t[i] = nil end "
       "while true do local n = #t end",
       fault},
      {"shared tables by the thousand",
       "local x = {1} local t = {} for i = 1, 20000 do t[i] = x end return {start = t}", fault},
      {"upvalues without end",
       "local f = function() end for i = 1, 1e9 do local g = f f = function() return g() end end",
       fault},
      {"a closure chain, then the call",
       "local f = function() return 1 end for i = 1, 20000 do local g = f f = function() return 1 "
       "+ g() end end return f()",
       fault},
      {"the heap filled to the last byte",
       "local kept, size = {}, 400000 while size > 30 do if not pcall(function() while true do "
       "kept[#kept + 1] = ('z'):rep(size) .. #kept end end) then size = math.floor(size / 2) end "
       "end return {}",
       fault},
      {"globals of its own", "x = {}", fault},
      {"an environment that grows", "for i = 1, 1e9 do pcall(function() _G['x' .. i] = i end) end",
       fault},
      {"a table argument of 1e6 nils",
       "local t = {} t[1e6] = 1 t[2e6] = 1 table.concat(t) return {}", answered},
      {"insert at the front, 60,000 times",
       "local t = {} for i = 1, 60000 do table.insert(t, 1, i) end return {}", fault},
      {"views without end", "local t = {} for i = 1, 1e9 do t[i] = units[i % #units + 1] end",
       fault},
  };
  for (const auto& f : forms) {
    all.push_back({std::string("memory: ") + f.name, plans(f.body), f.expected});
    // The budget is ten times larger while a pack is loaded.
    if (f.expected == fault)
      all.push_back({std::string("memory while loading: ") + f.name,
                     loads(std::string("do local function f(units, fleet, now) ") + f.body +
                           " end f({{name = 'a'}}, {}, {}) end error('done')"),
                     refused});
  }
  all.push_back({"memory: filled while loading",
                 loads("local t = {} for i = 1, 1e9 do t[i] = {i} end"), refused});
  all.push_back({"memory: kept from the loading on",
                 plans("return {}", "local t = {} for i = 1, 60000 do t[i] = {{}} end"), answered});
  all.push_back({"memory: grown from call to call",
                 plans("for i = 1, 1e9 do kept[#kept + 1] = {i} end", "local kept = {}"), fault});
}

}  // namespace bench::hostile
