-- What is known of a train: its document with the facts about foreign projects, looked at once.
local clears = require("clears")
local names = require("names")
local tables = require("tables")

local facts = {}

-- What clears it, in words; nil where neither the finding nor clears.lua has any.
local function cleared_by(found)
  local text = found.clears or clears[found.id]
  if not text or (found.severity ~= "error" and not found.blocking) then return nil end
  local whole = true
  text = text:gsub("{(%l+)}", function(field)
    local value = field == "name" and found.subject:match("/(.*)$") or found[field]
    whole = whole and value ~= nil and value ~= ""
    return value
  end)
  return whole and text or nil
end

-- Every id that a finding may have: what consent may name.
facts.rules = names.sorted(tables.severities)

function facts.findings()
  local list = {}
  local function add(id, subject, why, more)
    local found = { id = id, subject = subject, why = why }
    for key, value in pairs(more or {}) do found[key] = value end
    local severity = found.severity or tables.severities[id]
    if severity == nil then error("tables.lua: severities: there is none for " .. id, 0) end
    if severity == "approval" then
      severity = "warn"
      found.blocking = "approval"
    end
    found.severity = severity
    found.clears = cleared_by(found)
    list[#list + 1] = found
  end
  return list, add
end

-- What a document consists of. A field is a text: "*" is needed, "" is not; "number" is digits; "texts" a mapping of texts; "names" a list
-- of texts; a list of words: one of them.
local fields = {
  train = "*", file = "", phase = { "planning", "candidate", "frozen", "released", "post" }, order = "", cadence = "", since = "",
  now = "", bump = "", reqs_payload_commit = "",
}
local kinds_of_pin = { "commit", "tag", "version", "digest", "floating" }
local kinds_of_edge = { "strong", "weak", "pair", "same-version", needed = true }
local states = { "done", "started", "ready", "blocked", "open" }
local shapes = {
  projects = { name = "*", candidate = "", digest = "", release = "", protocol = "", evidence = "", head = "" },
  pins = { holder = "*", project = "*", field = "*", kind = kinds_of_pin, value = "*", comment = "", image = "", was = "", tested = "", former = "" },
  edges = { from = "*", to = "*", kind = kinds_of_edge, field = "" },
  steps = { id = "*", state = states, evidence = "", commit = "", inputs = "texts", needs = "names", title = "", owner = "", pr = "",
    approval = "" },
  suites = { id = "*", project = "", contentHash = "", result = "*" },
  tags = { project = "*", tag = "*", commit = "", digest = "", was = "" },
  ancestry = { project = "*", from = "*", to = "*", ahead = "number", behind = "number" },
  images = { ref = "*", digest = "", arch = "", was = "" },
  releases = { tag = "*", date = "" },
  trains = { train = "*", bundle = "", client = "*", server = "*", client_commit = "", server_commit = "", client_protocol = "",
    server_protocol = "" },
}
local mappings = {
  freeze = { project = "*", baseCommit = "", since = "", ["until"] = "", by = "", fixup = "", mode = { "commit", "branch", "lock", "none" } },
  promote = { project = "", tag = "" },
  match = { client = "", server = "", bundle = "", train = "", protocol = "" },
}
-- Every fact says where it is from and when it was seen; that is for people.
local everywhere = { source = true, at = true }

local sorted = names.sorted

local function expected(words)
  local text = table.concat(words, ", ", 1, #words - 1)
  return text .. " or " .. words[#words]
end

local function is_mapping(value) return type(value) == "table" and value[1] == nil and not empty(value) end
local function is_list(value) return type(value) == "table" and not is_mapping(value) end

-- Whether a field is what its kind says; else why not.
local function wrong_with(name, kind, value, guess)
  local needed = kind == "*" or (type(kind) == "table" and kind.needed)
  if value == nil or (value == "" and needed) then return needed and name .. " is missing" or nil end
  if kind == "number" then
    if type(value) ~= "number" and not (type(value) == "string" and value:match("^%d+$")) then
      return name .. ": expected a number, got '" .. tostring(value) .. "'"
    end
    return nil
  end
  if kind == "texts" then
    if type(value) ~= "table" then return name .. ": expected a mapping of texts, got " .. tostring(value) end
    for _, key in ipairs(sorted(value)) do
      if type(value[key]) ~= "string" or value[key] == "" then return name .. ": expected a text for each project, and " .. key .. " has none" end
    end
    return nil
  end
  if kind == "names" then
    if not is_list(value) then return name .. ": expected a list of texts" end
    for _, one in ipairs(value) do
      if type(one) ~= "string" or one == "" then return name .. ": expected a list of texts" end
    end
    return nil
  end
  if type(value) ~= "string" then return name .. ": expected a text, got " .. (type(value) == "table" and "a list or a mapping" or tostring(value)) end
  if type(kind) ~= "table" then return nil end
  for _, word in ipairs(kind) do
    if value == word then return nil end
  end
  return name .. ": expected " .. expected(kind) .. ", got '" .. value .. "'" .. guess(value, names.set(kind))
end

-- One project's name for another's: "pair:A+B" is about A and B.
function facts.projects_of(suite)
  local a, b = suite.id:match("^pair:(.+)%+(.+)$")
  if suite.project then return { suite.project } end
  return a and { a, b } or {}
end

function facts.is_commit(text) return #text == 40 and text:match("^%x+$") ~= nil end

function facts.key_of_pin(pin) return pin.holder .. "/" .. pin.project .. "." .. pin.field end

-- What an entry of a list is called, where its place is told.
local keys = {
  projects = function(e) return e.name end,
  pins = facts.key_of_pin,
  edges = function(e) return e.from .. "->" .. e.to end,
  steps = function(e) return e.id end,
  suites = function(e) return e.id end,
  tags = function(e) return e.project .. " " .. e.tag end,
  ancestry = function(e) return e.project .. " " .. e.from .. ".." .. e.to end,
  images = function(e) return e.ref end,
  releases = function(e) return e.tag end,
  trains = function(e) return e.train end,
}

-- Of entries that are about one thing: which fields must say the same. Files of facts may repeat each other and the document; what only
-- one of them says is kept.
local about = {
  projects = false, steps = false, releases = false, trains = false, -- each is said once
  pins = { "kind", "value", "comment", "image", "was", "tested", "former" },
  edges = { "kind", "field" },
  tags = { "commit", "digest", "was" },
  ancestry = { "ahead", "behind" },
  images = { "digest", "arch", "was" },
}

-- The entries of a list, each thing once and in the order of its names: what a document says does not hang on its order.
local function once(name, list, wrong)
  if about[name] == nil then return list end
  local by_key, order, told = {}, {}, {}
  for _, entry in ipairs(list) do
    local key = keys[name](entry)
    if name == "edges" then key = key .. " " .. (entry.field or "") end
    local there = by_key[key]
    if not there then
      by_key[key] = entry -- said() made it, of this train alone
      order[#order + 1] = key
    else
      local differs = not about[name]
      for _, field in ipairs(about[name] or {}) do
        if there[field] ~= nil and entry[field] ~= nil and tostring(there[field]) ~= tostring(entry[field]) then differs = true end
        if there[field] == nil then there[field] = entry[field] end
      end
      if differs and not told[key] then
        told[key] = true
        wrong(name .. "[" .. keys[name](entry) .. "]", keys[name](entry) .. " is there twice, with different values")
      end
    end
  end
  -- Releases and trains have an order of their own: the latest is the last.
  if name ~= "releases" and name ~= "trains" then table.sort(order) end
  local out = {}
  for i, key in ipairs(order) do out[i] = by_key[key] end
  return out
end

-- An entry without the fields that say nothing; a commit has small letters, as git writes it.
local function said(entry)
  local out = {}
  for name, value in pairs(entry) do
    if value ~= "" then out[name] = type(value) == "string" and facts.is_commit(value) and value:lower() or value end
  end
  return out
end

-- The names that a document may use: those of tables.lua and its own projects.
local function check_names(out, guess, add)
  local known = names.projects(tables)
  -- A guess of its own: many projects leave the other names theirs.
  local stock, drawn, guess_project = copy(known), {}, names.guess(50000)
  for _, edge in ipairs(out.own_edges) do drawn[edge.from], drawn[edge.to] = true, true end
  for _, p in ipairs(out.projects) do
    known[p.name] = true
    -- A project of the document's own that is nearly called as another one is a mistake, unless an edge says what it is.
    if not stock[p.name] and not drawn[p.name] then
      local near, which = guess_project(p.name, stock, "strict")
      if which then
        add("train.unknown-name", "project/" .. p.name, "there is no project '" .. p.name .. "'" .. near, { from = p.name, to = which,
          clears = "write a name that is known, or draw an edge of " .. p.name .. " under `edges`",
          evidence = out.file .. ": projects[" .. p.name .. "].name" })
      end
    end
  end
  out.known = known
  local steps, own = {}, {}
  for _, step in ipairs(tables.steps[out.order or "after"] or {}) do steps[step.id] = true end
  for _, step in ipairs(out.steps) do own[step.id] = step.needs ~= nil end
  -- A name of a project that is near to a known one is a mistake; any other may be a project that is not listed yet.
  local function project(place, name)
    if name == nil or known[name] then return end
    local near, which = guess(name, known)
    add("train.unknown-name", "project/" .. name, "there is no project '" .. name .. "'" .. near,
      { from = name, to = which, severity = not which and "warn" or nil, evidence = out.file .. ": " .. place })
  end
  local function must(place, what, name, among)
    if name == nil or among[name] then return end
    local near, which = guess(name, among)
    add("train.unknown-name", what .. "/" .. name, "there is no " .. what .. " '" .. name .. "'" .. near,
      { from = name, to = which, clears = what == "step" and "write a step that is known; one of yours says its `needs`" or nil,
        evidence = out.file .. ": " .. place })
  end
  -- The fields of a list that name a project.
  for _, row in ipairs({ { "pins", "holder" }, { "pins", "project" }, { "own_edges", "from", "edges" }, { "own_edges", "to", "edges" },
    { "tags", "project" }, { "ancestry", "project" } }) do
    local list_name, field = row[3] or row[1], row[2]
    for _, entry in ipairs(out[row[1]]) do
      if not known[entry[field]] then project(list_name .. "[" .. keys[list_name](entry) .. "]." .. field, entry[field]) end
    end
  end
  for _, suite in ipairs(out.suites) do
    for _, name in ipairs(facts.projects_of(suite)) do
      project("suites[" .. suite.id .. "]." .. (suite.project and "project" or "id"), name)
    end
  end
  if out.freeze then must("freeze.project", "project", out.freeze.project, known) end
  must("bump", "project", out.bump, known)
  if out.promote then must("promote.project", "project", out.promote.project, known) end
  if not tables.steps[out.order or "after"] then
    local near, which = guess(out.order, names.set(sorted(tables.steps)))
    add("train.schema", "train/" .. (out.train or "?"), "there is no order of steps '" .. out.order .. "'" .. near, { from = out.order, to = which,
      evidence = out.file .. ": order" })
    return
  end
  local all = copy(steps)
  for id, defines in pairs(own) do all[id] = all[id] or defines or nil end
  for _, step in ipairs(out.steps) do
    local place = "steps[" .. step.id .. "]."
    -- A step that is in no table is the document's own, where it says what it needs.
    if not own[step.id] then must(place .. "id", "step", step.id, steps) end
    for _, need in ipairs(step.needs or {}) do must(place .. "needs", "step", need, all) end
    for _, name in ipairs(sorted(step.inputs or {})) do project(place .. "inputs", name) end
  end
end

-- The edges of a train: those of tables.lua and its own, which count where both say something; `only` its own where it says so.
local function with_edges(own, only)
  if only then return own end
  local by_key, order = {}, {}
  for _, list in ipairs({ tables.edges, own }) do
    for _, edge in ipairs(list) do
      local key = keys.edges(edge) .. " " .. (edge.field or "")
      if not by_key[key] then order[#order + 1] = key end
      -- What a document says of an edge that a line has: another kind, the same pins.
      by_key[key] = { from = edge.from, to = edge.to, kind = edge.kind, field = edge.field,
        fields = edge.fields or (by_key[key] and by_key[key].fields) or (edge.field and { edge.field }) }
    end
  end
  local all = {}
  for i, key in ipairs(order) do all[i] = by_key[key] end
  return all
end

-- read(document, add): the document with lists where there are none; what is not as it should be is a finding with its place.
function facts.read(document, add)
  local out = { file = document.file or "train" }
  local guess = names.guess(50000)
  local function wrong(place, why)
    add("train.schema", "train/" .. tostring(document.train or "?"), why, { evidence = out.file .. ": " .. place })
  end
  -- One that is nearly a known one is that one, misspelt: a freeze, or what a pin was, would be lost.
  local function unknown(place, name, known)
    local near, which = guess(name, known)
    add("train.unknown-field", "train/" .. tostring(document.train or "?"), "no document of this form has the field '" .. name .. "'" .. near,
      { from = name, to = which, severity = which and "error", evidence = out.file .. ": " .. place })
  end
  -- True when everything needed is there and everything there is what it should be. (pairs goes through names in their order.)
  local function good(entry, shape, place)
    local all = true
    for name, kind in pairs(shape) do
      local value = entry[name]
      if (kind ~= "" or (value ~= nil and type(value) ~= "string")) and not (kind == "*" and type(value) == "string" and value ~= "") then
        local why = wrong_with(name, kind, value, guess)
        if why then
          wrong(place() .. name, why)
          all = false
        end
      end
    end
    for name in pairs(entry) do
      if shape[name] == nil and not everywhere[name] then unknown(place() .. tostring(name), tostring(name), shape) end
    end
    return all
  end
  for _, name in ipairs(sorted(fields)) do
    local why = wrong_with(name, fields[name], document[name], guess)
    if why then wrong(name, why) elseif document[name] ~= nil then out[name] = document[name] end
  end
  local top = { present = true }
  for _, part in ipairs({ fields, shapes, mappings }) do
    for name in pairs(part) do top[name] = true end
  end
  for _, name in ipairs(sorted(document)) do
    if not top[name] and not everywhere[name] then unknown(tostring(name), tostring(name), top) end
  end
  for _, name in ipairs(sorted(mappings)) do
    local entry = document[name]
    if entry ~= nil and (type(entry) ~= "table" or entry[1] ~= nil) then
      wrong(name, name .. ": expected a mapping")
    elseif entry ~= nil and good(entry, mappings[name], function() return name .. "." end) then
      out[name] = said(entry)
    end
  end
  if document.present ~= nil and not is_list(document.present) then
    wrong("present", "present: expected a list")
  else
    out.present = document.present
  end
  local only = false
  for _, name in ipairs(sorted(shapes)) do
    local list, given, at = {}, document[name], name
    if name == "edges" and is_mapping(given) and given.only ~= nil then
      only, given, at = true, given.only, "edges.only"
    end
    if given ~= nil and not is_list(given) then
      wrong(at, name .. ": expected a list" .. (is_mapping(given) and ", got a mapping" or ""))
    else
      for i, entry in ipairs(given or {}) do
        if type(entry) ~= "table" then
          wrong(at .. "[" .. i .. "]", "expected a mapping")
        elseif good(entry, shapes[name], function() return at .. "[" .. i .. "]." end) then
          list[#list + 1] = said(entry)
        end
      end
    end
    out[name] = once(name, list, wrong)
  end
  out.own_edges, out.edges = out.edges, with_edges(out.edges, only)
  out.by_name, out.tag_commit, out.by_digits, out.pin_at, out.pins_by, out.holds = {}, {}, {}, {}, {}, {}
  -- The whole commits that are known of each project, by their first digits: what is written with fewer digits is one of them.
  local function know(project, commit)
    if not commit or not facts.is_commit(commit) then return end
    local key = project .. " " .. commit:sub(1, 7)
    local list = out.by_digits[key] or {}
    out.by_digits[key] = list
    list[commit] = true
  end
  for _, p in ipairs(out.projects) do
    out.by_name[p.name] = p
    know(p.name, p.candidate)
  end
  for _, t in ipairs(out.tags) do know(t.project, t.commit) end
  for _, pin in ipairs(out.pins) do know(pin.project, pin.value) end
  for _, a in ipairs(out.ancestry) do
    know(a.project, a.from)
    know(a.project, a.to)
  end
  for _, t in ipairs(out.tags) do
    out.tag_commit[t.project .. " " .. t.tag] = t.commit and (facts.commit(out, t.project, t.commit, add) or t.commit)
  end
  for _, p in ipairs(out.projects) do
    p.candidate = p.candidate and (facts.commit(out, p.name, p.candidate, add) or p.candidate)
  end
  for _, pin in ipairs(out.pins) do
    out.pin_at[facts.key_of_pin(pin)] = pin
    local key = pin.holder .. " " .. pin.project
    out.pins_by[key] = out.pins_by[key] or {}
    table.insert(out.pins_by[key], pin)
    out.holds[pin.holder] = true
  end
  check_names(out, guess, add)
  out.hash = facts.hash(out)
  return out
end

-- Whether a project is part of a train: it is one of its projects or pins something.
function facts.takes_part(train, project) return train.by_name[project] ~= nil or train.holds[project] == true end

-- Whether a train goes, or went, out: what is missing or floats is a mistake then. One that is planned may lack anything.
function facts.is_planned(train) return train.phase == nil or train.phase == "planning" end
function facts.is_released(train) return train.phase == "released" or train.phase == "post" end

-- Whether a name is one of those that name something else tomorrow.
function facts.floats(value)
  for _, pattern in ipairs(tables.floating) do
    if value == pattern or (pattern:match("[%^%$]") and value:match(pattern)) then return true end
  end
  return false
end

-- The commit that a value stands for: a commit, a tag that is known, or the one commit that begins so; else nil.
function facts.commit(train, project, value, add)
  if facts.is_commit(value) then return value end
  local at = train.tag_commit[project .. " " .. value] or train.tag_commit[project .. " v" .. value]
    or train.tag_commit[project .. " " .. value:gsub("^v", "")]
  if at then return at end
  if value:match("^%x+$") and #value >= 7 then
    local found
    local digits = value:lower()
    for commit in pairs(train.by_digits[project .. " " .. digits:sub(1, 7)] or {}) do
      if commit:sub(1, #value) == digits then
        if found then
          add("train.ambiguous-commit", "pin/" .. project .. "/" .. value, value .. " begins more than one commit",
            { evidence = train.file .. ": tags" })
          return nil
        end
        found = commit
      end
    end
    return found
  end
  return nil
end

-- The pin of `holder` on `project` in `field`; without a field the first one.
function facts.pin(train, holder, project, field)
  if field then return train.pin_at[holder .. "/" .. project .. "." .. field] end
  return (train.pins_by[holder .. " " .. project] or {})[1]
end

-- Everything by which `holder` has `project`, by field.
function facts.pins_of(train, holder, project) return train.pins_by[holder .. " " .. project] or {} end

function facts.subject(pin) return "pin/" .. facts.key_of_pin(pin) end
-- Where it stands in the document.
function facts.place(train, pin) return train.file .. ": pins[" .. facts.key_of_pin(pin) .. "]" end

function facts.ignore() end

-- Whether two names stand for one commit of a project.
function facts.same(train, project, a, b)
  if a == b then return true end
  local commit = facts.commit(train, project, a, facts.ignore)
  return commit ~= nil and commit == facts.commit(train, project, b, facts.ignore)
end

-- How far `to` is from `from`, whichever names they have there: { ahead =, behind = }, or nil.
function facts.distance(train, project, from, to)
  local function same(a, b) return facts.same(train, project, a, b) end
  for _, a in ipairs(train.ancestry) do
    if a.project == project and same(a.from, from) and same(a.to, to) then return a end
  end
end

-- Whether a row of in_sync (tables.lua) is about a pin.
function facts.follows(pin, row)
  if pin.holder ~= row.holder or pin.project ~= row.project then return false end
  local start = row.field:match("^(.*)%*$")
  return pin.field == row.field or (start ~= nil and pin.field:sub(1, #start) == start)
end

-- Whether any row is.
function facts.follows_any(pin)
  for _, row in ipairs(tables.in_sync) do
    if facts.follows(pin, row) then return true end
  end
  return false
end

-- What suites, waivers and approvals are bound to: what each project is, the bundle's release and every pin. Another name of the same
-- commit is no change, nor is what is called after a pin (in_sync of tables.lua).
function facts.hash(train)
  local lines = {}
  for _, p in ipairs(train.projects) do
    local is = p.digest or p.candidate or ""
    if p.release and (is == "" or p.name == tables.bundle) and facts.commit(train, p.name, p.release, facts.ignore) ~= p.candidate then
      is = is .. "@" .. p.release
    elseif is == "" then
      is = p.release or ""
    end
    lines[#lines + 1] = p.name .. "=" .. is .. "\n"
  end
  for _, pin in ipairs(train.pins) do
    if not facts.follows_any(pin) then
      lines[#lines + 1] = facts.key_of_pin(pin) .. "=" .. (facts.commit(train, pin.project, pin.value, facts.ignore) or pin.value) .. "\n"
    end
  end
  table.sort(lines)
  return sha256(table.concat(lines))
end

return facts
