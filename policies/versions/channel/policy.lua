-- versions/channel: the newest version of the catalogue that a range takes; not before it is old enough, not in a freeze, and
-- never one of the skip list. A unit never goes back by itself.
local settings = require("settings")

-- "2026-12-20" to "2027-01-06", both included: dates compare as they are written.
local function freeze_on(date)
  for _, freeze in ipairs(settings.freezes) do
    if date >= freeze.from and date <= freeze.to then return freeze end
  end
end

local function skipped(version)
  for _, entry in ipairs(settings.skip) do
    if entry.version == version then return true end
  end
  return false
end

local function newer(a, b) return b == "" or not semver.parse(b) or semver.compare(a, b) > 0 end

-- A range, or the name of a channel whose every version is taken.
local function takes(wanted)
  local range = wanted == "" and settings.range or wanted
  if not semver.problem(range) then
    return function(entry)
      return semver.satisfies(entry.version, range) and (settings.channel == "" or entry.channel == settings.channel)
    end, range
  end
  return function(entry) return entry.channel == wanted end, "channel " .. wanted
end

local function resolve(unit, catalogue, now)
  local fits, called = takes(unit.wanted)
  local best, young, soonest
  for _, entry in ipairs(catalogue) do
    local v = semver.parse(entry.version)
    if v and (v.prerelease == "" or settings.prereleases) and not skipped(entry.version) and fits(entry) then
      local age = now.unix - entry.released
      if entry.released > 0 and age < settings.soak_seconds then
        if not young or newer(entry.version, young) then young = entry.version end
        local rest = settings.soak_seconds - age
        if not soonest or rest < soonest then soonest = rest end
      elseif not best or newer(entry.version, best) then
        best = entry.version
      end
    end
  end
  if not best or not newer(best, unit.running) then
    local reason = best and "nothing newer fits " .. called or "no version fits " .. called
    if young and newer(young, unit.running) then reason = young .. " fits " .. called .. " and is not old enough yet" end
    return { reason = reason, look_again = soonest }
  end
  local freeze = freeze_on(now.text:sub(1, 10))
  if freeze then
    return { reason = best .. " waits for the end of the freeze on " .. freeze.to .. " (" .. freeze.reason .. ")",
      look_again = 3600 }
  end
  return { version = best, reason = "the newest that fits " .. called, look_again = soonest }
end

-- Asked for pools that say so by a label; versions/pinned has all the others.
return { name = "versions/channel", version = "1", api = 2, order = 500,
  applies = { objects = { ["windlass.dev/versions"] = "channel" } }, versions = { resolve = resolve } }
