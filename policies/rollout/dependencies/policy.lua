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

-- Who goes in which order: by name, but a Node that is not Ready ends none of its pods, so that its drain may take a slot for
-- ever. It goes last, and not before Ready ones that have yet to move. Of control-plane nodes the core takes none while another
-- one is not Ready, so the only one that is not goes before them: the update may be its cure. Returns who may start, in order,
-- and who waits for Ready ones.
local function in_turn(units, startable_state)
  local away = 0
  for _, unit in ipairs(units) do
    if unit.control_plane and not unit.ready then away = away + 1 end
  end
  local first, second, third, last, all_ready_moved = {}, {}, {}, {}, true
  for _, unit in ipairs(units) do
    local startable = unit.state == startable_state
    if not unit.slotted and not unit.degraded and (startable or unit.state == "Pending" or unit.state == "Staging") then
      local cure = unit.control_plane and not unit.ready and away == 1
      local refused = unit.control_plane and unit.ready and away > 0
      if unit.ready and not refused then all_ready_moved = false end
      if startable then
        local turn = cure and second or refused and third or unit.ready and first or last
        turn[#turn + 1] = unit
      end
    end
  end
  local order = first
  for _, more in ipairs({ second, third, all_ready_moved and last or {} }) do
    for _, unit in ipairs(more) do order[#order + 1] = unit end
  end
  return order, all_ready_moved and {} or last
end

local function plan(units, fleet, _)
  local start, holds = {}, {}
  local wait = blocked(fleet)
  for _, unit in ipairs(units) do
    if unit.state == fleet.startable and not unit.slotted then
      if wait then
        holds[unit.name] = wait
      elseif unit.degraded then
        holds[unit.name] = { code = "Degraded", reason = "reports a failure; see its Degraded condition" }
      end
    end
  end
  if wait then return { start = start, holds = holds, look_again = 30 } end
  local order, not_ready = in_turn(units, fleet.startable)
  for _, unit in ipairs(order) do
    if #start < fleet.free then
      start[#start + 1] = unit.name
    else
      holds[unit.name] = { code = "WaitsForSlot",
        reason = "waits for a free slot (" .. fleet.occupied .. " of " .. fleet.capacity .. " taken)" }
    end
  end
  for _, unit in ipairs(not_ready) do
    holds[unit.name] = { code = "NotReady", reason = "its Node is not Ready, so its pods do not end; Ready nodes of the pool go first" }
  end
  return { start = start, holds = holds }
end

return { name = "rollout/dependencies", version = "1", order = 600,
  applies = { objects = { ["windlass.dev/rollout"] = "dependencies" } }, rollout = { plan = plan } }
