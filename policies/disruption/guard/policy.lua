-- disruption/guard: nothing is disturbed while the pool is not well. The pool's label says how much may be wrong:
--
--     windlass.dev/guard: "0"      nobody may be down who holds no slot; "1": one may; …
--
-- An alert that somebody sets as the annotation windlass.dev/alert on any Node of the pool stops it as well.
local label, alert = "windlass.dev/guard", "windlass.dev/alert"

local function admit(unit, peers, fleet, _)
  local allowed = tonumber(fleet.pool_labels[label])
  if not allowed or allowed < 0 then
    return { admit = false, code = "GuardUnknown",
      reason = "the pool's label " .. label .. " is '" .. tostring(fleet.pool_labels[label]) .. "', no number from 0" }
  end
  local down, first = 0, nil
  for _, peer in ipairs(peers) do
    local why = peer.annotations[alert]
    if why then return { admit = false, code = "Alert", reason = "an alert on " .. peer.name .. ": " .. why } end
    if peer.name ~= unit.name and not peer.slotted and (not peer.ready or peer.degraded) then
      down = down + 1
      first = first or peer.name
    end
  end
  if down <= allowed then return { admit = true } end
  return { admit = false, code = "PoolUnwell",
    reason = down .. " units without a slot are down, " .. first .. " first; " .. allowed .. " may be" }
end

return { name = "disruption/guard", version = "1", order = 100, applies = { objects = { [label] = true } },
  disruption = { admit = admit } }
