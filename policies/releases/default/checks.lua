-- What is checked on a Release, alone or against the one before it.
local image = require("image")
local tables = require("tables")
local versions = require("versions")

local checks = {}

local function fits(pattern, name)
  if pattern:sub(-1) == "*" then return name:sub(1, #pattern - 1) == pattern:sub(1, -2) end
  if pattern:sub(1, 1) == "*" then return #name >= #pattern - 1 and name:sub(-(#pattern - 1)) == pattern:sub(2) end
  return pattern == name
end

-- Lists of tables.lua, looked at once: names as they are, and those with a star.
local prepared = {}
for _, list in ipairs({ tables.components, tables.old_components, tables.provided, tables.node_components, tables.coupled,
  tables.machine_kinds, tables.not_baked }) do
  local exact, stars = {}, {}
  for _, pattern in ipairs(list) do
    if pattern:find("*", 1, true) then stars[#stars + 1] = pattern else exact[pattern] = true end
  end
  prepared[list] = { exact = exact, stars = stars }
end

local function listed(list, name)
  local ready = prepared[list]
  if ready.exact[name] then return true end
  for _, pattern in ipairs(ready.stars) do
    if fits(pattern, name) then return true end
  end
  return false
end

checks.listed = listed

-- How many letters must change to turn one name into the other, up to 3.
local function distance(a, b)
  if math.abs(#a - #b) > 2 then return 3 end
  local before = {}
  for j = 0, #b do before[j] = j end
  for i = 1, #a do
    local row, least = { [0] = i }, i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + cost)
      least = math.min(least, row[j])
    end
    if least > 2 then return 3 end
    before = row
  end
  return before[#b]
end

-- The name of a list that is at most two letters away from this one, which is not in it; nil when there is none.
function checks.near(name, list)
  local best, least
  for _, candidate in ipairs(list) do
    local far = distance(name, candidate)
    if far <= 2 and (not least or far < least) then best, least = candidate, far end
  end
  return best
end

-- ---------------------------------------------------------------- the place where it is kept

-- "v34.5.0" of "v34.5.0/release.yaml", "./v34.5.0/", "archived/v34.5.0" or "v34.5.0.yaml".
function checks.stored_as(resource)
  return (resource:gsub("^%./", ""):gsub("/$", ""):gsub("/release%.yaml$", ""):gsub("%.yaml$", ""):gsub("^archived/", ""))
end

function checks.place(context, registered, add)
  local release, provider, version = context.release, context.provider, context.version
  if release.folder == "" or release.stored_as == "" then return end
  local subject = "release/" .. release.name
  if release.stored_as ~= "v" .. version then
    add("release.name-mismatch", subject, "it is called " .. release.name .. " and stored as " .. release.stored_as,
      { from = release.stored_as, to = "v" .. version, evidence = release.file .. ": metadata.name" })
  end
  if image.folder_of(provider) ~= release.folder then
    add("release.name-mismatch", subject, "Releases of " .. provider .. " are stored in " .. image.folder_of(provider)
      .. ", this one is in " .. release.folder, { from = release.folder, to = image.folder_of(provider),
      evidence = release.file .. ": metadata.name" })
  end
  if registered == nil then
    if not context.within_folder then context.skip("release.unregistered", "the provider's kustomization.yaml is not there") end
    return
  end
  local found = false
  for _, resource in ipairs(registered) do found = found or checks.stored_as(resource) == release.stored_as end
  if not found and not release.archived then
    add("release.unregistered", subject, release.stored_as .. " is not among the resources of " .. release.folder
      .. "/kustomization.yaml", { to = release.stored_as, evidence = release.folder .. "/kustomization.yaml: resources" })
  end
end

-- ---------------------------------------------------------------- what it consists of

function checks.components(context, base, add)
  local release, provider = context.release, context.provider
  local known = release.name:match("^v%d") and tables.old_components or tables.components
  local chart = image.chart_of(provider)
  local before = base and base.component or {}
  for _, entry in ipairs(release.components) do
    local name = entry.name
    if name ~= chart and not listed(known, name) and not before[name] then
      local near = checks.near(name, { chart, unpack(known) })
      local at = { from = name, evidence = release.file .. ": spec.components[" .. name .. "]" }
      if near then
        at.to, at.severity = near, "error"
        add("component.unknown", "component/" .. name, "no component " .. name .. " is known; is it " .. near .. "?", at)
      else
        add("component.unknown", "component/" .. name, "no component " .. name .. " is known", at)
      end
    end
  end
end

-- A version with a commit behind its dash: a build that was never released.
local function is_dev_build(version)
  local v = semver.parse(image.without_v(version))
  if not v or v.prerelease == "" then return false end
  for part in v.prerelease:gmatch("[^.-]+") do
    if #part >= 7 and #part <= 40 and part:match("^%x+$") then return true end
  end
  return false
end

function checks.builds(context, add)
  local release = context.release
  if release.state ~= "active" then return end
  if semver.parse(context.version).prerelease ~= "" then
    add("release.test-active", "release/" .. release.name, "it is a pre-release, and active", { from = release.state,
      evidence = release.file .. ": spec.state" })
  end
  for _, kind in ipairs({ "component", "app" }) do
    for _, entry in ipairs(kind == "app" and release.apps or release.components) do
      local version = entry.version
      if version:find("-", 1, true) and is_dev_build(version) then
        add("prerelease.in-stable", kind .. "/" .. entry.name, version .. " is a build of a commit, and the Release is active",
          { from = version, evidence = release.file .. ": spec." .. kind .. "s[" .. entry.name .. "].version" })
      end
    end
  end
end

-- Kubernetes moves one minor at a time.
function checks.skips_minor(from, to)
  local was, is = semver.parse(image.without_v(from)), semver.parse(image.without_v(to))
  return was ~= nil and is ~= nil and (is.major > was.major or is.minor - was.minor > 1)
end

function checks.kubernetes(context, base, add)
  local release = context.release
  local components = release.component
  local entry = components.kubernetes
  local is = entry and semver.parse(image.without_v(entry.version))
  if not is then return end
  local evidence = release.file .. ": spec.components[kubernetes].version"
  local major = semver.parse(context.version).major
  if major >= tables.kubernetes_from_major and is.minor ~= major then
    add("k8s.minor-mismatch", "component/kubernetes", "a Release " .. major .. ".x.y carries Kubernetes 1." .. major,
      { from = entry.version, to = "1." .. major, evidence = evidence })
  end
  local before = base and base.component.kubernetes
  if before and checks.skips_minor(before.version, entry.version) then
    add("k8s.minor-skip", "component/kubernetes", "Kubernetes moves one minor at a time", { from = before.version,
      to = entry.version, evidence = evidence })
  end
end

-- Apps wait for those they depend on: for a name that is nowhere they would wait forever.
function checks.dependencies(context, add)
  local release = context.release
  local needs, names = {}, {}
  for _, app in ipairs(release.apps) do
    if not needs[app.name] then names[#names + 1] = app.name end
    needs[app.name] = app.depends_on
  end
  for _, name in ipairs(names) do
    for _, needed in ipairs(needs[name]) do
      if not needs[needed] and not listed(tables.provided, needed) then
        add("depends.unknown", "app/" .. name, "it waits for " .. needed .. ", which neither this Release nor one of its apps brings",
          { to = needed, evidence = release.file .. ": spec.apps[" .. name .. "].dependsOn" })
      end
    end
  end
  -- Hardly any Release has a circle, and only who tells of one needs an order.
  local seen, circular = {}, false
  local function search(name)
    seen[name] = "open"
    for _, needed in ipairs(needs[name]) do
      local is = seen[needed]
      if is == "open" then circular = true end
      if not is and needs[needed] then search(needed) end
    end
    seen[name] = "done"
  end
  for _, name in ipairs(names) do
    if not seen[name] then search(name) end
  end
  if not circular then return end
  table.sort(names)
  local state, path = {}, {}
  local function visit(name)
    state[name] = "open"
    path[#path + 1] = name
    local inner = {}
    for i, needed in ipairs(needs[name]) do inner[i] = needed end
    table.sort(inner)
    for _, needed in ipairs(inner) do
      if needs[needed] and not state[needed] then
        visit(needed)
      elseif state[needed] == "open" then
        local circle, on = {}, false
        for _, step in ipairs(path) do
          on = on or step == needed
          if on then circle[#circle + 1] = step end
        end
        circle[#circle + 1] = needed
        add("depends.cycle", "app/" .. needed, "apps wait for each other: " .. table.concat(circle, " -> "),
          { evidence = release.file .. ": spec.apps[" .. needed .. "].dependsOn" })
      end
    end
    path[#path] = nil
    state[name] = "done"
  end
  for _, name in ipairs(names) do
    if not state[name] then visit(name) end
  end
end

-- ---------------------------------------------------------------- against the one before

-- What an entry of a Release is judged as: a component that nothing else is known of is a binary of the node, as what is inside of the toolbox.
local function judged_as(kind, name, release_name)
  if kind ~= "component" or release_name:match("^v%d") or listed(tables.components, name) or listed(tables.not_baked, name) then return kind end
  return "binary"
end

-- The row of tables.lua that says which Release a change of an entry needs.
function checks.level_row(kind, name, release_name)
  kind = judged_as(kind, name, release_name)
  for _, row in ipairs(tables.levels) do
    if (row.name == nil or fits(row.name, name)) and (row.kind == nil or row.kind == kind) then return row end
  end
end

function checks.changes(context, changes, level, back, add)
  local release = context.release
  local changed = {}
  for _, change in ipairs(changes) do
    local function at(more)
      local place = change.kind == "binary" and "components[" .. tables.toolbox or change.kind .. "s[" .. change.name
      more.from, more.to = change.from, change.to
      more.evidence = more.evidence or release.file .. ": spec." .. place .. "].version"
      return change.kind .. "/" .. change.name, more
    end
    if change.what == "changed" then
      if change.kind ~= "binary" then changed[change.name] = true end
      if change.direction == "down" then
        local minor = change.kind == "component" and not listed(tables.node_components, change.name)
        local id = change.kind .. ".downgrade"
        local subject, more = at({ severity = minor and "warn" or nil })
        -- A step back to a published Release changes no version in it: consent is what is left.
        more.clears = back and "consent to going back, in waivers.yaml: {rule: " .. id .. ", subject: " .. subject .. ", release: "
          .. release.name .. ", hash: " .. (release.hash ~= "" and release.hash or "…") .. ", reason: …}" or nil
        add(id, subject, change.name .. " goes back", more)
      elseif change.direction == "unknown" and change.kind == "binary" then
        context.skip("level.too-high", "whether " .. change.name .. " " .. change.to .. " is a new major of " .. change.from
          .. " is not known: one of them has no three numbers")
      elseif change.direction == "up" then
        local row = checks.level_row(change.kind, change.name, release.name)
        local needed = row and row[change.level]
        if needed and versions.weight[needed] > versions.weight[level] then
          local subject, more = at({ severity = row.severity, rule = "levels: " .. (row.name or row.kind) })
          add("level.too-high", subject, "a new " .. change.level .. " of " .. change.name .. " needs a " .. needed
            .. " Release, this is a " .. level, more)
        end
      end
    elseif change.what == "removed" and change.kind == "component" then
      local subject, more = at({ evidence = release.file .. ": spec.components" })
      add("component.removed", subject, change.name .. " is not there any more", more)
    end
  end
  for _, pair in ipairs(tables.tied) do
    local a, b = changed[pair[1]], changed[pair[2]]
    if (a or b) and not (a and b) then
      local moved, stayed = a and pair[1] or pair[2], a and pair[2] or pair[1]
      if release.component[stayed] or release.app[stayed] then
        add("tied.skew", "release/" .. release.name, moved .. " moves and " .. stayed .. " does not", { from = stayed,
          to = moved, rule = "tied", evidence = release.file .. ": spec" })
      end
    end
  end
end

-- ---------------------------------------------------------------- among the others of its provider

function checks.others(context, others, add)
  local release = context.release
  if others == nil then
    context.skip("release.duplicate-content", "the other Releases of the provider are not known")
    context.skip("path.downgrade", "the other Releases of the provider are not known")
    return
  end
  local mine = semver.parse(context.version)
  local lowest, lowest_version
  for _, other in ipairs(others) do
    if other.name ~= release.name then
      if other.state == "active" and other.hash == release.hash then
        add("release.duplicate-content", "release/" .. release.name, "it consists of the same as " .. other.name,
          { to = other.name, evidence = release.file .. ": spec" })
      end
      if not other.archived then
        local version = image.version_in(context.provider, other)
        local v = version and semver.parse(version)
        if v and v.major == mine.major + 1 and v.prerelease == ""
          and (not lowest or semver.compare(version, lowest_version) < 0) then
          lowest, lowest_version = other, version
        end
      end
    end
  end
  if not lowest then return end
  local function compare(kind, ours, theirs)
    local later = {}
    for _, entry in ipairs(theirs) do later[entry.name] = entry.version end
    for _, entry in ipairs(ours) do
      local version = later[entry.name]
      if version and version ~= entry.version
        and versions.direction(entry.name, entry.version, version) == "down" then
        add("path.downgrade", kind .. "/" .. entry.name, "who moves on to " .. lowest.name .. " goes back to "
          .. version, { from = entry.version, to = version, rule = lowest.name,
          evidence = lowest.file .. ": spec." .. kind .. "s[" .. entry.name .. "].version" })
      end
    end
  end
  compare("component", release.components, lowest.components)
  compare("app", release.apps, lowest.apps)
end

-- A new minor of Kubernetes wants new cloud controllers.
function checks.coupled(context, base, add)
  local release = context.release
  local was, is = base.component.kubernetes, release.component.kubernetes
  if not was or not is then return end
  local level = versions.level(image.without_v(was.version), image.without_v(is.version))
  if level ~= "minor" and level ~= "major" then return end
  local before = {}
  for _, app in ipairs(base.apps) do before[app.name] = app.version end
  for _, app in ipairs(release.apps) do
    if before[app.name] == app.version and listed(tables.coupled, app.name) then
      add("app.kube-version", "app/" .. app.name, "Kubernetes is a new " .. level .. ", and " .. app.name
        .. ", which belongs to one, stays at " .. app.version, { from = was.version, to = is.version, rule = "coupled",
        evidence = release.file .. ": spec.apps[" .. app.name .. "].version" })
    end
  end
end

-- Apps that work with some versions of Kubernetes only.
function checks.app_ranges(context, ranges, add)
  if ranges == nil then
    if not context.within_folder then
      context.skip("app.kube-version", "the versions of Kubernetes that the apps take are not known")
    end
    return
  end
  local release = context.release
  local entry = release.component.kubernetes
  local version = entry and image.without_v(entry.version)
  if not version or not semver.parse(version) then return end
  for _, app in ipairs(release.apps) do
    local range = ranges[app.name]
    if range then
      local wrong = semver.problem(range)
      if wrong or not semver.satisfies(version, range) then
        add("app.kube-version", "app/" .. app.name, wrong and ("its range '" .. range .. "' cannot be read: " .. wrong)
          or (app.name .. " " .. app.version .. " works with Kubernetes " .. range .. ", not with " .. version),
          { from = version, to = range, evidence = release.file .. ": spec.apps[" .. app.name .. "]" })
      end
    end
  end
end

return checks
