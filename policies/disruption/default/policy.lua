-- disruption/default: what the rollout lets start may be disturbed, unless its Node says that it may not.
local hold = "windlass.dev/hold"

local function admit(unit, _, _, _)
  local why = unit.annotations[hold]
  if why then return { admit = false, code = "Held", reason = "its Node is held by " .. hold .. (why ~= "" and ": " .. why or "") } end
  return { admit = true }
end

return { name = "disruption/default", version = "1", api = 2, order = 1000, disruption = { admit = admit } }
