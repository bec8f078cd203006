-- rollout/waves: a cluster begins when every cluster of the waves before it is up to date, has proved itself for a while, and
-- not more failed than the budget bears. Within a cluster the order is by name.
--
-- Asked for pools that carry the label windlass.dev/rollout: waves. The waves are in waves.lua.
local waves = require("waves")

local function rank_of(labels)
  local wave = labels[waves.label]
  for i, name in ipairs(waves.order) do
    if name == wave then return i end
  end
  return #waves.order + 1
end

local function own_target(fleet)
  for _, cluster in ipairs(fleet.clusters) do
    if cluster.name == fleet.cluster then return cluster.target end
  end
  return ""
end

-- Why this cluster has to wait, or nothing.
local function blocked(fleet)
  local mine, failed, unfinished, other = rank_of(fleet.cluster_labels), 0, nil, nil
  local target = own_target(fleet)
  for _, cluster in ipairs(fleet.clusters) do
    if cluster.name ~= fleet.cluster and rank_of(cluster.labels) < mine then
      failed = failed + cluster.degraded
      -- Up to date with something else proves nothing about what we shall run.
      if target ~= "" and cluster.target ~= "" and cluster.target ~= target then other = other or cluster end
      if cluster.updated < cluster.nodes and not unfinished then unfinished = cluster end
    end
  end
  if failed > waves.failures then
    return { code = "WaveFailed", reason = "the waves before report " .. failed .. " failures, " .. waves.failures .. " are borne" }
  end
  if other then
    return { code = "EarlierWave", reason = "waits for " .. other.name .. " of an earlier wave, which is not to run the same image yet" }
  end
  if unfinished then
    return { code = "EarlierWave", reason = "waits for " .. unfinished.name .. " of an earlier wave ("
      .. unfinished.updated .. " of " .. unfinished.nodes .. " are up to date)" }
  end
end

-- How long the youngest cluster of the earlier waves still has to prove itself.
local function soak_left(fleet, now)
  local mine, youngest = rank_of(fleet.cluster_labels), 0
  for _, cluster in ipairs(fleet.clusters) do
    if cluster.name ~= fleet.cluster and rank_of(cluster.labels) < mine and cluster.updated_at > youngest then
      youngest = cluster.updated_at
    end
  end
  return youngest + waves.soak_seconds - now.unix
end

local function plan(units, fleet, now)
  local start, holds, look_again = {}, {}, nil
  local wait = blocked(fleet)
  if wait then
    look_again = 30
  else
    local left = soak_left(fleet, now)
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
      elseif #start < fleet.free then
        start[#start + 1] = unit.name
      else
        holds[unit.name] = { code = "WaitsForSlot",
          reason = "waits for a free slot (" .. fleet.occupied .. " of " .. fleet.capacity .. " taken)" }
      end
    end
  end
  return { start = start, holds = holds, look_again = look_again }
end

return { name = "rollout/waves", version = "1", order = 500,
  applies = { objects = { ["windlass.dev/rollout"] = "waves" } }, rollout = { plan = plan } }
