-- Clusters labelled env=prod wait until every node of the clusters labelled env=dev is updated.
local function left_on_dev(fleet)
  local left = 0
  for _, elsewhere in ipairs(fleet.clusters) do
    if elsewhere.labels.env == "dev" then left = left + elsewhere.nodes - elsewhere.updated end
  end
  return left
end

local function plan(units, fleet, now)
  local left = left_on_dev(fleet)
  local ready, holds = rollout.in_turn(units, "Staged")
  local start = {}
  for _, unit in ipairs(ready) do
    if left > 0 then
      holds[unit.name] = { code = "AfterDev", reason = "waits for " .. left .. " nodes of dev" }
    elseif #start < fleet.free then
      start[#start + 1] = unit.name
    else
      holds[unit.name] = { code = "WaitsForSlot", reason = "waits for a free slot" }
    end
  end
  return { start = start, holds = holds, look_again = left > 0 and 30 or nil }
end

return { name = "prod-after-dev", version = "1", applies = { clusters = { env = "prod" } }, rollout = { plan = plan } }
