-- disruption/windows: nothing new is disturbed outside of the window that the pool's label windlass.dev/window names. What has
-- begun is finished, also after the window's end.
local windows = require("windows")
local label = "windlass.dev/window"
local week = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday" }

local function minutes_of(text)
  local hour, minute = tostring(text):match("^(%d%d):(%d%d)$")
  assert(hour and tonumber(hour) < 24 and tonumber(minute) < 60, "windows.lua: '" .. tostring(text) .. "' is no time such as 22:00")
  return tonumber(hour) * 60 + tonumber(minute)
end

local day_before, known = {}, {}
for i, day in ipairs(week) do
  day_before[day] = week[(i + 5) % 7 + 1]
  known[day] = true
end

-- Broken windows are found when the pack is loaded.
for name, window in pairs(windows) do
  minutes_of(window.from)
  minutes_of(window.to)
  time.at(0, window.zone)
  for _, day in ipairs(window.days or {}) do assert(known[day], "windows.lua: " .. name .. ": '" .. tostring(day) .. "' is no day") end
end

local function has_day(window, day)
  for _, one in ipairs(window.days or week) do
    if one == day then return true end
  end
  return false
end

local function is_open(window, unix)
  local at = time.at(unix, window.zone)
  local from, to, minute = minutes_of(window.from), minutes_of(window.to), at.hour * 60 + at.minute
  if from < to then return minute >= from and minute < to and has_day(window, at.weekday) end
  if minute >= from then return has_day(window, at.weekday) end
  return minute < to and has_day(window, day_before[at.weekday])
end

-- When it opens next, in steps of a quarter of an hour: walls' clocks jump, and windows begin on quarters in practice.
local function opens_in(window, unix)
  local step = 900
  local at = unix - unix % step
  for _ = 1, 96 do
    at = at + step
    if is_open(window, at) then return at - unix end
  end
  return 86400
end

local function admit(_, _, fleet, now)
  local name = fleet.pool_labels[label]
  local window = windows[name]
  if not window then
    return { admit = false, code = "WindowUnknown", reason = "windows.lua has no window '" .. tostring(name) .. "'" }
  end
  if is_open(window, now.unix) then return { admit = true } end
  return { admit = false, code = "OutsideWindow", look_again = opens_in(window, now.unix),
    reason = "outside of the window " .. name .. " (" .. window.from .. " to " .. window.to .. " " .. window.zone .. ")" }
end

return { name = "disruption/windows", version = "1", api = 2, order = 300, applies = { objects = { [label] = true } },
  disruption = { admit = admit } }
