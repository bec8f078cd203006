-- disruption/zones: at most k units of one zone, rack or any other label at a time. The pool says so by labels:
--
--     windlass.dev/max-per-zone: "1"
--     windlass.dev/zone-label: example.com_rack      optional: another label than the zone; "_" stands for "/"
--
-- zones.lua may say it for all pools that have no such label.
local zones = require("zones")
local most_label, name_label = "windlass.dev/max-per-zone", "windlass.dev/zone-label"

-- The value of a label cannot hold a "/".
local function group_by(fleet)
  local name = fleet.pool_labels[name_label]
  if not name then return "zone", function(unit) return unit.zone end end
  name = name:gsub("_", "/", 1)
  return name, function(unit) return unit.labels[name] or "" end
end

local function admit(unit, peers, fleet, _)
  local most = tonumber(fleet.pool_labels[most_label] or zones.max_per_zone)
  if not most or most < 1 or most ~= math.floor(most) then
    return { admit = false, code = "ZoneLimitUnknown",
      reason = "the pool's label " .. most_label .. " is '" .. tostring(fleet.pool_labels[most_label]) .. "', no number from 1" }
  end
  local called, group_of = group_by(fleet)
  local group, disturbed, names = group_of(unit), 0, {}
  for _, peer in ipairs(peers) do
    -- Who holds a slot, and who is down without one, both take from what the zone can spare.
    if peer.name ~= unit.name and group_of(peer) == group and (peer.slotted or not peer.ready) then
      disturbed = disturbed + 1
      if disturbed <= 3 then names[disturbed] = peer.name end
    end
  end
  if disturbed < most then return { admit = true } end
  if disturbed > 3 then names[4] = "…" end
  return { admit = false, code = "ZoneBusy",
    reason = called .. " '" .. group .. "' has " .. disturbed .. " of at most " .. most .. " disturbed: " .. table.concat(names, ", ") }
end

return { name = "disruption/zones", version = "1", api = 2, order = 200,
  applies = zones.max_per_zone == nil and { objects = { [most_label] = true } } or nil,
  disruption = { admit = admit } }
