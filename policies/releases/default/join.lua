-- Whether the providers go on together, and who is left behind.
local tables = require("tables")

local join = {}

local function is_exempt(name)
  for _, exempt in ipairs(tables.exempt) do
    if exempt == name then return true end
  end
  return false
end

local function latest_of(versions)
  local latest
  for _, text in ipairs(versions) do
    local v = semver.parse(text)
    if v and v.prerelease == "" and (not latest or semver.compare(text, latest) > 0) then latest = text end
  end
  return latest
end

-- The minor that follows for all: nil and why when they are not together.
local function following(kind, providers)
  local at, first
  for _, p in ipairs(providers) do
    local v = not is_exempt(p.name) and p.latest and semver.parse(p.latest)
    if v then
      local here = kind == "major" and tostring(v.major) or v.major .. "." .. v.minor
      if at and at ~= here then return nil, first .. " is at " .. at .. " and " .. p.name .. " at " .. here end
      at, first = at or here, first or p.name
    end
  end
  if not at then return nil, "no provider has a Release" end
  local major, minor = at:match("^(%d+)%.?(%d*)$")
  if kind == "major" then return (major + 1) .. ".0" end
  return major .. "." .. (minor + 1)
end

-- plan(question, add): the target and a row for each provider: provider, latest, joins, why.
function join.plan(question, add)
  local providers, rows = {}, {}
  for i, p in ipairs(question.providers) do providers[i] = { name = p.name, latest = latest_of(p.versions) } end
  local target, why = question.target, nil
  if target == "" then
    target, why = following(question.kind, providers)
    if not target then
      add("join.apart", "release/*", "there is no " .. question.kind .. " for all: " .. why, { rule = "exempt" })
      return "", rows
    end
  end
  local major, minor = target:match("^v?(%d+)%.(%d+)$")
  major, minor = tonumber(major), tonumber(minor)
  if not major then
    add("bump.version", "release/" .. target, "'" .. target .. "' is no target such as 35.0")
    return "", rows
  end
  for i, p in ipairs(providers) do
    local row = { provider = p.name, latest = p.latest or "", joins = false, why = "it has no Release" }
    local v = p.latest and semver.parse(p.latest)
    if is_exempt(p.name) then
      row.why = "it goes its own way"
    elseif v and (v.major > major or (v.major == major and v.minor >= minor - 1)) then
      row.joins, row.why = true, "it is at " .. v.major .. "." .. v.minor
    elseif v and v.major == major - 1 and minor == 0 then
      row.joins, row.why = true, "it is one major behind"
    elseif v and v.major == major then
      row.why = string.format("needs %d.%d.0 first", major, v.minor + 1)
    elseif v then
      row.why = string.format("needs %d.0.0 first", v.major + 1)
    end
    rows[i] = row
  end
  return target, rows
end

return join
