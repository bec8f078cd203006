-- rollout/default: who may start a reboot now, and why the others wait.
--
-- This is the order Windlass uses when no pack says otherwise, and the file to copy for an order of your own:
--
--     mkdir -p my-policies/mine && cp policy.lua policy_test.lua my-policies/mine/
--     windlass policy test my-policies
--     windlass run --policies my-policies …        (an edit takes effect within a second)
--
-- A policy proposes, the core disposes: it keeps maxUnavailable, drains before it reboots, stops after two
-- unhealthy nodes and takes one control-plane node at a time, whatever is answered here. A policy that fails
-- starts no unit; what is under way is finished.
--
-- Hooks decide from their arguments alone. There is no clock, no randomness, no file and no network; `pairs`
-- goes through keys in ascending order, so the same question always has the same answer.

-- Reasons are read by people in `windlass explain`; `code` is what scripts and alerts match.
local function hold(code, reason) return { code = code, reason = reason } end

-- plan(units, fleet, now) is asked for one pool of one cluster, whenever something in it changed.
--
--   units   every node of the pool, by name ascending. Each has:
--             name, zone, pool, cluster, labels, annotations   (labels["topology.kubernetes.io/zone"], …)
--             state         "Pending", "Staging", "Staged", "Rebooting", "UpToDate" or "Degraded"
--             slotted       it holds a reboot slot: it is on its way, or about to be
--             ready         its Node is Ready          degraded   it reported a failure
--             control_plane, since (unix seconds in this state), image (booted), target (wanted)
--   fleet   the pool: pool, cluster, pool_labels, cluster_labels, node_count, updated, degraded,
--             capacity (maxUnavailable as a number), occupied, free (what may start now),
--             in_slots (names), paused, halted,
--             clusters (the same pool elsewhere: name, labels, nodes, updated, degraded, slotted)
--   now     UTC: text ("2026-11-21T10:00:00Z"), unix, year, month, day, hour, minute, weekday ("Saturday")
--
-- It answers a table:
--   start       names of Staged units to give a slot to, in this order, `free` of them at most
--   holds       why the others wait, by name: a sentence, or {code = "OneWord", reason = "a sentence"}
--   look_again  seconds after which to ask again although nothing changed (for time windows); optional
local function plan(units, fleet, now)
  local start = {}
  local order, holds = rollout.in_turn(units, "Staged")

  -- Not on Fridays, nor at night:
  --
  --     if now.weekday == "Friday" or now.hour >= 18 then
  --       for _, unit in ipairs(units) do
  --         if unit.state == "Staged" then holds[unit.name] = hold("OutsideWindow", "reboots only until 18:00, not on Fridays") end
  --       end
  --       return { holds = holds, look_again = 600 }
  --     end

  -- What a unit without a slot hears. Worked out once: it is the same for all of them.
  local full
  if fleet.paused then
    full = hold("Paused", "the pool is paused")
  elseif fleet.halted then
    full = hold("RolloutHalted", "the rollout is halted: 2 or more unhealthy nodes in reboot slots")
  elseif fleet.capacity == 0 then
    full = hold("NoCapacity", "maxUnavailable is 0")
  else
    local names = {}
    for i, name in ipairs(fleet.in_slots) do
      if i > 3 then
        names[#names + 1] = "…"
        break
      end
      names[#names + 1] = name
    end
    local by = #names > 0 and " by " .. table.concat(names, ", ") or ""
    full = hold("WaitsForSlot",
      "waits for a free slot (" .. fleet.occupied .. " of " .. fleet.capacity .. " taken" .. by .. ")")
  end

  -- Units that hold a slot already go first and need nothing from us. The rest: Staged, healthy, in turn.
  local free = fleet.free
  for _, unit in ipairs(order) do
    -- One zone after the other, or a canary first? See examples/zones and examples/canary. In short:
    --
    --     if unit.labels["example.com/canary"] ~= "true" and not canaries_are_done then
    --       holds[unit.name] = hold("AfterCanary", "waits until the canaries are up to date")
    --     elseif …
    --
    if #start < free then
      start[#start + 1] = unit.name
    elseif free > 0 then
      holds[unit.name] = hold("WaitsForSlot", "waits for a free slot (" .. free .. " go first by name)")
    else
      holds[unit.name] = full
    end
  end
  return { start = start, holds = holds }
end

return {
  name = "rollout/default",
  version = "1", api = 2,
  -- Among several packs the lowest order that applies is asked; yours comes before any stock pack anyway.
  order = 1000,
  -- Leave `applies` out to be asked for every pool, or limit it:
  --
  --     applies = {
  --       apis = { "bootc" },
  --       clusters = { env = { "prod", "staging" } },   -- labels of the cluster: a value, a list, true, false
  --       objects = { tier = "web", ["example.com/frozen"] = false },
  --     },
  rollout = { plan = plan },
}
