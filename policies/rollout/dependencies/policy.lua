-- rollout/dependencies: cluster after cluster, as dependencies.lua says. Within a cluster the order is by name.
--
-- Asked for pools that carry the label windlass.dev/rollout: dependencies.
local dependencies = require("dependencies")
local order = require("order")

local circle = order.circle(dependencies)
assert(not circle, "dependencies.lua: clusters wait for each other: " .. tostring(circle))

local function blocked(fleet)
  for _, needed in ipairs(dependencies[fleet.cluster] or {}) do
    local found
    for _, cluster in ipairs(fleet.clusters) do
      if cluster.name == needed then found = cluster end
    end
    if not found then return { code = "DependencyUnknown", reason = "waits for " .. needed .. ", which has no pool of this name" } end
    if found.updated < found.nodes or found.nodes == 0 then
      return { code = "Dependency", reason = "waits for " .. needed .. " (" .. found.updated .. " of " .. found.nodes .. " are up to date)" }
    end
  end
end

local function plan(units, fleet, _)
  local start = {}
  local order, holds = rollout.in_turn(units, fleet.startable)
  local wait = blocked(fleet)
  if wait then
    for _, unit in ipairs(units) do
      if unit.state == fleet.startable and not unit.slotted then holds[unit.name] = wait end
    end
    return { start = start, holds = holds, look_again = 30 }
  end
  for _, unit in ipairs(order) do
    if #start < fleet.free then
      start[#start + 1] = unit.name
    else
      holds[unit.name] = { code = "WaitsForSlot",
        reason = "waits for a free slot (" .. fleet.occupied .. " of " .. fleet.capacity .. " taken)" }
    end
  end
  return { start = start, holds = holds }
end

return { name = "rollout/dependencies", version = "1", api = 2, order = 600,
  applies = { objects = { ["windlass.dev/rollout"] = "dependencies" } }, rollout = { plan = plan } }
