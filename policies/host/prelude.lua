-- The part of the sandbox that is easier to bound in Lua than in C: whatever calls back into a policy
-- (sort, gsub with a function, tostring with a metamethod) runs here as ordinary instructions, so that
-- the count hook can pause it. `c` holds the functions of library.cpp, `stock` the untouched base library.
local c, stock = ...
local error, getmetatable, pcall, select, setmetatable, type =
  stock.error, stock.getmetatable, stock.pcall, stock.select, stock.setmetatable, c.type
-- Says "userdata" of a view, where `type` says "table"; no call into the host.
local raw_type = stock.type
local find_from, expand, keys, is_view, view_next = c.find_from, c.expand, c.keys, c.is_view, c.view_next
local is_list, list_of = c.is_list, c.list
local concat, sub, unpack = c.concat, c.sub, c.unpack

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
  local is = raw_type(t)
  if is == "userdata" and is_view(t) then return view_next, t, nil end
  if is ~= "table" then fail("pairs: expected a table, got " .. c.describe(t)) end
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
  local is = raw_type(t)
  if is ~= "table" and is ~= "userdata" then fail("ipairs: expected a table, got " .. c.describe(t)) end
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

-- copy(view): what can be changed and answered. A list stays one, also an empty one.
local function copy_of(given, depth)
  if type(given) ~= "table" then return given end
  if depth > 32 then fail("copy: it is nested more than 32 deep") end
  local made = is_list(given) and list_of() or {}
  for key, v in pairs(given) do made[key] = copy_of(v, depth + 1) end
  return made
end
local function copy(given) return copy_of(given, 0) end

-- fill("{unit.name} waits", { unit = unit }): each name in braces is looked up; other braces stay. Of a table each text is
-- filled, so that no value becomes part of the structure; a text that is nothing but one name becomes the value itself.
local function fill_from(template, values, depth)
  local function found_at(path)
    local found = values
    for part in gmatch(path, "[^.]+") do
      if type(found) ~= "table" then found = nil end
      if found ~= nil then found = found[part] end
    end
    if found == nil then fail("fill: there is no '" .. path .. "' to put in") end
    return found
  end
  if type(template) == "table" then
    if depth > 32 then fail("fill: it is nested more than 32 deep") end
    local made = is_list(template) and list_of() or {}
    for key, v in pairs(template) do
      local whole = type(v) == "string" and c.match(v, "^{([%a_][%w_.]*)}$")
      if whole then made[key] = copy(found_at(whole))
      elseif type(v) == "table" or type(v) == "string" then made[key] = fill_from(v, values, depth + 1)
      else made[key] = v end
    end
    return made
  end
  return (gsub(template, "{([%a_][%w_.]*)}", function(path) return tostring(found_at(path)) end))
end
local function fill(template, values) return fill_from(template, values, 0) end

-- ---------------------------------------------------------------- who goes in which order
-- Returns the units that may start, in order, and why others that could start do not, by name. The order is by name, but a Node
-- that is not Ready ends none of its pods, so that its drain may keep a slot for ever: it goes last, after every Ready node has
-- moved. Of control-plane nodes the core takes none while another one is not Ready, so the only one that is not goes before them:
-- the update may be its cure.
local function in_turn(units, startable_state)
  local away = 0
  for _, unit in ipairs(units) do
    if unit.control_plane and not unit.ready then away = away + 1 end
  end
  local first, second, third, last, all_ready_moved, holds = {}, {}, {}, {}, true, {}
  for _, unit in ipairs(units) do
    local startable = unit.state == startable_state
    if not unit.slotted and unit.degraded and startable then
      holds[unit.name] = { code = "Degraded", reason = "reports a failure; see its Degraded condition" }
    elseif not unit.slotted and not unit.degraded and (startable or unit.state == "Pending" or unit.state == "Staging") then
      local cure = unit.control_plane and not unit.ready and away == 1
      local refused = unit.control_plane and unit.ready and away > 0
      if unit.ready and not refused then all_ready_moved = false end
      if startable then
        local turn = cure and second or refused and third or unit.ready and first or last
        turn[#turn + 1] = unit
      end
    end
  end
  local order = first
  for _, more in ipairs({ second, third, all_ready_moved and last or {} }) do
    for _, unit in ipairs(more) do order[#order + 1] = unit end
  end
  for _, unit in ipairs(all_ready_moved and {} or last) do
    holds[unit.name] = { code = "NotReady", reason = "its Node is not Ready, so its pods do not end; Ready nodes of the pool go first" }
  end
  return order, holds
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
    satisfies = c.satisfies, valid = c.valid_version }, read_only("semver")),
  sha256 = c.sha256,
  k8s = frozen({ name_problem = c.name_problem }, read_only("k8s")),
  base64 = frozen({ encode = c.to_base64, decode = c.from_base64 }, read_only("base64")),
  digest = frozen({ of = c.digest_of, valid = c.digest_valid }, read_only("digest")),
  json = frozen({ decode = c.decode_json, encode = c.encode_json }, read_only("json")),
  yaml = frozen({ decode = c.decode_yaml, encode = c.encode_yaml }, read_only("yaml")),
  toml = frozen({ decode = c.decode_toml, encode = c.encode_toml }, read_only("toml")),
  time = frozen({ at = c.time_at, parse = c.time_parse, text = c.time_text }, read_only("time")),
  rollout = frozen({ in_turn = in_turn }, read_only("rollout")),
  copy = copy, fill = fill, list = list_of,
  _VERSION = "Lua 5.1",
}
globals._G = environment

-- ---------------------------------------------------------------- the pack

local plain_entries = { name = "string", version = "string", api = "number", order = "number", applies = "table", composes = "table",
  signals = "table" }
local pack

local function expect(value, wanted, where)
  if type(value) ~= wanted then
    error("policy.lua: " .. where .. ": expected a " .. wanted .. ", got " .. c.describe(value), 0)
  end
  return value
end

-- Which of `names` was meant by `wrong`: ", is it start?", or nothing.
local function meant(wrong, names)
  if type(wrong) ~= "string" then return "" end
  for _, name in stock.ipairs(names) do
    if c.is_slip(wrong, name) then return ", is it " .. name .. "?" end
  end
  return ""
end

-- `families` are the hooks that the host knows, {rollout = {"plan"}}. Without them every name is taken.
local function load_pack(families)
  pack = require("policy")
  if type(pack) ~= "table" or is_view(pack) then
    error("policy.lua: it must end with `return {…}`, the table of its hooks; it returned " .. c.describe(pack), 0)
  end
  local about = { hooks = {} }
  for key, value in pairs(pack) do
    if plain_entries[key] then
      about[key] = expect(value, plain_entries[key], key)
    elseif type(key) == "string" and (not families or families[key]) then
      expect(value, "table", key)
      for hook, f in pairs(value) do
        local there = not families
        for _, name in stock.ipairs(families and families[key] or {}) do there = there or name == hook end
        if not there then
          error("policy.lua: " .. key .. "." .. tostring(hook) .. ": no such hook" .. meant(hook, families[key])
            .. "; " .. key .. " has " .. concat(families[key], ", "), 0)
        end
        about.hooks[#about.hooks + 1] = key .. "." .. hook
        expect(f, "function", key .. "." .. hook)
      end
    else
      local names = { "name", "version", "api", "order", "applies", "composes", "signals" }
      for name in pairs(families or {}) do names[#names + 1] = name end
      error("policy.lua: unknown entry '" .. tostring(key) .. "'" .. meant(key, names)
        .. "; known are " .. concat(names, ", "), 0)
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
  if is_view(a) or is_view(b) then return false end
  for key, value in pairs(a) do
    if not same(value, stock.rawget(b, key), depth + 1) then return false end
  end
  for key in pairs(b) do
    if stock.rawget(a, key) == nil then return false end
  end
  return true
end

-- A test's tables as the hook would see them: what is left out has the value of a fresh record, what does not exist is an
-- error, reading and writing.
local strict

local function members_of(is)
  local by_name, names = {}, {}
  for _, m in stock.ipairs(is.members) do
    by_name[m.name] = m
    names[#names + 1] = m.name
  end
  return by_name, names
end

local function strict_record(given, is, where)
  local by_name, names = members_of(is)
  for key in pairs(given) do
    if not by_name[key] then
      fail(where .. ": a " .. is.name .. " has no field '" .. tostring(key) .. "'" .. meant(key, names))
    end
  end
  local made = {}
  for _, m in stock.ipairs(is.members) do
    local v = given[m.name]
    if v == nil and not m.optional then
      v = m.otherwise
      if v == nil then v = {} end
    end
    if v ~= nil then made[m.name] = strict(v, m.is, where .. "." .. m.name) end
  end
  return setmetatable(made, {
    __index = function(_, key)
      if not by_name[key] then
        fail("a " .. is.name .. " has no field '" .. tostring(key) .. "'" .. meant(key, names))
      end
    end,
    __newindex = function() fail("a " .. is.name .. " is read-only") end,
    __metatable = false,
  })
end

local plain_kinds = { flag = "boolean", number = "number", text = "string" }

function strict(given, is, where)
  local kind = is.kind
  if kind == "any" then return given end
  if type(given) ~= (plain_kinds[kind] or "table") then
    fail(where .. ": expected " .. is.expected .. ", got " .. c.describe(given))
  end
  if plain_kinds[kind] then return given end
  if kind == "record" then return strict_record(given, is, where) end
  local made = kind == "list" and list_of() or {}
  for key, v in pairs(given) do made[key] = strict(v, is.of, where .. "[" .. c.tostring(key) .. "]") end
  return made
end

-- Of what a test hands over as `related`, what compose.related asks for. Reading anything else is an error: a cluster never
-- hands it over.
local function asked_for(policy, parent, related)
  local declared, names, labelled = {}, {}, {}
  for _, part in stock.ipairs({ "related", "children" }) do
    for _, kind in stock.ipairs(policy.composes and policy.composes[part] or {}) do
      declared[kind.apiVersion .. " " .. kind.kind] = true
    end
  end
  local ask = policy.compose.related
  for _, query in stock.ipairs(ask and ask(parent).objects or {}) do
    if not declared[query.apiVersion .. " " .. query.kind] then
      fail("compose.related asks for " .. query.kind .. " " .. query.apiVersion .. ", which composes does not name")
    elseif query.name then
      names[query.kind .. "/" .. query.name] = true
      if query.namespace then names[query.kind .. "/" .. query.namespace .. "/" .. query.name] = true end
    else
      labelled[query.kind] = labelled[query.kind] or {}
      labelled[query.kind][#labelled[query.kind] + 1] = query.labels
    end
  end
  local made = {}
  for key, there in pairs(related) do
    local found = names[key]
    for _, labels in stock.ipairs(labelled[there.kind] or {}) do
      local all = true
      for name, value in pairs(labels) do all = all and there.labels[name] == value end
      found = found or all
    end
    if found then made[key] = there end
  end
  return setmetatable(made, {
    __index = function(_, key)
      local kind, name = c.match(key, "^([^/]+)/(.+)$")
      if name and not names[key] and not labelled[kind] then
        fail("compose.sync reads " .. key .. ", which compose.related does not ask for")
      end
    end,
    __newindex = function() fail("related is read-only") end,
    __metatable = false,
  })
end

-- The hook as a test calls it.
local function guarded(name, f, about, policy)
  -- Its arguments are not described: only the answer is judged.
  if not about.arguments then
    return function(...)
      local answer = f(...)
      c.check_answer(name, answer, policy.composes, ...)
      return answer
    end
  end
  return function(...)
    local given, seen, kept = { ... }, {}, {}
    local n = #about.arguments
    for i = 1, n do
      local a = about.arguments[i]
      local v = given[i]
      if v == nil and not a.optional then v = {} end
      if v ~= nil then
        seen[i] = strict(v, a.is, a.name)
        kept[i] = strict(v, a.is, a.name)
      end
    end
    if name == "compose.sync" then
      seen[2], kept[2] = asked_for(policy, seen[1], seen[2]), asked_for(policy, kept[1], kept[2])
    end
    local answer = f(unpack(seen, 1, n))
    for i = 1, n do
      if not same(seen[i], kept[i], 0) then fail(name .. ": it changed its argument " .. about.arguments[i].name) end
    end
    c.check_answer(name, answer, policy.composes, unpack(seen, 1, n))
    return answer
  end
end

local hooks_of_tests = {}
local guarded_pack

local function pack_for_tests()
  if guarded_pack then return guarded_pack end
  local policy = require("policy")
  if type(policy) ~= "table" or is_view(policy) then return policy end
  guarded_pack = {}
  for key, value in pairs(policy) do
    guarded_pack[key] = value
    if type(value) == "table" and not plain_entries[key] then
      local hooks = {}
      for hook, f in pairs(value) do
        local name = tostring(key) .. "." .. tostring(hook)
        hooks[hook] = hooks_of_tests[name] and type(f) == "function" and guarded(name, f, hooks_of_tests[name], policy) or f
      end
      guarded_pack[key] = hooks
    end
  end
  return guarded_pack
end

local tests = {}

local function mismatch(text, note) error(note and c.tostring(note) .. ": " .. text or text, 3) end

local test_globals = {
  require = function(name)
    if name == "policy" then return pack_for_tests() end
    return require(name)
  end,
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

local function load_tests(file, known)
  tests = {}
  hooks_of_tests = known or {}
  c.compile(file, test_environment)()
  local names = {}
  for i = 1, #tests do names[i] = tests[i].name end
  return names
end

local function run_test(i) tests[i].body() end

return { load_pack = load_pack, call = call, evaluate = evaluate, load_tests = load_tests, run_test = run_test }
