-- Which Releases of a provider are offered on, deprecated or archived.
local image = require("image")
local tables = require("tables")

local lifecycle = {}

-- The Release that a cluster means: by its name, or by its version alone, with or without a v.
local function meant(name, there, prefix)
  local version = name:match("^v?(%d.*)$")
  if there[name] or not version then return name end
  if prefix and there[prefix .. version] then return prefix .. version end
  return there["v" .. version] and "v" .. version or prefix and prefix .. version or name
end

-- plan(releases, in_use, add): a row for each: name, state, action ("keep", "deprecate", "archive"), why. `in_use`: names or versions of
-- Releases that a cluster had lately; nil: not known, and more is kept.
function lifecycle.plan(releases, in_use, add)
  local all, used, there, prefix = {}, {}, {}, nil
  for _, release in ipairs(releases) do
    there[release.name] = true
    local provider, version = image.identified(release, add, "warn")
    prefix = prefix or provider and provider .. "-"
    local v = provider and semver.parse(version)
    if v and not release.archived then
      all[#all + 1] = { name = release.name, file = release.file, state = release.state, version = version, major = v.major }
    end
  end
  table.sort(all, function(a, b) return semver.compare(a.version, b.version) < 0 end)
  for _, text in ipairs(in_use or {}) do
    local name = meant(text, there, prefix)
    used[name] = true
    local whose = image.identify({ name = name, folder = "", components = {} })
    if not there[name] and (whose == nil or whose .. "-" == prefix) then
      there[name] = true
      add("usage.not-found", "release/" .. name, "a cluster has it, and there is no such Release", { from = text, rule = "life cycle" })
    end
  end
  local latest, majors, oldest_used = {}, {}, nil
  local floor
  for _, r in ipairs(all) do
    if r.state == "active" then
      if not latest[r.major] then majors[#majors + 1] = r.major end
      latest[r.major] = r
      floor = floor or r
    end
    if used[r.name] and (not oldest_used or r.major < oldest_used) then oldest_used = r.major end
  end
  local newest = {}
  for i = math.max(1, #majors - tables.kept_majors + 1), #majors do newest[majors[i]] = true end

  local rows = {}
  for _, r in ipairs(all) do
    local action, why = "keep", nil
    if r.state == "active" then
      local is_latest = latest[r.major] == r
      if used[r.name] then
        why = "a cluster has it"
      elseif is_latest and newest[r.major] then
        why = "it is the latest of one of the " .. tables.kept_majors .. " newest majors"
      elseif is_latest and not in_use then
        why = "it is the latest of its major, and it is not known what is in use"
      elseif is_latest and oldest_used and r.major >= oldest_used then
        why = "it is the latest of a major that clusters of " .. oldest_used .. " go through"
      else
        action, why = "deprecate", "no cluster has it, and a later one is offered"
      end
    elseif r.state == "deprecated" then
      if not in_use then
        why = "it is not known what is in use"
      elseif used[r.name] then
        why = "a cluster has it"
      elseif floor and semver.compare(r.version, floor.version) > 0 then
        why = "it is above " .. floor.name .. ", and a cluster on that one may need it as a step"
      else
        action, why = "archive", "it is deprecated, no cluster has it, and nothing below it is offered"
      end
    else
      why = "it is " .. r.state
    end
    rows[#rows + 1] = { name = r.name, state = r.state, action = action, why = why }
  end
  if not in_use then
    add("usage.unknown", "release/*", "no source says what is in use: nothing is archived, and the latest of every major is kept",
      { rule = "life cycle" })
  end
  return rows
end

return lifecycle
