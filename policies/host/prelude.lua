-- The part of the sandbox that is easier to bound in Lua than in C: whatever calls back into a policy
-- (sort, gsub with a function, tostring with a metamethod) runs here as ordinary instructions, so that
-- the count hook can pause it. `c` holds the functions of library.cpp, `stock` the untouched base library.
local c, stock = ...
local error, getmetatable, pcall, select, setmetatable, type =
  stock.error, stock.getmetatable, stock.pcall, stock.select, stock.setmetatable, c.type
local find_from, expand, keys, is_view, view_next = c.find_from, c.expand, c.keys, c.is_view, c.view_next
local concat, sub = c.concat, c.sub

-- A message that names the policy's own line rather than one of this file.
local fail = c.raise

-- ---------------------------------------------------------------- iteration
-- pairs goes through keys in a fixed order (numbers, then strings, each ascending): a table's own order
-- differs between two runs of the same program, and a decision must be repeatable.

local function default_less(a, b) return a < b end

local function merge_sort(list, n, less)
  local from, to = {}, {}
  for i = 1, n do from[i] = list[i] end
  local width = 1
  while width < n do
    for low = 1, n, 2 * width do
      local middle, high = low + width, low + 2 * width
      if middle > n + 1 then middle = n + 1 end
      if high > n + 1 then high = n + 1 end
      local i, j = low, middle
      for k = low, high - 1 do
        if i < middle and (j >= high or not less(from[j], from[i])) then
          to[k] = from[i]
          i = i + 1
        else
          to[k] = from[j]
          j = j + 1
        end
      end
    end
    from, to = to, from
    width = width * 2
  end
  for i = 1, n do list[i] = from[i] end
end

local function pairs(t)
  if is_view(t) then return view_next, t, nil end
  if type(t) ~= "table" then fail("pairs: expected a table, got " .. c.describe(t)) end
  local list, n, sorted = keys(t)
  if not sorted then merge_sort(list, n, c.key_less) end
  local i = 0
  return function()
    while i < n do
      i = i + 1
      local key = list[i]
      local value = t[key]
      if value ~= nil then return key, value end
    end
  end
end

local function next_index(t, i)
  i = i + 1
  local value = t[i]
  if value ~= nil then return i, value end
end

local function ipairs(t)
  if type(t) ~= "table" then fail("ipairs: expected a table, got " .. c.describe(t)) end
  return next_index, t, 0
end

local function empty(t)
  for _ in pairs(t) do return false end
  return true
end

local function sort(list, less)
  if is_view(list) or type(list) ~= "table" then
    fail("table.sort: expected a table of the policy's own, got " .. c.describe(list))
  end
  if less ~= nil and type(less) ~= "function" then fail("table.sort: expected a function to compare with") end
  merge_sort(list, #list, less or default_less)
end

-- ---------------------------------------------------------------- text

local function tostring(v)
  local meta = getmetatable(v)
  local own = type(meta) == "table" and meta.__tostring
  if own then
    local text = own(v)
    if type(text) ~= "string" then fail("tostring: __tostring must return a string") end
    return text
  end
  return c.tostring(v)
end

local function gmatch(text, pattern)
  local from, size = 1, c.len(text)
  local function pick(first, last, ...)
    if first == nil then
      from = size + 2
      return nil
    end
    from = last < first and first + 1 or last + 1
    if select("#", ...) == 0 then return sub(text, first, last) end
    return ...
  end
  return function()
    if from > size + 1 then return nil end
    return pick(find_from(text, pattern, from))
  end
end

local function gsub(text, pattern, replacement, limit)
  local size = c.len(text)
  local how = type(replacement)
  if how == "number" then
    replacement, how = c.tostring(replacement), "string"
  elseif how ~= "string" and how ~= "table" and how ~= "function" then
    fail("gsub: expected a string, table or function to replace with, got " .. c.describe(replacement))
  end
  limit = limit or size + 1
  local anchored = sub(pattern, 1, 1) == "^"
  if anchored then pattern = sub(pattern, 2) end
  local parts, count, from, done = {}, 0, 1, 0
  local function put(part)
    count = count + 1
    parts[count] = part
  end
  local function replace(first, last, ...)
    if first == nil then return nil end
    local whole = sub(text, first, last)
    local new
    if how == "string" then
      new = expand(replacement, whole, ...)
    else
      local key = whole
      if select("#", ...) > 0 then key = (...) end
      if how == "table" then
        new = replacement[key]
      elseif select("#", ...) > 0 then
        new = replacement(...)
      else
        new = replacement(whole)
      end
    end
    if not new then
      new = whole
    elseif type(new) ~= "string" and type(new) ~= "number" then
      fail("gsub: invalid replacement value (" .. c.describe(new) .. ")")
    end
    put(sub(text, from, first - 1))
    put(new)
    return first, last
  end
  while done < limit do
    local first, last = replace(find_from(text, pattern, from, anchored))
    if first == nil then break end
    done = done + 1
    if last >= first then
      from = last + 1
    elseif first <= size then
      put(sub(text, first, first))
      from = first + 1
    else
      from = size + 1
      break
    end
    if anchored then break end
  end
  put(sub(text, from))
  return concat(parts), done
end

-- ---------------------------------------------------------------- what a policy sees

local function frozen(members, refuse)
  return setmetatable({}, { __index = members, __newindex = refuse, __metatable = false })
end

local function read_only(name)
  return function() fail(name .. " cannot be changed by a policy") end
end

local text_functions = {
  byte = c.byte, char = c.char, find = c.find, format = c.format, gmatch = gmatch, gsub = gsub, len = c.len,
  lower = c.lower, match = c.match, rep = c.rep, reverse = c.reverse, sub = c.sub, upper = c.upper,
}
getmetatable("").__index = text_functions
getmetatable("").__metatable = false

local math_functions = {}
for _, name in stock.ipairs({ "abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "deg", "exp", "floor",
  "fmod", "frexp", "ldexp", "log", "log10", "max", "min", "modf", "pow", "rad", "sin", "sinh", "sqrt", "tan", "tanh" }) do
  math_functions[name] = stock.math[name]
end
math_functions.huge, math_functions.pi = stock.math.huge, stock.math.pi

local absent = {
  collectgarbage = "memory is the host's business", coroutine = "a hook is one plain call",
  debug = "policies run sandboxed", dofile = "use require", getfenv = "policies run sandboxed",
  io = "a policy decides from its arguments alone", jit = "policies run sandboxed", load = "use require",
  loadfile = "use require", loadstring = "use require", module = "return a table instead",
  newproxy = "policies run sandboxed", next = "its order differs between runs; use pairs or empty(t)",
  os = "time comes in as an argument, nothing else does", package = "use require", print = "use log",
  rawset = "policies run sandboxed", setfenv = "policies run sandboxed", xpcall = "use pcall",
}

local modules = {}
local globals
local environment = setmetatable({}, {
  __index = function(_, name)
    local found = globals[name]
    if found ~= nil then return found end
    local why = absent[name]
    fail("no global '" .. c.tostring(name) .. "'" .. (why and " (" .. why .. ")" or "; is it a typing error?"))
  end,
  __newindex = function(_, name)
    fail("policies keep no state: declare '" .. c.tostring(name) .. "' local")
  end,
  __metatable = false,
})

local loading = {}
local function require(name)
  if type(name) ~= "string" then fail("require: expected a name, got " .. c.describe(name)) end
  if modules[name] == nil then
    if loading[name] then fail("require: '" .. name .. "' requires itself") end
    loading[name] = true
    local value = c.compile(name, environment)()
    loading[name] = nil
    modules[name] = value == nil and true or value
  end
  return modules[name]
end

globals = {
  assert = stock.assert, error = error, getmetatable = getmetatable, ipairs = ipairs, pairs = pairs, pcall = pcall,
  rawequal = stock.rawequal, rawget = stock.rawget, select = select, setmetatable = setmetatable,
  tonumber = c.tonumber, tostring = tostring, type = type, unpack = c.unpack,
  empty = empty, file = c.file, log = c.log, require = require,
  string = frozen(text_functions, read_only("string")),
  math = frozen(math_functions, read_only("math")),
  table = frozen({ concat = concat, insert = c.insert, remove = c.remove, sort = sort, unpack = c.unpack },
    read_only("table")),
  semver = frozen({ compare = c.compare, overlap = c.overlap, parse = c.parse_version, problem = c.range_problem,
    satisfies = c.satisfies }, read_only("semver")),
  sha256 = c.sha256,
  _VERSION = "Lua 5.1",
}
globals._G = environment

-- ---------------------------------------------------------------- the pack

-- The hooks by family. What a hook is asked and answers stands in policies/<hook>.hpp.
local families = {
  versions = { "resolve" }, rollout = { "plan" }, disruption = { "admit" }, compose = { "sync" },
  release = { "map", "diff", "gate", "bump", "path", "lifecycle" }, train = { "check", "plan", "promote" },
}
local known_families = "versions, rollout, disruption, compose, release, train"
local plain_entries = { name = "string", version = "string", order = "number", applies = "table" }
local pack

local function expect(value, wanted, where)
  if type(value) ~= wanted then
    error("policy.lua: " .. where .. ": expected a " .. wanted .. ", got " .. c.describe(value), 0)
  end
  return value
end

local function load_pack()
  pack = require("policy")
  if type(pack) ~= "table" or is_view(pack) then
    error("policy.lua: it must end with `return {…}`, the table of its hooks; it returned " .. c.describe(pack), 0)
  end
  local about = { hooks = {} }
  for key, value in pairs(pack) do
    if plain_entries[key] then
      about[key] = expect(value, plain_entries[key], key)
    elseif families[key] then
      expect(value, "table", key)
      for hook, f in pairs(value) do
        local known = false
        for _, name in stock.ipairs(families[key]) do known = known or name == hook end
        if not known then
          error("policy.lua: " .. key .. "." .. tostring(hook) .. ": no such hook; " .. key .. " has "
            .. concat(families[key], ", "), 0)
        end
        about.hooks[#about.hooks + 1] = key .. "." .. hook
        expect(f, "function", key .. "." .. hook)
      end
    else
      error("policy.lua: unknown entry '" .. tostring(key)
        .. "'; known are name, version, order, applies, " .. known_families, 0)
    end
  end
  if pack.name == nil or not c.match(pack.name, "^[%w][%w%-_./]*$") or #pack.name > 63 then
    error("policy.lua: name: expected letters, digits, '-', '_', '.', '/' (63 at most)", 0)
  end
  return about
end

local function call(family, hook, ...) return pack[family][hook](...) end

-- Runs a chunk of the caller's choice in the policies' environment; for the host's own tests and fuzzers.
local function evaluate(name, ...) return c.compile(name, environment)(...) end

-- ---------------------------------------------------------------- tests of a pack

local function show(v, depth)
  if type(v) == "string" then return c.format("%q", v) end
  if type(v) ~= "table" then return tostring(v) end
  if depth > 4 then return "{…}" end
  local parts = {}
  for key, member in pairs(v) do
    if type(key) == "string" then
      parts[#parts + 1] = key .. " = " .. show(member, depth + 1)
    else
      parts[#parts + 1] = show(member, depth + 1)
    end
    if #parts > 20 then
      parts[#parts + 1] = "…"
      break
    end
  end
  return "{" .. concat(parts, ", ") .. "}"
end

local function same(a, b, depth)
  if a == b then return true end
  if type(a) ~= "table" or type(b) ~= "table" or depth > 16 then return false end
  for key, value in pairs(a) do
    if not same(value, b[key], depth + 1) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local tests = {}

local function mismatch(text, note) error(note and c.tostring(note) .. ": " .. text or text, 3) end

local test_globals = {
  test = function(name, body)
    if type(name) ~= "string" or type(body) ~= "function" then fail("test: expected a name and a function") end
    if #tests >= 500 then fail("test: more than 500 tests") end
    tests[#tests + 1] = { name = name, body = body }
  end,
  expect_equal = function(actual, expected, note)
    if not same(actual, expected, 0) then
      mismatch("expected " .. show(expected, 0) .. ", got " .. show(actual, 0), note)
    end
  end,
  expect_true = function(actual, note)
    if not actual then mismatch("expected something true, got " .. show(actual, 0), note) end
  end,
  expect_error = function(body, part, note)
    local ok, why = pcall(body)
    if ok then mismatch("expected an error, there was none", note) end
    if part and not c.find(tostring(why), part, 1, true) then
      mismatch("expected an error with " .. show(part, 0) .. ", got " .. show(why, 0), note)
    end
  end,
}

local test_environment = setmetatable({}, {
  __index = function(_, name)
    local own = test_globals[name]
    if own ~= nil then return own end
    return environment[name]
  end,
  __newindex = function(_, name) environment[name] = true end,
  __metatable = false,
})

local function load_tests(file)
  tests = {}
  c.compile(file, test_environment)()
  local names = {}
  for i = 1, #tests do names[i] = tests[i].name end
  return names
end

local function run_test(i) tests[i].body() end

return { load_pack = load_pack, call = call, evaluate = evaluate, load_tests = load_tests, run_test = run_test }
