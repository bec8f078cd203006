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

-- What a Release has, by name; `order`: the names.
local function entries_of(base)
  local entries, order = {}, {}
  for _, kind in ipairs({ "component", "app" }) do
    for _, entry in ipairs(kind == "app" and base.apps or base.components) do
      entries[entry.name] = { kind = kind, version = image.without_v(entry.version), catalog = entry.catalog,
        depends_on = entry.depends_on }
      order[#order + 1] = entry.name
    end
  end
  table.sort(order)
  return entries, order
end

-- The version of a pick, without a v; nil and a finding where it is none.
local function version_of(pick, kind, add)
  local text = image.without_v(pick.version)
  if semver.valid(text) and text:sub(1, 1) ~= "v" then return text end
  add("bump.version", kind .. "/" .. pick.name, "'" .. pick.version .. "' is no version of three numbers")
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
    local entry = entries[pick.name]
    -- Another chart may need a component that the base has not.
    local is_new = not entry and checks.listed(tables.components, pick.name)
    if not is_new and (not entry or (entry.kind == "component" and pick.name ~= chart)) then
      add("pin.unknown-item", (entry and "component/" or "app/") .. pick.name, entry and "a test Release is made with another chart or other apps"
        or question.base.name .. " has no " .. pick.name, { to = pick.version })
    else
      local to = version_of(pick, entry and entry.kind or "component", add)
      if to then
        weight = math.max(weight, entry and versions.weight[versions.level(entry.version, to)] or versions.weight.minor)
        dirty = dirty or semver.parse(to).prerelease ~= ""
        text = text .. "+" .. pick.name .. (pick.catalog ~= "" and pick.catalog or entry and entry.catalog or "") .. to
        for _, name in ipairs(#pick.depends_on > 0 and pick.depends_on or entry and entry.depends_on or {}) do
          text = text .. "+" .. name
        end
        move(pick.name, to, "asked for")
      end
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

-- Two versions of the same three numbers with a bare number behind the dash: which is later depends on who wrote it, and
-- tables.lua (revisions) does not say it of this item.
local function is_unclear(name, a, b)
  local x, y = semver.parse(a), semver.parse(b)
  if x.major ~= y.major or x.minor ~= y.minor or x.patch ~= y.patch or x.prerelease == y.prerelease then return false end
  if not (x.prerelease:match("^%d+$") or y.prerelease:match("^%d+$")) then return false end
  for _, row in ipairs(tables.revisions) do
    if row.name == name then return false end
  end
  return true
end

-- The versions of `available` that may follow `from` (nil: the item is new), the newest first, each once and without a v; and why
-- there is no newer one. `fits(text, v)`: nil, or why that version will not do.
local function candidates_of(name, from, available, fits)
  local list, seen, why, why_of = {}, {}, nil, nil
  for _, written in ipairs(available or {}) do
    local text = image.without_v(written)
    local v = semver.valid(text) and text:sub(1, 1) ~= "v" and semver.parse(text)
    if v and not seen[text] and is_stable(name, text) and (not from or versions.order(name, text, from) == 1) then
      seen[text] = true
      local against = fits(text, v)
      if from and is_unclear(name, from, text) then against = "held back: whether " .. text .. " comes after it is not said (revisions)" end
      if not against then
        list[#list + 1] = text
      elseif not why_of or versions.order(name, text, why_of) == 1 then
        why, why_of = against, text
      end
    end
  end
  -- Those that differ in build metadata alone have one place: the one without, or the first by its text, whatever their order.
  table.sort(list, function(a, b)
    local order = versions.order(name, a, b)
    if order ~= 0 then return order > 0 end
    return a < b
  end)
  local is_newest = not why_of or (list[1] and versions.order(name, list[1], why_of) == 1)
  return list, is_newest and "newest" or why
end

-- A draft of what was proposed, to be judged.
local function draft_of(base, version, entries, items, picks)
  local moved, depends, catalogs = {}, {}, {}
  for _, item in ipairs(items) do moved[item.name] = item end
  for _, pick in ipairs(picks) do
    if #pick.depends_on > 0 then depends[pick.name] = pick.depends_on end
    if pick.catalog ~= "" then catalogs[pick.name] = pick.catalog end
  end
  local draft = { name = base.name:match("^%D*") .. version, file = base.name .. ", bumped", folder = base.folder, stored_as = "",
    archived = false, state = "wip", hash = "", problems = {} }
  for _, list in ipairs({ "components", "apps" }) do
    draft[list] = {}
    for _, entry in ipairs(base[list]) do
      local item = moved[entry.name]
      if not item or item.to ~= "" then
        table.insert(draft[list], { name = entry.name, version = item and item.to or entry.version, reference = entry.reference or "",
          catalog = catalogs[entry.name] or entry.catalog or "", depends_on = depends[entry.name] or entry.depends_on })
      end
    end
  end
  for _, item in ipairs(items) do
    if item.from == "" then
      table.insert(draft.components, { name = item.name, version = item.to, reference = "", catalog = catalogs[item.name] or "",
        depends_on = {} })
    end
  end
  return draft
end

-- The item that a finding is about; of what is inside of the toolbox, the toolbox.
local function item_of(finding)
  local kind, name = finding.subject:match("^(%l+)/(.*)$")
  if kind == "binary" then return tables.toolbox end
  return (kind == "component" or kind == "app") and name or nil
end

-- What is found on a draft: as `check` says it of a draft, and of what the bump itself changes as it says it of a Release that
-- is offered, since a draft is made to become one. What its base lacks already is no fault of the bump.
local function findings_on(draft, moved, rolls, judged)
  local as_offered, list, worse = judged(draft, "active"), {}, {}
  for _, f in ipairs(as_offered) do
    local item = f.id == "image.not-built" and rolls or moved[item_of(f) or ""]
    if f.severity == "error" and item then
      list[#list + 1] = f
      worse[f.id .. " " .. f.subject] = true
    end
  end
  for _, f in ipairs(judged(draft, "wip")) do
    -- What else is only told of any Release is told by `check`; what is asked of this one once it is offered counts here.
    local told = (f.severity ~= "info" and f.id ~= "check.not-evaluated") or f.id:find("^request%.")
    if told and not worse[f.id .. " " .. f.subject] then list[#list + 1] = f end
  end
  return list
end

-- What follows by itself: the newest of everything that fits, and of what is baked into the image the newest that was built.
-- `refused`: by item, the versions that `check` denies, and why. Returns the items through `move`.
local function follow(question, provider, entries, order, next_version, refused, move, add)
  local base, chart, major = question.base, image.chart_of(provider), semver.parse(next_version).major
  local channel = tables.channels[image.channel_of(provider)]
  local function candidates(name, is_named)
    local entry = entries[name]
    local bounds = bounds_of(name, next_version, question.requests, add)
    local list, why = candidates_of(name, entry and entry.version, question.available[name], function(text, v)
      if refused[name] and refused[name][text] then return "held back: " .. text .. ": " .. refused[name][text] end
      if is_named and text:find("+", 1, true) and not image.takes(provider, "+") then
        return "held back: the name of an image cannot have the build metadata of " .. text
      end
      if bounds and not semver.satisfies(text, bounds[1]) then return "bounded by " .. bounds[2] end
      if name == "kubernetes" and v.minor ~= major and major >= tables.kubernetes_from_major then return "held back: " .. text .. " is of another Release" end
      if name == "flatcar" and v.minor ~= channel then return "held back: " .. text .. " is of another channel" end
      local row = entry and checks.level_row(entry.kind, name, base.name)
      local needed = row and row.severity == "error" and row[versions.level(entry.version, text)]
      if needed and versions.weight[needed] > versions.weight[question.kind] then return "held back: " .. text .. " needs a " .. needed .. " Release" end
    end)
    -- What the base has is always there, whatever a rule says of it now.
    list[#list + 1] = entry and entry.version
    return list, why
  end

  -- What is baked into the image moves together, to what was built.
  local gone
  local function image_with(chosen)
    local components = {}
    for _, entry in ipairs(base.components) do
      if entry.name ~= gone then components[#components + 1] = { name = entry.name, version = chosen[entry.name] or entry.version } end
    end
    for name, version in pairs(chosen) do
      if not entries[name] then components[#components + 1] = { name = name, version = version } end
    end
    local mapped = image.map({ name = base.name, folder = base.folder, file = base.file, state = base.state,
      components = components }, {}, nil, {}, function() end)
    return mapped.images[1] and image.called(mapped.images[1]), mapped.uses, mapped.needs
  end
  local chosen = {}
  if entries[chart] then
    local list, why = candidates(chart)
    chosen[chart] = list[1]
    move(chart, list[1], why)
  end
  local _, uses, needs = image_with(chosen)
  local baked, lists, whys = {}, {}, {}
  for name in pairs(uses) do
    if entries[name] and entries[name].kind == "component"
      or (not entries[name] and needs[name] and checks.listed(tables.components, name)) then
      local list, why = candidates(name, true)
      -- A component that is not there yet and of which no version is known stays away: that it is missing is found below.
      if list[1] then
        baked[#baked + 1], lists[name], whys[name], chosen[name] = name, list, why, list[1]
        if not entries[name] then whys[name] = "the image of " .. chart .. " " .. chosen[chart] .. " needs it" end
      end
    end
  end
  table.sort(baked)
  -- Where os-tooling came, the variant goes: a Release with both is refused.
  if entries["flatcar-variant"] and uses["os-tooling"] and chosen["os-tooling"] and not entries["os-tooling"] then
    gone = "flatcar-variant"
    move(gone, "", "os-tooling took its place")
  end
  local newest = image_with(chosen)
  local built
  if question.catalogue and newest then
    built = {}
    for _, name in ipairs(question.catalogue) do built[name] = true end
  end
  if built and newest ~= "" and not built[newest] then
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
      chosen[name] = best and best.chosen[name] or entries[name] and entries[name].version or chosen[name]
    end
  end
  for _, name in ipairs(baked) do move(name, chosen[name], whys[name]) end
  for _, name in ipairs(order) do
    if name ~= chart and not chosen[name] and name ~= gone then
      local list, why = candidates(name)
      move(name, list[1], why)
    end
  end
end

-- Whether the image of a Release cannot be named for want of a component.
local function lacks(release, name)
  local found = false
  image.map({ name = release.name, folder = release.folder, file = release.file, state = release.state, components = release.components }, {}, nil, {},
    function(id, subject) found = found or (id == "component.missing" and subject == "component/" .. name) end)
  return found
end

-- plan(question, add, judged): question has base, kind, available (item → versions), catalogue (may be nil), requests (may be nil),
-- picks (name, version, catalog, depends_on; when there are any nothing else moves), stage, others, prefix, asked. `judged(draft, state)`:
-- what `check` finds on a draft that is in this state. Returns the version, the items that move (kind, name, from: "" for what comes, to:
-- "" for what goes, why), and what was found on the draft.
function bump.plan(question, add, judged)
  local base = question.base
  local provider, version = image.identified(base, add)
  if not provider then return "", {}, {} end
  local is_test, chart = question.kind == "test", image.chart_of(provider)
  local next_version = is_test and version or (kinds[question.kind] and kinds[question.kind](semver.parse(version)))
  if not next_version then
    add("bump.kind", "release/" .. base.name, "expected major, minor, patch or test, got '" .. question.kind .. "'")
    return "", {}, {}
  end
  local open = open_major(question.others, provider)
  if open and question.kind == "major" then
    add("bump.unpublished", "release/" .. open.name, "it comes first: it is not published", { from = open.state, evidence = open.file })
  elseif open and question.kind == "minor" then
    add("bump.major-open", "release/" .. open.name, "there is no minor while a major is open", { from = open.state, evidence = open.file })
  end
  for _, other in ipairs(not is_test and question.others or {}) do
    local whose, is = image.identify(other)
    if whose == provider and is == next_version and not (open and open.file == other.file) then
      add("bump.taken", "release/" .. other.name, "it is there already" .. (other.archived and ", archived" or "")
        .. ": begin with the newest Release, or take it out", { from = next_version, evidence = other.file })
    end
  end
  stages.check(question.stage, base.name, question.kind == "major", add)
  local major = semver.parse(next_version).major
  local entries, order = entries_of(base)
  for name in pairs(question.available) do
    local near = not entries[name] and not checks.listed(tables.components, name) and checks.near(name, order)
    if near then
      add("bump.unknown-item", "app/" .. name, base.name .. " has no " .. name .. "; is it " .. near .. "?", { from = name, to = near,
        evidence = "available" })
    end
  end
  local items, moved, rolls
  local function start() items, moved, rolls = {}, {}, false end
  local function move(name, to, why)
    local entry = entries[name]
    if entry and to == entry.version then return end
    items[#items + 1] = { kind = entry and entry.kind or "component", name = name, from = entry and entry.version or "", to = to, why = why }
    moved[name] = to
    rolls = rolls or checks.listed(tables.node_components, name) or name == image.chart_of(provider)
  end
  local function found_on()
    if not judged then return {} end
    local draft = draft_of(base, next_version, entries, items, question.picks)
    return is_test and judged(draft, "wip") or findings_on(draft, moved, rolls and #question.picks > 0, judged)
  end

  start()
  if is_test then
    next_version = trial(question, provider, version, entries, move, add)
    if not next_version:match("^%d+%.%d+%.%d+$") and not next_version:match("^%d+%.%d+%.%d+%-[%w.]+$") then
      add("bump.version", "release/" .. base.name, "no Release is called " .. next_version .. ": behind the dash stand letters, digits and dots",
        { from = question.prefix, clears = "give it another prefix" })
    end
    return next_version, in_order(items), found_on()
  end
  if #question.picks > 0 then
    for _, pick in ipairs(question.picks) do
      local entry = entries[pick.name]
      if not entry and not checks.listed(tables.components, pick.name) then
        add("pin.unknown-item", "app/" .. pick.name, base.name .. " has no " .. pick.name, { to = pick.version })
      else
        local to = version_of(pick, entry and entry.kind or "component", add)
        if to then
          bounds_of(pick.name, next_version, question.requests, add)
          move(pick.name, to, "asked for")
          if not moved[pick.name] then add("bump.nothing", entry.kind .. "/" .. pick.name, base.name .. " has it in this version already") end
        end
      end
    end
    return next_version, in_order(items), found_on()
  end
  if question.kind == "patch" then
    add("bump.nothing", "release/" .. base.name, "a patch moves only what is asked for")
    return next_version, {}, {}
  end

  -- What check finds wrong with a version is not proposed: the next best one is.
  local refused, found, told, waits = {}, nil, nil, nil
  for round = 1, tables.rounds do
    start()
    told = {}
    follow(question, provider, entries, order, next_version, refused, move, function(...) told[#told + 1] = { ... } end)
    found = found_on()
    local again = false
    for _, f in ipairs(found) do
      local name = item_of(f)
      -- A chart whose image needs what the base has not, and of which no version is known, has to wait.
      if f.id == "component.missing" and moved[chart] and not moved[name] and not lacks(base, name) then
        waits, name = { version = moved[chart], needs = name }, chart
      end
      local to = name and moved[name]
      if f.severity == "error" and to and to ~= "" and round < tables.rounds then
        refused[name] = refused[name] or {}
        again = again or not refused[name][to]
        refused[name][to] = f.id
      end
    end
    if not again then break end
  end
  for _, one in ipairs(told) do add(unpack(one, 1, 4)) end
  if waits and moved[chart] ~= waits.version then
    add("bump.held-back", "component/" .. chart, waits.version .. " needs " .. waits.needs .. ", of which no version is available", { to = waits.version,
      rule = "component.missing" })
  end
  if #items == 0 then add("bump.nothing", "release/" .. base.name, "nothing newer fits: it would consist of the same") end
  local kubernetes = moved.kubernetes or entries.kubernetes and entries.kubernetes.version
  local is = kubernetes and semver.parse(kubernetes)
  if question.kind == "major" and is and is.minor ~= major and major >= tables.kubernetes_from_major then
    add("bump.kubernetes", "component/kubernetes", "a major " .. major .. ".0.0 needs a released Kubernetes 1." .. major,
      { from = kubernetes, to = "1." .. major, rule = "kubernetes_from_major" })
  end
  return next_version, in_order(items), found
end

return bump
