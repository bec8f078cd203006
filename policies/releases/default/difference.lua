-- What changes from one Release to another, item by item.
local image = require("image")
local tables = require("tables")
local versions = require("versions")

local difference = {}
local kinds = { { "component", "app" }, { "app", "component" } }
local place = { component = 1, binary = 2, app = 3 }

local function names_of(list)
  if #list < 2 then return list[1] or "" end
  local names = {}
  for i, name in ipairs(list) do names[i] = name end
  table.sort(names)
  return table.concat(names, ",")
end

-- "yes", "chart" or "no": what a change of this component does to machines.
local function rolls(name, chart, uses)
  for _, rolling in ipairs(tables.rolling) do
    if name == rolling then return "yes" end
  end
  if uses[name] then return "yes" end
  return name == chart and "chart" or "no"
end

-- What is inside of the toolbox, where tables.lua knows it for both versions.
local function binaries(provider, from, to, changes)
  local function by_name(version)
    local list = image.inside(provider, image.without_v(version))
    if not list then return nil end
    local found = {}
    for _, tool in ipairs(list) do found[tool.name] = tool.version end
    return found
  end
  local old, new = by_name(from), by_name(to)
  if not old or not new then return end
  local names = {}
  for name in pairs(old) do names[name] = true end
  for name in pairs(new) do names[name] = true end
  for name in pairs(names) do
    local a, b = old[name], new[name]
    if a and b and a ~= b then
      local level, direction, strict = versions.change(name, a, b)
      changes[#changes + 1] = { kind = "binary", name = name, what = "changed", from = a, to = b, rolls = "no", level = level,
        direction = direction, strict = strict }
    elseif a ~= b then
      changes[#changes + 1] = { kind = "binary", name = name, what = a and "removed" or "added", from = a or "", to = b or "",
        rolls = "no" }
    end
  end
end

-- machines(from, to, is_machine): "Kind/name" of what machines are made from and the two charts render otherwise; sorted.
function difference.machines(from, to, is_machine)
  local function of(chart)
    local found = {}
    for _, object in ipairs(chart.objects) do
      if is_machine(object.kind) then found[object.kind .. "/" .. object.name] = object.digest end
    end
    return found
  end
  local old, new, changed = of(from), of(to), {}
  for name, digest in pairs(old) do
    if new[name] ~= digest then changed[#changed + 1] = name end
  end
  for name in pairs(new) do
    if not old[name] then changed[#changed + 1] = name end
  end
  table.sort(changed)
  return changed
end

-- of(base, release, provider, uses): the changes, components before apps, each by name. `uses`: components that are part of the
-- name of an image. Both Releases are plain (plain.lua).
function difference.of(base, release, provider, uses)
  local chart = image.chart_of(provider)
  local changes = {}
  local function add(kind, name, what, from, to, rolling)
    local change = { kind = kind, name = name, what = what, from = from, to = to,
      rolls = rolling or kind == "component" and rolls(name, chart, uses) or "no" }
    changes[#changes + 1] = change
    return change
  end
  local function compare(kind, name, a, b)
    local from, to = a.version, b.version
    if from ~= to then
      local change = add(kind, name, "changed", from, to)
      change.level, change.direction, change.strict = versions.change(name, from, to)
    end
    if a.catalog ~= b.catalog then add(kind, name, "catalog", a.catalog, b.catalog, "no") end
    if kind == "component" then
      if a.reference ~= b.reference then add(kind, name, "reference", a.reference, b.reference, "no") end
    elseif #a.depends_on > 0 or #b.depends_on > 0 then
      local was, is = names_of(a.depends_on), names_of(b.depends_on)
      if was ~= is then add(kind, name, "depends", was, is) end
    end
  end
  local old, new = { component = base.component, app = base.app }, { component = release.component, app = release.app }
  for _, both in ipairs(kinds) do
    local kind, other = both[1], both[2]
    local mine, theirs = old[kind], new[kind]
    -- Of those with one name the last one counts.
    for _, a in ipairs(kind == "app" and base.apps or base.components) do
      local name = a.name
      if mine[name] == a then
        local b = theirs[name]
        if b then
          compare(kind, name, a, b)
        elseif not (new[other][name] and not old[other][name]) then
          -- What became an app, or a component, is told once, where it is now.
          add(kind, name, "removed", a.version, "")
        end
      end
    end
    for _, b in ipairs(kind == "app" and release.apps or release.components) do
      local name = b.name
      if theirs[name] == b and not mine[name] then
        local before = old[other][name]
        if before and not new[other][name] then
          add(kind, name, "moved", before.version, b.version)
        else
          add(kind, name, "added", "", b.version)
        end
      end
    end
  end
  local was, is = old.component[tables.toolbox], new.component[tables.toolbox]
  if was and is and was.version ~= is.version then binaries(provider, was.version, is.version, changes) end
  table.sort(changes, function(a, b)
    if a.kind ~= b.kind then return place[a.kind] < place[b.kind] end
    if a.name ~= b.name then return a.name < b.name end
    return a.what < b.what
  end)
  return changes
end

return difference
