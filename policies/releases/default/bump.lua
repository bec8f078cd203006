-- The next Release, made from the last one and the versions that there are.
local checks = require("checks")
local image = require("image")
local stages = require("stages")
local tables = require("tables")
local versions = require("versions")

local bump = {}

local kinds = {
  major = function(v) return string.format("%d.0.0", v.major + 1) end,
  minor = function(v) return string.format("%d.%d.0", v.major, v.minor + 1) end,
  patch = function(v) return string.format("%d.%d.%d", v.major, v.minor, v.patch + 1) end,
}

-- Components first, each by name.
local function in_order(items)
  table.sort(items, function(a, b)
    if a.kind ~= b.kind then return a.kind > b.kind end
    return a.name < b.name
  end)
  return items
end

-- What is open of a provider: a draft that is neither offered nor given up.
local function open_major(others, provider)
  for _, release in ipairs(others or {}) do
    local of, version = image.identify(release)
    local v = of == provider and semver.parse(version)
    if v and not release.archived and (release.state == "wip" or release.state == "preview") and v.minor == 0 and v.patch == 0
      and v.prerelease == "" then
      return release
    end
  end
  return nil
end

-- A test Release: what was picked and nothing else. Its level is that of the largest change, a patch at least; what tells it
-- from other tests is a hash of what was picked.
local function trial(question, provider, version, entries, move, add)
  local chart, weight, dirty = image.chart_of(provider), 1, semver.parse(version).prerelease ~= "" or question.asked
  local ordered, text = {}, ""
  for _, wanted in ipairs({ true, false }) do
    for _, pick in ipairs(question.picks) do
      if (pick.name == chart) == wanted then ordered[#ordered + 1] = pick end
    end
  end
  for _, pick in ipairs(ordered) do
    local entry, to = entries[pick.name], image.without_v(pick.version)
    if not entry or (entry.kind == "component" and pick.name ~= chart) then
      add("pin.unknown-item", (entry and "component/" or "app/") .. pick.name, entry and "a test Release is made with another chart or other apps"
        or question.base.name .. " has no " .. pick.name, { to = pick.version })
    elseif not semver.parse(to) then
      add("bump.version", entry.kind .. "/" .. pick.name, "'" .. pick.version .. "' is no version of three numbers")
    else
      weight = math.max(weight, versions.weight[versions.level(entry.version, to)])
      dirty = dirty or semver.parse(to).prerelease ~= ""
      text = text .. "+" .. pick.name .. (pick.catalog ~= "" and pick.catalog or entry.catalog) .. to
      for _, name in ipairs(#pick.depends_on > 0 and pick.depends_on or entry.depends_on) do text = text .. "+" .. name end
      move(pick.name, to, "asked for")
    end
  end
  local kind = weight == 3 and "major" or weight == 2 and "minor" or "patch"
  local next_version = kinds[kind](semver.parse(image.base_of(version)))
  if not dirty then return next_version end
  return next_version .. "-" .. (question.prefix ~= "" and question.prefix .. "." or "") .. sha256(text):sub(1, 10)
end

-- The first rule for an item bounds it; two that no version can satisfy are a conflict.
local function bounds_of(item, asked, file, add)
  local first, found = nil, {}
  for i, block in ipairs(file and file.blocks or {}) do
    if not semver.problem(block.range) and semver.satisfies(asked, block.range) then
      for j, request in ipairs(block.requests) do
        if request.name == item and not semver.problem(request.version) then
          local place = file.file .. ": releases[" .. i .. "].requests[" .. j .. "]"
          for _, other in ipairs(found) do
            if not semver.overlap(other[1], request.version) then
              add("request.conflict", "requests/" .. file.file, "no version of " .. item .. " is in both '" .. other[1] .. "' ("
                .. other[2] .. ") and '" .. request.version .. "' (" .. place .. ")", { from = other[1], to = request.version,
                evidence = place })
            end
          end
          found[#found + 1] = { request.version, place }
          first = first or found[#found]
        end
      end
    end
  end
  return first
end

local function is_stable(name, version)
  local v = semver.parse(version)
  if v.prerelease == "" then return true end
  for _, row in ipairs(tables.revisions) do
    if (row.name == nil or row.name == name) and v.prerelease:sub(1, #row.suffix) == row.suffix
      and v.prerelease:sub(#row.suffix + 1):match("^%d+$") then
      return true
    end
  end
  return false
end

-- plan(question, add): question has base, kind, available (item → versions), catalogue (may be nil), requests (may be nil),
-- picks (name, version, catalog, depends_on; when there are any nothing else moves), stage, others, prefix, asked. Returns the version and the items that
-- move: kind, name, from, to, why.
function bump.plan(question, add)
  local base = question.base
  local provider, version = image.identified(base, add)
  if not provider then return "", {} end
  local is_test = question.kind == "test"
  local next_version = is_test and version or (kinds[question.kind] and kinds[question.kind](semver.parse(version)))
  if not next_version then
    add("bump.kind", "release/" .. base.name, "expected major, minor, patch or test, got '" .. question.kind .. "'")
    return "", {}
  end
  local open = open_major(question.others, provider)
  if open and question.kind == "major" then
    add("bump.unpublished", "release/" .. open.name, "it comes first: it is not published", { from = open.state, evidence = open.file })
  elseif open and question.kind == "minor" then
    add("bump.major-open", "release/" .. open.name, "there is no minor while a major is open", { from = open.state, evidence = open.file })
  end
  stages.check(question.stage, base.name, question.kind == "major", add)
  local major = semver.parse(next_version).major
  local entries, order = {}, {}
  for _, kind in ipairs({ "component", "app" }) do
    for _, entry in ipairs(kind == "app" and base.apps or base.components) do
      entries[entry.name] = { kind = kind, version = image.without_v(entry.version), catalog = entry.catalog,
        depends_on = entry.depends_on }
      order[#order + 1] = entry.name
    end
  end
  table.sort(order)

  local items = {}
  local function move(name, to, why)
    local entry = entries[name]
    if to ~= entry.version then
      items[#items + 1] = { kind = entry.kind, name = name, from = entry.version, to = to, why = why }
    end
  end

  if is_test then
    return trial(question, provider, version, entries, move, add), in_order(items)
  end
  if #question.picks > 0 then
    for _, pick in ipairs(question.picks) do
      local entry = entries[pick.name]
      if not entry then
        add("pin.unknown-item", "app/" .. pick.name, base.name .. " has no " .. pick.name, { to = pick.version })
      elseif not semver.parse(pick.version) then
        add("bump.version", entry.kind .. "/" .. pick.name, "'" .. pick.version .. "' is no version of three numbers")
      else
        bounds_of(pick.name, next_version, question.requests, add)
        move(pick.name, image.without_v(pick.version), "asked for")
      end
    end
    return next_version, in_order(items)
  end
  if question.kind == "patch" then
    add("bump.nothing", "release/" .. base.name, "a patch moves only what is asked for")
    return next_version, {}
  end

  -- The versions that an item may have, newest first, and why not a newer one.
  local function candidates(name)
    local entry = entries[name]
    local bounds = bounds_of(name, next_version, question.requests, add)
    local list, why = {}, "newest"
    for _, text in ipairs(question.available[name] or {}) do
      local v = semver.parse(text)
      if v and is_stable(name, text) and versions.order(name, text, entry.version) ~= nil then
        local order_of = versions.order(name, text, entry.version)
        local fits = order_of >= 0
        if bounds and not semver.satisfies(text, bounds[1]) then
          if fits then why = "bounded by " .. bounds[2] end
          fits = false
        end
        if name == "kubernetes" and v.minor ~= major then fits = false end
        local row = fits and order_of > 0 and checks.level_row({ kind = entry.kind, name = name })
        local needed = row and row.severity == "error" and row[versions.level(entry.version, text)]
        if needed and versions.weight[needed] > versions.weight[question.kind] then fits = false end
        -- What the base has is always there, whatever a rule says of it now.
        if fits and text ~= entry.version then list[#list + 1] = text end
      end
    end
    table.sort(list, function(a, b) return versions.order(name, a, b) > 0 end)
    list[#list + 1] = entry.version
    return list, why
  end

  -- What is baked into the image moves together, to what was built.
  local function image_with(chosen)
    local components = {}
    for i, entry in ipairs(base.components) do
      components[i] = { name = entry.name, version = chosen[entry.name] or entry.version }
    end
    local ignore = function() end
    local mapped = image.map({ name = base.name, folder = base.folder, file = base.file, state = base.state,
      components = components }, {}, nil, {}, ignore)
    return mapped.images[1] and mapped.images[1].image, mapped.uses
  end
  local chart = image.chart_of(provider)
  local chosen = {}
  if entries[chart] then
    local list, why = candidates(chart)
    chosen[chart] = list[1]
    move(chart, list[1], why)
  end
  local newest, uses = image_with(chosen)
  local baked, lists, whys = {}, {}, {}
  for _, name in ipairs(order) do
    if uses and uses[name] and entries[name].kind == "component" then
      baked[#baked + 1] = name
      lists[name], whys[name] = candidates(name)
      chosen[name] = lists[name][1]
    end
  end
  newest = image_with(chosen)
  local built
  if question.catalogue and newest then
    built = {}
    for _, name in ipairs(question.catalogue) do built[name] = true end
  end
  if built and not built[newest] then
    -- The newest combination that was built: as few steps back as possible, in the order of the names.
    local best
    local function try(i, at, back)
      if best and back > best.back then return end
      if i > #baked then
        local combination = { [chart] = chosen[chart] }
        for j, name in ipairs(baked) do combination[name] = lists[name][at[j]] end
        local name = image_with(combination)
        if name and built[name] and (not best or back < best.back) then best = { back = back, chosen = combination } end
        return
      end
      for step = 1, math.min(#lists[baked[i]], tables.combinations) do
        at[i] = step
        try(i + 1, at, back + step - 1)
      end
    end
    try(1, {}, 0)
    add("bump.held-back", "image/" .. provider, "the newest combination has no image" .. (best and "" or ", nor has any other"),
      { to = newest, rule = "built" })
    for _, name in ipairs(baked) do
      whys[name] = "held back: " .. newest .. " was not built"
      chosen[name] = best and best.chosen[name] or entries[name].version
    end
  end
  for _, name in ipairs(baked) do move(name, chosen[name], whys[name]) end
  for _, name in ipairs(order) do
    if name ~= chart and not chosen[name] then
      local list, why = candidates(name)
      move(name, list[1], why)
    end
  end
  local kubernetes = entries.kubernetes and entries.kubernetes.version
  for _, item in ipairs(items) do
    if item.name == "kubernetes" then kubernetes = item.to end
  end
  local is = kubernetes and semver.parse(kubernetes)
  if question.kind == "major" and is and is.minor ~= major and major >= tables.kubernetes_from_major then
    add("bump.kubernetes", "component/kubernetes", "a major " .. major .. ".0.0 needs a released Kubernetes 1." .. major,
      { from = kubernetes, to = "1." .. major, rule = "kubernetes_from_major" })
  end
  return next_version, in_order(items)
end

return bump
