local policy = require("policy")
local windows = require("windows")

local function at(text, name)
  return policy.disruption.admit({ name = "w1" }, {}, { pool_labels = { ["windlass.dev/window"] = name or "nights" } },
    { unix = time.parse(text) })
end

test("a window over midnight belongs to the day on which it begins", function()
  expect_equal(at("2026-11-23T22:00:00Z"), { admit = true })          -- Monday
  expect_equal(at("2026-11-28T04:59:00Z").admit, true)                -- Saturday, begun on Friday
  expect_equal(at("2026-11-28T22:30:00Z").admit, false)               -- Saturday
  expect_equal(at("2026-11-23T04:00:00Z").admit, false)               -- Monday, begun on Sunday
end)

test("outside of it the next opening is known", function()
  local answer = at("2026-11-23T21:10:00Z")
  expect_equal(answer, { admit = false, code = "OutsideWindow", look_again = 3000,
    reason = "outside of the window nights (22:00 to 05:00 UTC)" })
  expect_equal(at("2026-11-28T12:00:00Z").look_again, 86400)
end)

test("a window within a day", function()
  expect_equal(at("2026-11-23T09:00:00Z", "office-hours").admit, true)
  expect_equal(at("2026-11-23T16:00:00Z", "office-hours").admit, false)
end)

test("hours are those on the wall, daylight saving time included", function()
  windows.berlin = { zone = "Europe/Berlin", from = "22:00", to = "23:00" }
  expect_equal(at("2026-07-01T20:30:00Z", "berlin").admit, true)      -- summer: UTC+2
  expect_equal(at("2026-12-01T20:30:00Z", "berlin").admit, false)
  expect_equal(at("2026-12-01T21:30:00Z", "berlin").admit, true)      -- winter: UTC+1
  windows.berlin = nil
end)

test("a window that nobody wrote stops rather than guesses", function()
  expect_equal(at("2026-11-23T22:00:00Z", "lunch").reason, "windows.lua has no window 'lunch'")
end)
