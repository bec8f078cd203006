-- The way of a cluster from one Release to another.
local checks = require("checks")
local image = require("image")
local versions = require("versions")

local path = {}

local function index(list)
  local found = {}
  for _, entry in ipairs(list) do found[entry.name] = entry.version end
  return found
end

-- What goes back on a step.
local function downgrades(from, to)
  local list = {}
  for _, kind in ipairs({ "component", "app" }) do
    local a, b = from[kind], to[kind]
    for name, version in pairs(a) do
      if b[name] and b[name] ~= version and versions.direction(name, version, b[name]) == "down" then
        list[#list + 1] = { subject = kind .. "/" .. name, from = version, to = b[name] }
      end
    end
  end
  return list
end

-- Which pairs of Releases may be a step: it stays in its major or goes to the next, and skips no minor of Kubernetes. What else `diff`
-- denies of one comes with the question.
local function is_step(from, to)
  if from.kubernetes and to.kubernetes and checks.skips_minor(from.kubernetes, to.kubernetes) then return false end
  return from.major == to.major or from.major + 1 == to.major
end

-- find(releases, from, to, add, denied): the steps, each with from, to, level, downgrades and why it is denied; nothing with a finding when there
-- is no way. As few denied steps as possible, then as few steps, as little going back, and the newest. `denied`: steps that `diff` denies (from,
-- to, why); may be nil.
function path.find(releases, from, to, add, denied)
  -- Within a major a way goes over no Release that it need not; around a denied step it may.
  local refused, around = {}, false
  for _, step in ipairs(denied or {}) do refused[step.from .. " " .. step.to], around = step.why, true end
  local nodes, first, last = {}, nil, nil
  for _, release in ipairs(releases) do
    local provider, version = image.identified(release, add, "warn")
    local v = provider and semver.parse(version)
    if v then
      local components = index(release.components)
      local node = { name = release.name, version = version, major = v.major, component = components,
        kubernetes = components.kubernetes, app = index(release.apps), offered = not release.archived, file = release.file }
      if version == from then first = node end
      if version == to then last = node end
      if node.offered or version == from or version == to then nodes[#nodes + 1] = node end
    end
  end
  for _, wanted in ipairs({ { from, first }, { to, last } }) do
    if not wanted[2] then
      add("path.none", "release/" .. wanted[1], "there is no Release " .. wanted[1])
      return {}
    end
  end
  if semver.compare(from, to) >= 0 then
    add("path.none", "release/" .. last.name, last.name .. " does not come after " .. first.name)
    return {}
  end
  if not last.offered then
    add("path.not-offered", "release/" .. last.name, last.name .. " is archived: no cluster is moved to it",
      { evidence = last.file })
    return {}
  end
  -- The best way to each node, by major: the last of one major to some of the next.
  table.sort(nodes, function(a, b) return semver.compare(a.version, b.version) < 0 end)
  local best = { [first.name] = { refused = 0, steps = 0, back = 0, way = {} } }
  for _, node in ipairs(nodes) do
    if node ~= first and semver.compare(node.version, first.version) > 0 and semver.compare(node.version, last.version) <= 0 then
      for _, before in ipairs(nodes) do
        local reached = best[before.name]
        if reached and before ~= node and semver.compare(before.version, node.version) < 0
          and (around or before.major ~= node.major or before == first or node == last
            or before.kubernetes ~= node.kubernetes) and is_step(before, node) then
          local why = refused[before.name .. " " .. node.name]
          local steps, against = reached.steps + 1, reached.refused + (why and 1 or 0)
          local known = best[node.name]
          local fewer = not known or against < known.refused or (against == known.refused and steps < known.steps)
          if fewer or (against == known.refused and steps == known.steps) then
            local goes_back = downgrades(before, node)
            local back = reached.back + #goes_back
            if fewer or back <= known.back then
              local way = {}
              for i, step in ipairs(reached.way) do way[i] = step end
              way[#way + 1] = { from = before.name, to = node.name, level = versions.level(before.version, node.version),
                downgrades = goes_back, denied = why }
              best[node.name] = { refused = against, steps = steps, back = back, way = way }
            end
          end
        end
      end
    end
  end
  local found = best[last.name]
  if not found then
    local missing = {}
    local have = {}
    for _, node in ipairs(nodes) do have[node.major] = true end
    for major = first.major + 1, last.major - 1 do
      if not have[major] then missing[#missing + 1] = major .. ".x.y" end
    end
    add("path.none", "release/" .. last.name, "no way leads there one major, and one minor of Kubernetes, at a time"
      .. (#missing > 0 and ": nothing is offered of " .. table.concat(missing, ", ") or ""), { from = first.name })
    return {}
  end
  for _, step in ipairs(found.way) do
    if step.denied then
      add("path.denied", "release/" .. step.to, "the step from " .. step.from .. " is denied, and there is no other way: " .. step.denied,
        { from = step.from, to = step.to, rule = "diff" })
    end
    for _, d in ipairs(step.downgrades) do
      add("path.downgrade", d.subject, "on the step to " .. step.to .. " it goes back", { from = d.from, to = d.to, rule = step.from })
    end
  end
  return found.way
end

return path
