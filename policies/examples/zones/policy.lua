-- One zone at a time: a zone begins when every unit of the zones before it (by name) is up to date.
local function plan(units, fleet, now)
  -- The first zone that still has work. Units without a zone label form a zone of their own, "".
  local unfinished = {}
  for _, unit in ipairs(units) do
    if unit.state ~= "UpToDate" then unfinished[unit.zone] = (unfinished[unit.zone] or 0) + 1 end
  end
  local open
  for zone in pairs(unfinished) do -- ascending
    open = zone
    break
  end

  local start, holds = {}, {}
  for _, unit in ipairs(units) do
    if unit.state == "Staged" and not unit.slotted then
      if unit.zone ~= open then
        holds[unit.name] = { code = "OtherZone",
          reason = "waits for zone " .. open .. " (" .. unfinished[open] .. " to go there)" }
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
  return { start = start, holds = holds }
end

return { name = "zones", version = "1", api = 2, order = 10, applies = { apis = { "bootc" } }, rollout = { plan = plan } }
