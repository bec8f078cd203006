-- disruption/signals: a rollout goes on while error rates, latencies or whatever else signals.lua names stay inside of their bounds.
--
-- Asked for pools, Tenants, FleetPools and FleetCharts that carry the label windlass.dev/signals. Outside of a bound: hold signal-bad, and
-- where a unit runs the new image already the rollout halts, or returns, as spec.rollout.onFailure says. Without a value: hold
-- signal-unknown, never a yes.
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

-- Code and reason of what speaks against going on; nothing while every signal is fine.
local function against(signals)
  if #settings.signals == 0 then
    return "signal-unknown", "signals.lua of the pack disruption/signals names no signal"
  end
  local code, reason
  local function wait(as, why) if not code then code, reason = as, why end end
  for _, bounds in ipairs(settings.signals) do
    local name, seen = bounds.name, signals[bounds.name]
    if not seen or not seen.value then
      wait("signal-unknown", name .. " is unknown: " .. (seen and seen.unknown or "it is not fetched"))
    else
      local bad = outside(bounds, seen.value, seen.value)
      if bad then return "signal-bad", name .. " is " .. bad .. " (seen " .. whole(seen.age) .. " s ago)" end
      local was = outside(bounds, seen.lowest, seen.highest)
      if was then
        wait("SignalSoak", name .. " was " .. was .. ", within the last " .. whole(seen.covers) .. " s")
      elseif seen.covers < settings.soak_seconds then
        wait("SignalSoak", name .. " has been watched for " .. whole(seen.covers) .. " of " .. settings.soak_seconds .. " s")
      end
    end
  end
  return code, reason
end

local function admit(_, peers, fleet, now)
  -- The image before is not what the signals speak against.
  if fleet.returning then return { admit = true } end
  local code, reason = against(fleet.signals)
  if code == "signal-bad" then return no(code, reason, fleet.updated > 0) end
  if code then return no(code, reason) end
  local left, whose = left_to_watch(peers, now)
  if left > 0 then return no("SignalSoak", whose .. " has moved and is watched for another " .. whole(left) .. " s") end
  return { admit = true }
end

-- What the clusters that have the revision say against it: the first that is bad, else the first that is not known to be fine.
local function against_revision(object, clusters, now)
  local code, reason
  for _, cluster in ipairs(clusters) do
    if cluster.has == object.digest and cluster.state ~= "Away" then
      local this, why = against(cluster.signals)
      local left = cluster.state == "Ready" and cluster.since + settings.soak_seconds - now.unix or 0
      if this == "signal-bad" then return this, cluster.name .. ": " .. why end
      if not this and left > 0 then this, why = "SignalSoak", "it has the revision and is watched for another " .. whole(left) .. " s" end
      if this and not code then code, reason = this, cluster.name .. ": " .. why end
    end
  end
  return code, reason
end

-- No cluster begins while one that has the revision is not fine, nor one that has another revision while it is not fine itself.
local function revision(object, clusters, now)
  local holds, look_again = {}, nil
  local of_all, why = against_revision(object, clusters, now)
  for _, cluster in ipairs(clusters) do
    if cluster.has ~= object.digest then
      local code, reason = of_all, why
      if not code and cluster.has ~= "" then code, reason = against(cluster.signals) end
      if code then
        holds[cluster.name] = { code = code, reason = reason }
        look_again = settings.look_again
      end
    end
  end
  return { holds = holds, look_again = look_again }
end

return { name = "disruption/signals", version = "1", api = 2, order = 120, applies = { objects = { ["windlass.dev/signals"] = true } },
  signals = declared(), disruption = { admit = admit }, fleet = { revision = revision } }
