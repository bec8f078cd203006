-- rollout/waves: a cluster begins when every cluster of the waves before it is up to date, has proved itself for a while, and
-- not more failed than the budget bears. Within a cluster the order is by name.
--
-- Asked for pools that carry the label windlass.dev/rollout: waves, whose waves are in waves.lua; and for Tenants, whose waves,
-- budget and soak are flags of `windlass run`. Clusters that cannot be reached are not among fleet.clusters.
local waves = require("waves")

-- What counts for these units: how a cluster's wave is found, how long it is watched, which failures are allowed.
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
local function allowed(failures, of)
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
      -- Up to date with something else proves nothing about what we are to run.
      if target ~= "" and cluster.target ~= "" and cluster.target ~= target then other = other or cluster end
      if cluster.updated < cluster.nodes and not unfinished then unfinished = cluster end
    end
  end
  if failed > allowed(rules.failures, earlier) then
    return { code = "WaveFailed", reason = "the waves before report " .. failed .. " failures, " .. rules.failures .. " are allowed" }
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

local function plan(units, fleet, now)
  local start, look_again = {}, nil
  local order, holds = rollout.in_turn(units, fleet.startable)
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
  if wait then
    for _, unit in ipairs(units) do
      if unit.state == fleet.startable and not unit.slotted then holds[unit.name] = wait end
    end
    return { start = start, holds = holds, look_again = look_again }
  end
  for _, unit in ipairs(order) do
    if #start < fleet.free then
      start[#start + 1] = unit.name
    else
      holds[unit.name] = { code = "WaitsForSlot",
        reason = "waits for a free slot (" .. fleet.occupied .. " of " .. fleet.capacity .. " taken)" }
    end
  end
  return { start = start, holds = holds, look_again = look_again }
end

return { name = "rollout/waves", version = "1", api = 2, order = 500,
  applies = { objects = { ["windlass.dev/rollout"] = "waves" } }, rollout = { plan = plan } }
