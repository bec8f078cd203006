-- What changes from one Release to another, item by item.
local image = require("image")
local tables = require("tables")
local versions = require("versions")

local difference = {}

local function by_name(list)
  local found = {}
  for _, entry in ipairs(list) do found[entry.name] = entry end
  return found
end

local function names_of(list)
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

-- What is inside of a component, where tables.lua knows it for both versions.
local function binaries(from, to, changes)
  local old, new = tables.binaries[from], tables.binaries[to]
  if not old or not new then return end
  local names = {}
  for name in pairs(old) do names[name] = true end
  for name in pairs(new) do names[name] = true end
  for name in pairs(names) do
    local a, b = old[name], new[name]
    if a and b and a ~= b then
      local direction, strict = versions.direction(name, a, b)
      changes[#changes + 1] = { kind = "binary", name = name, what = "changed", from = a, to = b, rolls = "no",
        level = versions.level(image.without_v(a), image.without_v(b)), direction = direction, strict = strict }
    elseif a ~= b then
      changes[#changes + 1] = { kind = "binary", name = name, what = a and "removed" or "added", from = a or "", to = b or "",
        rolls = "no" }
    end
  end
end

-- of(base, release, chart, uses): the changes, components before apps, each by name. `uses`: components that are part of the
-- name of an image.
function difference.of(base, release, chart, uses)
  local changes = {}
  local old = { component = by_name(base.components), app = by_name(base.apps) }
  local new = { component = by_name(release.components), app = by_name(release.apps) }
  local other = { component = "app", app = "component" }
  for _, kind in ipairs({ "component", "app" }) do
    local names = {}
    for name in pairs(old[kind]) do names[name] = true end
    for name in pairs(new[kind]) do names[name] = true end
    for name in pairs(names) do
      local a, b = old[kind][name], new[kind][name]
      local function add(what, from, to, more)
        local change = { kind = kind, name = name, what = what, from = from, to = to,
          rolls = kind == "component" and rolls(name, chart, uses) or "no" }
        for key, value in pairs(more or {}) do change[key] = value end
        changes[#changes + 1] = change
      end
      if a and b then
        local from, to = a.version, b.version
        if from ~= to then
          local direction, strict = versions.direction(name, from, to)
          add("changed", from, to, { level = versions.level(image.without_v(from), image.without_v(to)),
            direction = direction, strict = strict })
        end
        local catalog = b.catalog
        if a.catalog ~= catalog then add("catalog", a.catalog, catalog, { rolls = "no" }) end
        if kind == "component" then
          local reference = b.reference
          if a.reference ~= reference then add("reference", a.reference, reference, { rolls = "no" }) end
        else
          local needs_a, needs_b = a.depends_on, b.depends_on
          if #needs_a > 0 or #needs_b > 0 then
            local was, is = names_of(needs_a), names_of(needs_b)
            if was ~= is then add("depends", was, is) end
          end
        end
      elseif a then
        -- What became an app, or a component, is told once, where it is now.
        if not (new[other[kind]][name] and not old[other[kind]][name]) then add("removed", a.version, "") end
      else
        local before = old[other[kind]][name]
        if before and not new[other[kind]][name] then
          add("moved", before.version, b.version)
        else
          add("added", "", b.version)
        end
      end
    end
  end
  local was, is = old.component[tables.toolbox], new.component[tables.toolbox]
  if was and is and was.version ~= is.version then binaries(was.version, is.version, changes) end
  local place = { component = 1, binary = 2, app = 3 }
  table.sort(changes, function(a, b)
    if a.kind ~= b.kind then return place[a.kind] < place[b.kind] end
    if a.name ~= b.name then return a.name < b.name end
    return a.what < b.what
  end)
  return changes
end

return difference
