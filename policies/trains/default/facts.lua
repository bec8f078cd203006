-- What is known of a train: its document with the facts about foreign projects, looked at once.
local tables = require("tables")

local facts = {}

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
    list[#list + 1] = found
  end
  return list, add
end

-- What each list of the document consists of: text fields, * those that are needed.
local shapes = {
  projects = { name = "*", candidate = "", digest = "", release = "", protocol = "", evidence = "", head = "" },
  pins = { holder = "*", project = "*", field = "*", kind = "", value = "*", comment = "", image = "", was = "" },
  edges = { from = "*", to = "*", kind = "*", field = "" },
  steps = { id = "*", state = "", evidence = "", commit = "" },
  suites = { id = "*", project = "", contentHash = "", result = "*" },
  tags = { project = "*", tag = "*", commit = "", digest = "", was = "" },
  ancestry = { project = "*", from = "*", to = "*" },
  images = { ref = "*", digest = "", arch = "" },
  releases = { tag = "*", date = "" },
}

-- read(document, add): the document with lists where there are none; what is not as it should be is a finding with its place.
function facts.read(document, add)
  local out = { file = document.file or "train" }
  local function wrong(place, why)
    add("train.schema", "train/" .. tostring(document.train or "?"), why, { evidence = out.file .. ": " .. place })
  end
  if type(document.train) ~= "string" then wrong("train", "train: expected a name") end
  for key, value in pairs(document) do out[key] = value end
  for name, shape in pairs(shapes) do
    local list = {}
    if document[name] ~= nil and type(document[name]) ~= "table" then
      wrong(name, name .. ": expected a list")
    else
      for i, entry in ipairs(document[name] or {}) do
        local place = name .. "[" .. i .. "]"
        if type(entry) ~= "table" then
          wrong(place, "expected a mapping")
        else
          local good = true
          for field, kind in pairs(shape) do
            local value = entry[field]
            if value == nil then
              if kind == "*" then
                wrong(place .. "." .. field, field .. " is missing")
                good = false
              end
            elseif type(value) ~= "string" then
              wrong(place .. "." .. field, field .. ": expected a text, got " .. tostring(value))
              good = false
            end
          end
          if good then list[#list + 1] = entry end
        end
      end
    end
    out[name] = list
  end
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

-- How far `to` is from `from`: { ahead =, behind = }, or nil.
function facts.distance(train, project, from, to)
  for _, a in ipairs(train.ancestry) do
    if a.project == project and a.from == from and a.to == to then return a end
  end
end

-- A suite of that name that passed.
function facts.passed(train, id)
  for _, suite in ipairs(train.suites) do
    if suite.id == id and suite.result == "passed" then return true end
  end
  return false
end

return facts
