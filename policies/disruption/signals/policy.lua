-- disruption/signals: a rollout goes on while error rates, latencies or whatever else signals.lua names stay inside of their bounds.
--
-- Asked for pools and Tenants that carry the label windlass.dev/signals. Outside of a bound: hold signal-bad, and where a unit runs the new
-- image already the rollout halts, or returns, as spec.rollout.onFailure says. Without a value: hold signal-unknown, never a yes.
local settings = require("signals")

-- What the service fetches: the entries without their bounds.
local function declared()
  local all = {}
  for i, one in ipairs(settings.signals) do
    if not one.at_most and not one.at_least then
      error("signals.lua: " .. tostring(one.name) .. " has neither at_most nor at_least")
    end
    local entry = { window = settings.soak_seconds }
    for key, value in pairs(one) do
      if key ~= "at_most" and key ~= "at_least" then entry[key] = value end
    end
    all[i] = entry
  end
  return all
end

local function number(n) return string.format("%.6g", n) end
local function whole(n) return string.format("%d", math.ceil(n)) end

-- "is 0.2, at most 0.01 is allowed", or nothing where the value is inside of its bounds.
local function outside(bounds, lowest, highest)
  if bounds.at_most and highest > bounds.at_most then
    return number(highest) .. ", at most " .. number(bounds.at_most) .. " is allowed"
  end
  if bounds.at_least and lowest < bounds.at_least then
    return number(lowest) .. ", at least " .. number(bounds.at_least) .. " is needed"
  end
end

local function no(code, reason, halt)
  return { admit = false, code = code, reason = reason, halt = halt, look_again = settings.look_again }
end

-- How long the unit that moved last has to be watched yet.
local function left_to_watch(peers, now)
  local left, whose = 0, nil
  for _, peer in ipairs(peers) do
    local this = peer.since + settings.soak_seconds - now.unix
    if peer.state == "UpToDate" and peer.since > 0 and this > left then left, whose = this, peer.name end
  end
  return left, whose
end

local function admit(_, peers, fleet, now)
  -- The image before is not what the signals speak against.
  if fleet.returning then return { admit = true } end
  if #settings.signals == 0 then
    return no("signal-unknown", "signals.lua of the pack disruption/signals names no signal")
  end
  local wait
  for _, bounds in ipairs(settings.signals) do
    local name, seen = bounds.name, fleet.signals[bounds.name]
    if not seen or not seen.value then
      wait = wait or no("signal-unknown", name .. " is unknown: " .. (seen and seen.unknown or "it is not fetched"))
    else
      local bad = outside(bounds, seen.value, seen.value)
      if bad then
        return no("signal-bad", name .. " is " .. bad .. " (seen " .. whole(seen.age) .. " s ago)", fleet.updated > 0)
      end
      local was = outside(bounds, seen.lowest, seen.highest)
      if was then
        wait = wait or no("SignalSoak", name .. " was " .. was .. ", within the last " .. whole(seen.covers) .. " s")
      elseif seen.covers < settings.soak_seconds then
        wait = wait or no("SignalSoak", name .. " has been watched for " .. whole(seen.covers) .. " of "
          .. settings.soak_seconds .. " s")
      end
    end
  end
  if wait then return wait end
  local left, whose = left_to_watch(peers, now)
  if left > 0 then return no("SignalSoak", whose .. " has moved and is watched for another " .. whole(left) .. " s") end
  return { admit = true }
end

return { name = "disruption/signals", version = "1", api = 2, order = 120, applies = { objects = { ["windlass.dev/signals"] = true } },
  signals = declared(), disruption = { admit = admit } }
