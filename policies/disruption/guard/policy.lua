-- disruption/guard: nothing is disturbed while something is not well. The pool's label says how much may be wrong with its nodes, and its
-- annotations what else is looked at:
--
--     windlass.dev/guard: "0"               label: no node without a slot may be down; "1": one may; …
--     windlass.dev/guard-conditions: "…"    types of Node conditions, with commas: none may be True on a node of the pool
--     windlass.dev/guard-objects: "…"       objects, with commas: what has replicas must have all of them available, nothing else may exist
--
-- An alert that is set as the annotation windlass.dev/alert on any Node of the pool stops it as well.
local label, alert = "windlass.dev/guard", "windlass.dev/alert"
local conditions = "windlass.dev/guard-conditions"
local look_again = 30 -- seconds; there is no event when such an object changes

local function no(code, reason)
  return { admit = false, code = code, reason = reason, look_again = look_again }
end

local function object_problem(guard)
  if guard.problem ~= "" then return no("GuardUnknown", guard.path .. " cannot be read: " .. guard.problem) end
  if not guard.counts then
    if guard.exists then return no("Alert", guard.path .. " exists") end
  elseif guard.available < guard.wanted then
    return no("BelowReplicas", guard.path .. " has " .. guard.available .. " of " .. guard.wanted .. " replicas")
  end
end

local function forbidden_conditions(text)
  local all = {}
  for name in string.gmatch(text or "", "[^,%s]+") do all[name] = true end
  return all
end

local function admit(unit, peers, fleet, _)
  local allowed = tonumber(fleet.pool_labels[label])
  if not allowed or allowed < 0 then
    return { admit = false, code = "GuardUnknown",
      reason = "the pool's label " .. label .. " is '" .. tostring(fleet.pool_labels[label]) .. "', no number from 0" }
  end
  for _, guard in ipairs(fleet.guards) do
    local problem = object_problem(guard)
    if problem then return problem end
  end
  local forbidden = forbidden_conditions(fleet.pool_annotations[conditions])
  local down, first = 0, nil
  for _, peer in ipairs(peers) do
    local why = peer.annotations[alert]
    if why then return { admit = false, code = "Alert", reason = "an alert on " .. peer.name .. ": " .. why } end
    for _, condition in ipairs(peer.conditions) do
      if forbidden[condition] then
        return { admit = false, code = "NodeCondition", reason = peer.name .. " has the condition " .. condition }
      end
    end
    if peer.name ~= unit.name and not peer.slotted and (not peer.ready or peer.degraded) then
      down = down + 1
      first = first or peer.name
    end
  end
  if down <= allowed then return { admit = true } end
  return { admit = false, code = "PoolUnwell",
    reason = down .. " units without a slot are down, " .. first .. " first; " .. allowed .. " may be" }
end

return { name = "disruption/guard", version = "2", api = 2, order = 100, applies = { objects = { [label] = true } },
  disruption = { admit = admit } }
