-- Collects what is found and says how much each finding matters.
local clears = require("clears")
local tables = require("tables")

local findings, nothing = { rules = {} }, {}
for id in pairs(tables.severities) do findings.rules[#findings.rules + 1] = id end
table.sort(findings.rules)

-- What clears it, in words; nil where it is not known.
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

-- A list that findings are added to. `add(id, subject, why, more)`; more may have from, to, rule, evidence, severity, and
-- clears where what clears it is another thing than clears.lua says.
function findings.new()
  local list = {}
  local function add(id, subject, why, more)
    more = more or nothing
    -- Field by field: an order of keys would be made for each finding, and none is needed.
    local found = { id = id, subject = subject, why = why, from = more.from, to = more.to, rule = more.rule, evidence = more.evidence,
      blocking = more.blocking, clears = more.clears }
    local severity = more.severity or tables.severities[id]
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

-- What was wrong with a document when it was read.
function findings.take_problems(problems, add)
  for _, p in ipairs(problems) do
    add(p.id, p.subject, p.why, { from = p.from, to = p.to, evidence = p.evidence })
  end
end

return findings
