-- rollout/waves: a cluster begins when every cluster of the waves before it is up to date, has proved itself for a while, and
-- not more failed than the budget bears. Within a cluster the order is by name.
--
-- Asked for pools that carry the label windlass.dev/rollout: waves, whose waves are in waves.lua; and for Tenants, whose waves,
-- budget and soak are flags of `windlass run`. Clusters that cannot be reached are not among fleet.clusters.
local waves = require("waves")

-- What counts for these units: how a cluster's wave is found, how long it is watched, which failures are borne.
local function rules_for(fleet)
  local told = fleet.parameters
  if fleet.api ~= "tenants" then
    return { rank = function(labels)
      local wave = labels[waves.label]
      for i, name in ipairs(waves.order) do
        if name == wave then return i end
      end
      return #waves.order + 1
    end, soak = waves.soak_seconds, failures = tostring(waves.failures), done = "are up to date" }
  end
  return { rank = function(labels)
    local wave = labels[told.wave_label]
    if wave == nil then return 0 end
    return wave:match("^%d+$") and tonumber(wave) or nil
  end, soak = tonumber(told.soak_seconds), failures = told.max_failures, done = "are settled" }
end

local function own_target(fleet)
  for _, cluster in ipairs(fleet.clusters) do
    if cluster.name == fleet.cluster then return cluster.target end
  end
  return ""
end

-- "2", or "10%" of so many.
local function borne(failures, of)
  local share = failures:match("^(%d+)%%$")
  return share and math.floor(of * tonumber(share) / 100) or tonumber(failures)
end

-- Why this cluster has to wait, or nothing; and since when all of the waves before are done.
local function blocked(fleet, rules)
  local mine = rules.rank(fleet.cluster_labels)
  if not mine then
    return { code = "WaveUnknown", reason = "the label " .. fleet.parameters.wave_label .. " of the cluster is no number: "
      .. fleet.cluster_labels[fleet.parameters.wave_label] }
  end
  local failed, earlier, youngest, unfinished, other = 0, 0, 0, nil, nil
  local target = own_target(fleet)
  for _, cluster in ipairs(fleet.clusters) do
    local rank = rules.rank(cluster.labels)
    if cluster.name ~= fleet.cluster and rank and rank < mine then
      failed = failed + cluster.degraded
      earlier = earlier + cluster.nodes
      youngest = math.max(youngest, cluster.updated_at)
      -- Up to date with something else proves nothing about what we shall run.
      if target ~= "" and cluster.target ~= "" and cluster.target ~= target then other = other or cluster end
      if cluster.updated < cluster.nodes and not unfinished then unfinished = cluster end
    end
  end
  if failed > borne(rules.failures, earlier) then
    return { code = "WaveFailed", reason = "the waves before report " .. failed .. " failures, " .. rules.failures .. " are borne" }
  end
  if other then
    return { code = "EarlierWave", reason = "waits for " .. other.name .. " of an earlier wave, which is not to run the same image yet" }
  end
  if unfinished then
    return { code = "EarlierWave", reason = "waits for " .. unfinished.name .. " of an earlier wave ("
      .. unfinished.updated .. " of " .. unfinished.nodes .. " " .. rules.done .. ")" }
  end
  return nil, youngest
end

-- Who goes in which order: by name, but a Node that is not Ready ends none of its pods, so that its drain may take a slot for
-- ever. It goes last, and not before Ready ones that have yet to move. Of control-plane nodes the core takes none while another
-- one is not Ready, so the only one that is not goes before them: the update may be its cure. Returns who may start, in order,
-- and who waits for Ready ones.
local function in_turn(units, startable_state, of_nodes)
  if not of_nodes then -- a release has no Node
    local order = {}
    for _, unit in ipairs(units) do
      if unit.state == startable_state and not unit.slotted and not unit.degraded then order[#order + 1] = unit end
    end
    return order, {}
  end
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

local function plan(units, fleet, now)
  local start, holds, look_again = {}, {}, nil
  local rules = rules_for(fleet)
  local wait, done_at = blocked(fleet, rules)
  if wait then
    look_again = 30
  else
    local left = done_at + rules.soak - now.unix -- how long the youngest of the earlier waves still has to prove itself
    if left > 0 then
      wait = { code = "WaveSoak", reason = "the wave before is watched for another " .. left .. " s" }
      look_again = left
    end
  end
  for _, unit in ipairs(units) do
    if unit.state == fleet.startable and not unit.slotted then
      if wait then
        holds[unit.name] = wait
      elseif unit.degraded then
        holds[unit.name] = { code = "Degraded", reason = "reports a failure; see its Degraded condition" }
      end
    end
  end
  if wait then return { start = start, holds = holds, look_again = look_again } end
  local order, not_ready = in_turn(units, fleet.startable, fleet.api ~= "tenants")
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
  return { start = start, holds = holds, look_again = look_again }
end

return { name = "rollout/waves", version = "1", order = 500,
  applies = { objects = { ["windlass.dev/rollout"] = "waves" } }, rollout = { plan = plan } }
