// Packs that never end, or do as much as they can between two looks at the clock.

#include "bench/hostile/packs_table.hpp"

namespace bench::hostile {
namespace {

struct loop_form {
  const char* name;
  const char* body;
};

constexpr loop_form endless[] = {
    {"while true", "while true do end"},
    {"repeat until false", "repeat until false"},
    {"a numeric for without end", "for i = 1, 1e300 do end"},
    {"a numeric for with a step of zero", "for i = 1, 2, 0 do end while true do end"},
    {"a numeric for up to infinity", "for i = 0, math.huge do end"},
    {"goto back", "::again:: goto again"},
    {"goto across labels", "::a:: do goto b end ::b:: goto a"},
    {"tail calls", "local function f() return f() end f()"},
    {"two functions that call each other",
     "local g local function f() return g() end function g() return f() end f()"},
    {"a loop inside pcall", "while true do pcall(function() while true do end end) end"},
    {"pcall of error", "while true do pcall(error) end"},
    {"pcall of pcall of pcall", "while true do pcall(pcall, pcall, pcall, error, {}) end"},
    {"a tower of pcalls", "local function f() pcall(f) return f() end f()"},
    {"errors that carry tables", "while true do pcall(error, {{{}}}) end"},
    {"errors that carry themselves", "local e = {} e.e = e while true do pcall(error, e) end"},
    {"errors with positions", "while true do pcall(error, 'x', 2) end"},
    {"__index that loops",
     "local t = setmetatable({}, {__index = function() while true do end end}) local x = t.x"},
    {"__newindex that loops",
     "setmetatable({}, {__newindex = function() while true do end end}).x = 1"},
    {"__call that loops", "setmetatable({}, {__call = function() while true do end end})()"},
    {"__eq that loops",
     "local m = {__eq = function() while true do end end} local x = setmetatable({}, m) == "
     "setmetatable({}, m)"},
    {"__lt that loops",
     "local m = {__lt = function() while true do end end} local x = setmetatable({}, m) < "
     "setmetatable({}, m)"},
    {"__le that loops",
     "local m = {__le = function() while true do end end} local x = setmetatable({}, m) <= "
     "setmetatable({}, m)"},
    {"__concat that loops",
     "local x = setmetatable({}, {__concat = function() while true do end end}) .. 'x'"},
    {"__unm that loops", "local x = -setmetatable({}, {__unm = function() while true do end end})"},
    {"__add that loops",
     "local x = setmetatable({}, {__add = function() while true do end end}) + 1"},
    {"__tostring that loops",
     "tostring(setmetatable({}, {__tostring = function() while true do end end}))"},
    {"__index that recurses",
     "local t t = setmetatable({}, {__index = function(_, k) while true do local x = "
     "pcall(function() return t[k] end) end end}) local x = t.x"},
    {"__call of __call",
     "local t = {} setmetatable(t, {__call = function(self, ...) return self(...) end}) t()"},
    {"sort with a comparator that loops", "table.sort({2, 1}, function() while true do end end)"},
    {"sort again and again",
     "local t = {} for i = 1, 2000 do t[i] = -i end while true do table.sort(t, function(a, b) "
     "return true end) end"},
    {"gsub with a function that loops",
     "(('x'):rep(9)):gsub('x', function() while true do end end)"},
    {"gsub with a table whose __index loops",
     "('x'):gsub('x', setmetatable({}, {__index = function() while true do end end}))"},
    {"gmatch without end", "while true do for w in ('a b c'):gmatch('%a*') do end end"},
    {"pairs without end",
     "local t = {} for i = 1, 900 do t['k' .. i] = i end while true do for k in pairs(t) do end "
     "end"},
    {"ipairs over a list that grows",
     "local t = {1} for i in ipairs(t) do t[i % 9 + 2] = i t[i + 1] = 1 t[i] = i if i > 1e5 then "
     "while true do end end end while true do end"},
    {"an iterator of its own", "for x in function() return 1 end do end"},
    {"require in a circle", "while true do pcall(require, 'policy') end"},
    {"require of names that are not there",
     "local i = 0 while true do i = i + 1 pcall(require, 'x' .. i) end"},
    {"log without end", "while true do log(('x'):rep(999)) end"},
    {"empty without end",
     "local t = {} for i = 1, 3000 do t['k' .. i] = i end while true do empty(t) end"},
    {"unpack and select",
     "local t = {} for i = 1, 250 do t[i] = i end while true do select('#', unpack(t)) end"},
    {"a queue that is eaten from the front",
     "local t = {} for i = 1, 50000 do t[i] = i end while true do table.remove(t, 1) "
     "table.insert(t, 1, 0) end"},
    {"garbage without end", "while true do local t = {{}, {}, {}} end"},
    {"closures without end", "while true do local f = function() return f end end"},
};

}  // namespace

void add_loops(std::vector<pack>& all) {
  using enum pack::verdict;
  for (const loop_form& f : endless) {
    all.push_back({std::string("loop in a call: ") + f.name, plans(f.body), fault});
    all.push_back({std::string("loop while loading: ") + f.name, loads(f.body), refused});
  }
  all.push_back({"loop: in the metatable of the answer",
                 plans("return setmetatable({}, {__index = function() while true do end end})"),
                 answered});
  all.push_back({"loop: in __tostring of the error",
                 plans("error(setmetatable({}, {__tostring = function() while true do end end}))"),
                 fault});
  all.push_back(
      {"loop: in the metatable of the pack itself",
       "return setmetatable({name = 'hostile'}, {__index = function() while true do end end})",
       answered});
  all.push_back({"loop: a pack that is a proxy for an endless table",
                 "return setmetatable({}, {__index = function() while true do end end})", refused});
}

}  // namespace bench::hostile
