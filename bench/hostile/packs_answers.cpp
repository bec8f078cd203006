// Packs that answer what nobody asked for.

#include "bench/hostile/packs_table.hpp"

namespace bench::hostile {

void add_answers(std::vector<pack>& all) {
  using enum pack::verdict;
  const struct {
    const char* name;
    const char* body;
    pack::verdict expected;
  } forms[] = {
      {"nothing", "return", fault},
      {"nil", "return nil", fault},
      {"true", "return true", fault},
      {"a number", "return 7", fault},
      {"a text", "return 'all of them'", fault},
      {"a text of 1 MB", "return ('x'):rep(500000) .. ('y'):rep(500000)", fault},
      {"a function", "return plan_of", fault},
      {"itself", "local t = {} t.start = t return t", fault},
      {"a cycle of three", "local a, b, c = {}, {}, {} a.holds, b.x, c.x = b, c, a return a",
       fault},
      {"a list", "return {1, 2, 3}", fault},
      {"a list with a name", "return {1, start = {}}", fault},
      {"the units", "return units", fault},
      {"the units as start", "return {start = units}", fault},
      {"a unit in start", "return {start = {units[1]}}", fault},
      {"functions in start", "return {start = {function() end}}", fault},
      {"numbers in start", "return {start = {1, 2}}", fault},
      {"tables in start", "return {start = {{}, {}}}", fault},
      {"a text as start", "return {start = 'node-1'}", fault},
      {"start with a gap", "return {start = {'node-1', nil, 'node-2'}}", fault},
      {"start with a zeroth entry", "return {start = {[0] = 'node-1', 'node-2'}}", fault},
      {"start with half an entry", "return {start = {'node-1', [1.5] = 'node-2'}}", fault},
      {"start with a billionth entry", "return {start = {[1e9] = 'node-1'}}", fault},
      {"start of everybody a hundred times",
       "local t = {} for i = 1, 100 do for j = 1, #units do t[#t + 1] = units[j].name end end "
       "return {start = t}",
       answered},
      {"start of strangers",
       "local t = {} for i = 1, 5000 do t[i] = 'stranger-' .. i end return {start = t}", answered},
      {"start of 90,000 strangers",
       "local t = {} for i = 1, 9000 do t[i] = 'stranger-' .. i end local u = {} for i = 1, 90000 "
       "do u[i] = t[i % 9000 + 1] end return {start = u}",
       fault},
      {"a number of a thousand shared lists",
       "local x = {} for i = 1, 300 do x[i] = '' end local t = {} for i = 1, 300 do t[i] = x end "
       "return {start = t}",
       fault},
      {"a DAG of 2^15", "local t = {'x'} for i = 1, 15 do t = {t, t} end return {start = t}",
       fault},
      {"a DAG that is too deep",
       "local t = {'x'} for i = 1, 40 do t = {t, t} end return {start = t}", fault},
      {"a million entries", "local t = {} for i = 1, 1e6 do t[i] = '' end return {start = t}",
       fault},
      {"99,000 values", "local t = {} for i = 1, 99000 do t[i] = '' end return {start = t}", fault},
      {"99,000 names",
       "local t = {} for i = 1, 30000 do t['n' .. i] = 'why' end return {holds = t}", answered},
      {"holds of 12,000 strangers",
       "local t = {} for i = 1, 12000 do t['n' .. i] = 'why' end return {holds = t}", answered},
      {"holds of 4,000 strangers with codes",
       "local h = {code = 'X', reason = 'why'} local t = {} for i = 1, 4000 do t['n' .. i] = h end "
       "return {holds = t}",
       answered},
      {"the same long reason for all",
       "local r, t = ('x'):rep(300000), {} for i = 1, 12 do t['n' .. i] = r end return {holds = t}",
       answered},
      {"the same long reason too often",
       "local r, t = ('x'):rep(300000), {} for i = 1, 100 do t['n' .. i] = r end return {holds = "
       "t}",
       fault},
      {"names of 500 KB", "return {holds = {[('x'):rep(500000)] = 'why'}}", answered},
      {"a thousand names of 500 KB",
       "local p, t = ('x'):rep(50000), {} for i = 1, 100 do t[p .. i] = 'why' end return {holds = "
       "t}",
       fault},
      {"a name of 500 KB of an entry", "return {[('x'):rep(500000)] = 1}", fault},
      {"holds that are numbers", "return {holds = {a = 1}}", fault},
      {"holds that are lists", "return {holds = {'a', 'b'}}", fault},
      {"holds that are empty texts", "return {holds = {a = ''}}", fault},
      {"holds without a reason", "return {holds = {a = {code = 'X'}}}", fault},
      {"holds with a code of two words", "return {holds = {a = {code = 'X Y', reason = 'z'}}}",
       fault},
      {"holds with a code of 1 KB", "return {holds = {a = {code = ('X'):rep(1000), reason = 'z'}}}",
       fault},
      {"holds with an unknown entry", "return {holds = {a = {reason = 'z', run = 'rm -rf /'}}}",
       fault},
      {"holds with control characters",
       "return {holds = {[units[1].name] = '\\27]0;x\\7\\n\\r\\0'}}", answered},
      {"holds by numbers", "return {holds = {[7] = 'x'}}", fault},
      {"holds by booleans", "return {holds = {[true] = 'x'}}", fault},
      {"holds by tables", "return {holds = {[{}] = 'x'}}", fault},
      {"holds by functions", "return {holds = {[pairs] = 'x'}}", fault},
      {"holds by not-a-number",
       "local ok = pcall(function() local t = {} t[0 / 0] = 1 end) return {holds = {[1 / 0] = "
       "'x'}}",
       fault},
      {"invalid UTF-8", "return {holds = {a = '\\255\\254'}}", fault},
      {"invalid UTF-8 as a name", "return {holds = {['\\192\\128'] = 'a'}}", fault},
      {"a surrogate", "return {holds = {a = '\\237\\160\\128'}}", fault},
      {"an overlong slash", "return {holds = {a = '\\192\\175'}}", fault},
      {"a character that is cut off", "return {holds = {a = '\\226\\130'}}", fault},
      {"zero bytes", "return {holds = {['a\\0b'] = 'c\\0d'}}", answered},
      {"text turned around", "return {holds = {[units[1].name] = '\\226\\128\\174txt'}}", answered},
      {"not-a-number", "return {look_again = 0 / 0}", fault},
      {"infinity", "return {look_again = 1 / 0}", fault},
      {"minus infinity", "return {look_again = -1 / 0}", fault},
      {"a negative wait", "return {look_again = -1}", fault},
      {"a wait of 1e300", "return {look_again = 1e300}", answered},
      {"a wait of 1e-300", "return {look_again = 1e-300}", answered},
      {"a wait of minus zero", "return {look_again = -0}", answered},
      {"a wait that is a text", "return {look_again = '60'}", fault},
      {"an unknown entry", "return {stop = true}", fault},
      {"an unknown entry with control characters", "return {['\\27[31m'] = true}", fault},
      {"nested 15 deep",
       "local t = {} local top = t for i = 1, 14 do t.x = {} t = t.x end return {holds = {a = "
       "top}}",
       fault},
      {"nested 100,000 deep",
       "local t = {} local top = t for i = 1, 30000 do t.x = {} t = t.x end return top", fault},
      {"a metatable that lies about its length",
       "return setmetatable({start = {}}, {__len = function() return 1e9 end})", answered},
      {"a metatable that lies about its members",
       "return setmetatable({}, {__index = {start = {'node-1'}}})", answered},
      {"a metatable that hides itself",
       "return setmetatable({}, {__metatable = 'x', __pairs = function() end})", answered},
      {"members in a metatable's way",
       "return {start = setmetatable({'node-1'}, {__index = function() return {} end, __eq = "
       "function() return true end})}",
       answered},
      {"a thousand results", "local t = {} for i = 1, 240 do t[i] = i end return unpack(t)", fault},
      {"a result behind the first", "return {}, error", answered},
      {"start and holds of the same",
       "local n = units[1].name return {start = {n}, holds = {[n] = 'x'}}", answered},
      {"more than there is room for",
       "local t = {} for i = 1, #units do t[i] = units[i].name end return {start = t}", answered},
      {"a table that was 8,000 long",
       "local t = {} for i = 1, 8000 do t[i] = '' end for i = 8000, 1, -1 do t[i] = nil end "
       "return {start = t}",
       answered},
      {"a sparse table of 2^13 slots",
       "local t = {} for i = 1, 8000 do t['k' .. i] = 1 end for i = 1, 8000 do t['k' .. i] = nil "
       "end return t",
       answered},
  };
  for (const auto& f : forms)
    all.push_back(
        {std::string("answer: ") + f.name, plans(f.body, "local plan_of = pairs"), f.expected});
}

}  // namespace bench::hostile
