-- Canaries first: units labelled example.com/canary=true go, prove themselves for a while, then the rest follows.
local label, soak_seconds = "example.com/canary", 600

local function is_canary(unit) return unit.labels[label] == "true" end

local function plan(units, fleet, now)
  local waiting_for, youngest = nil, 0
  for _, unit in ipairs(units) do
    if is_canary(unit) then
      if unit.state ~= "UpToDate" or not unit.ready then
        waiting_for = waiting_for or unit.name
      elseif unit.since > youngest then
        youngest = unit.since
      end
    end
  end
  local soaked_at = youngest + soak_seconds

  local start, holds, look_again = {}, {}, nil
  for _, unit in ipairs(units) do
    if unit.state == "Staged" and not unit.slotted then
      if not is_canary(unit) and waiting_for then
        holds[unit.name] = { code = "AfterCanary", reason = "waits for the canary " .. waiting_for }
      elseif not is_canary(unit) and now.unix < soaked_at then
        look_again = soaked_at - now.unix
        holds[unit.name] = { code = "CanarySoak", reason = "the canaries are watched for another " .. look_again .. " s" }
      elseif unit.degraded then
        holds[unit.name] = { code = "Degraded", reason = "reports a failure" }
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

return { name = "canary", version = "1", api = 2, order = 20, applies = { apis = { "bootc" } }, rollout = { plan = plan } }
