-- What is known of a train: its document with the facts about foreign projects, looked at once.
local clears = require("clears")
local tables = require("tables")

local facts = {}

-- What clears it, in words; nil where nobody says.
local function cleared_by(found)
  local text = clears[found.id]
  if not text or (found.severity ~= "error" and not found.blocking) then return nil end
  local whole = true
  text = text:gsub("{(%l+)}", function(field)
    local value = field == "name" and found.subject:match("/(.*)$") or found[field]
    whole = whole and value ~= nil and value ~= ""
    return value
  end)
  return whole and text or nil
end

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

-- What a document consists of. A field is a text: "*" is needed, "" is not; "number" is digits; "texts" a mapping of texts; a list of
-- words: one of them.
local fields = {
  train = "*", file = "", phase = { "planning", "candidate", "frozen", "released", "post" }, order = "", cadence = "", since = "",
  now = "", bump = "", reqs_payload_commit = "",
}
local shapes = {
  projects = { name = "*", candidate = "", digest = "", release = "", protocol = "", evidence = "", head = "" },
  pins = { holder = "*", project = "*", field = "*", kind = { "commit", "tag", "version", "digest", "floating" }, value = "*",
    comment = "", image = "", was = "", tested = "" },
  edges = { from = "*", to = "*", kind = { "strong", "weak", "pair", "same-version", needed = true }, field = "" },
  steps = { id = "*", state = { "done", "started", "ready", "blocked", "open" }, evidence = "", commit = "", inputs = "texts" },
  suites = { id = "*", project = "", contentHash = "", result = "*" },
  tags = { project = "*", tag = "*", commit = "", digest = "", was = "" },
  ancestry = { project = "*", from = "*", to = "*", ahead = "number", behind = "number" },
  images = { ref = "*", digest = "", arch = "", was = "" },
  releases = { tag = "*", date = "" },
  trains = { train = "*", bundle = "", client = "*", server = "*", client_commit = "", server_commit = "", client_protocol = "",
    server_protocol = "" },
}
local mappings = {
  freeze = { project = "*", baseCommit = "", since = "", by = "", fixup = "", mode = { "commit", "branch", "lock", "none" } },
  promote = { project = "", tag = "" },
  match = { client = "", server = "", bundle = "", train = "", protocol = "" },
}
-- Every fact says where it is from and when it was seen; that is for people.
local everywhere = { source = true, at = true }

local function sorted(of)
  local names = {}
  for name in pairs(of) do names[#names + 1] = tostring(name) end
  table.sort(names)
  return names
end

local function expected(words)
  local text = table.concat(words, ", ", 1, #words - 1)
  return text .. " or " .. words[#words]
end

-- Whether a field is what its kind says; else why not.
local function wrong_with(name, kind, value)
  local needed = kind == "*" or (type(kind) == "table" and kind.needed)
  if value == nil or (value == "" and needed) then return needed and name .. " is missing" or nil end
  if kind == "number" then
    if type(value) ~= "number" and not (type(value) == "string" and value:match("^%d+$")) then
      return name .. ": expected a number, got '" .. tostring(value) .. "'"
    end
    return nil
  end
  if kind == "texts" then
    if value == nil then return nil end
    if type(value) ~= "table" then return name .. ": expected a mapping of texts, got " .. tostring(value) end
    for _, key in ipairs(sorted(value)) do
      if type(value[key]) ~= "string" or value[key] == "" then return name .. ": expected a text for each project, and " .. key .. " has none" end
    end
    return nil
  end
  if type(value) ~= "string" then return name .. ": expected a text, got " .. tostring(value) end
  if type(kind) ~= "table" then return nil end
  for _, word in ipairs(kind) do
    if value == word then return nil end
  end
  return name .. ": expected " .. expected(kind) .. ", got '" .. value .. "'"
end

-- read(document, add): the document with lists where there are none; what is not as it should be is a finding with its place.
function facts.read(document, add)
  local out = { file = document.file or "train" }
  local function wrong(place, why, id)
    add(id or "train.schema", "train/" .. tostring(document.train or "?"), why, { evidence = out.file .. ": " .. place })
  end
  -- True when everything needed is there and everything there is what it should be.
  local function good(entry, shape, place)
    local all = true
    for _, name in ipairs(sorted(shape)) do
      local why = wrong_with(name, shape[name], entry[name])
      if why then
        wrong(place .. name, why)
        all = false
      end
    end
    for _, name in ipairs(sorted(entry)) do
      if shape[name] == nil and not everywhere[name] then
        wrong(place .. name, "nobody here knows this field", "train.unknown-field")
      end
    end
    return all
  end
  for _, name in ipairs(sorted(fields)) do
    local why = wrong_with(name, fields[name], document[name])
    if why then wrong(name, why) elseif document[name] ~= nil then out[name] = document[name] end
  end
  for _, name in ipairs(sorted(document)) do
    if fields[name] == nil and not shapes[name] and not mappings[name] and name ~= "present" and not everywhere[name] then
      wrong(name, "nobody here knows this field", "train.unknown-field")
    end
  end
  for _, name in ipairs(sorted(mappings)) do
    local entry = document[name]
    if entry ~= nil and type(entry) ~= "table" then
      wrong(name, name .. ": expected a mapping")
    elseif entry ~= nil and good(entry, mappings[name], name .. ".") then
      out[name] = entry
    end
  end
  if document.present ~= nil and type(document.present) ~= "table" then
    wrong("present", "present: expected a list")
  else
    out.present = document.present
  end
  for _, name in ipairs(sorted(shapes)) do
    local list = {}
    if document[name] ~= nil and type(document[name]) ~= "table" then
      wrong(name, name .. ": expected a list")
    else
      for i, entry in ipairs(document[name] or {}) do
        local place = name .. "[" .. i .. "]"
        if type(entry) ~= "table" then
          wrong(place, "expected a mapping")
        elseif good(entry, shapes[name], place .. ".") then
          list[#list + 1] = entry
        end
      end
    end
    out[name] = list
  end
  -- Where one thing is said twice nobody knows which counts; files of facts may repeat each other.
  local function twice(name, key_of, value_of)
    local seen, told = {}, {}
    for _, entry in ipairs(out[name]) do
      local key, value = key_of(entry), value_of and value_of(entry) or false
      if seen[key] == nil then
        seen[key] = value
      elseif (not value_of or seen[key] ~= value) and not told[key] then
        told[key] = true
        wrong(name .. "[" .. key .. "]", key .. " is there twice, and nobody knows which one counts")
      end
    end
  end
  twice("projects", function(p) return p.name end)
  twice("steps", function(s) return s.id end)
  twice("tags", function(t) return t.project .. " " .. t.tag end, function(t) return (t.commit or "") .. " " .. (t.digest or "") end)
  twice("images", function(i) return i.ref end, function(i) return i.digest or "" end)
  out.by_name, out.tag_commit, out.commits = {}, {}, {}
  for _, p in ipairs(out.projects) do
    out.by_name[p.name] = p
    if p.candidate then out.commits[p.name .. " " .. p.candidate] = true end
  end
  for _, t in ipairs(out.tags) do
    out.tag_commit[t.project .. " " .. t.tag] = t.commit
    if t.commit then out.commits[t.project .. " " .. t.commit] = true end
  end
  return out
end

function facts.is_commit(text) return text:match("^%x+$") ~= nil and #text == 40 end

-- The commit that a value stands for: a commit, a tag that is known, or the one commit that begins so. Nil when nobody knows.
function facts.commit(train, project, value, add)
  if facts.is_commit(value) then return value end
  local at = train.tag_commit[project .. " " .. value] or train.tag_commit[project .. " v" .. value]
    or train.tag_commit[project .. " " .. value:gsub("^v", "")]
  if at then return at end
  if value:match("^%x+$") and #value >= 7 then
    local found
    for key in pairs(train.commits) do
      local commit = key:sub(#project + 2)
      if key:sub(1, #project + 1) == project .. " " and commit:sub(1, #value) == value then
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
  for _, pin in ipairs(train.pins) do
    if pin.holder == holder and pin.project == project and (field == nil or pin.field == field) then return pin end
  end
end

function facts.subject(pin) return "pin/" .. pin.holder .. "/" .. pin.project .. "." .. pin.field end

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

-- A suite of that name that passed.
function facts.passed(train, id)
  for _, suite in ipairs(train.suites) do
    if suite.id == id and suite.result == "passed" then return true end
  end
  return false
end

-- Whether a row of in_sync (tables.lua) is about a pin.
function facts.follows(pin, row)
  if pin.holder ~= row.holder or pin.project ~= row.project then return false end
  local start = row.field:match("^(.*)%*$")
  return pin.field == row.field or (start ~= nil and pin.field:sub(1, #start) == start)
end

return facts
