-- versions/pinned: a unit runs what its object or pins.lua names, and nothing else.
local pins = require("pins")

local function has(catalogue, version)
  for _, entry in ipairs(catalogue) do
    if entry.version == version then return true end
  end
  return false
end

-- The first row whose cluster, api and name fit; "" fits all.
local function pin_of(unit)
  for _, pin in ipairs(pins) do
    local fits = (pin.api or unit.api) == unit.api and (pin.cluster or unit.cluster) == unit.cluster
      and (pin.name or unit.name) == unit.name
    if fits then return pin.version end
  end
end

local function resolve(unit, catalogue, _)
  local version, why = pin_of(unit), "pinned by pins.lua"
  if not version then version, why = unit.wanted, "what its object asks for" end
  if version == "" then return { reason = "nothing names a version for it" } end
  if not has(catalogue, version) then return { reason = version .. " (" .. why .. ") is not in the catalogue" } end
  if version == unit.running then return { version = version, reason = "it runs it already; " .. why } end
  return { version = version, reason = why }
end

return { name = "versions/pinned", version = "1", api = 2, order = 1000, versions = { resolve = resolve } }
