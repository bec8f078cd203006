local policy = require("policy")
local settings = require("settings")

local now = { text = "2026-11-23T10:00:00Z", unix = 1795428000 }
local old, young = now.unix - 100 * 24 * 3600, now.unix - 3600
local catalogue = {
  { version = "1.0.0", released = old, channel = "stable" }, { version = "1.2.0", released = old, channel = "stable" },
  { version = "1.3.0-rc.1", released = old, channel = "stable" }, { version = "1.3.0", released = old, channel = "beta" },
  { version = "2.0.0", released = old, channel = "stable" }, { version = "not a version", channel = "stable" },
}
local function resolve(unit, all) return policy.versions.resolve(unit, all or catalogue, now) end

test("the newest that a range takes", function()
  expect_equal(resolve({ running = "1.0.0", wanted = "< 1.3.0" }), { version = "1.2.0", reason = "the newest that fits < 1.3.0" })
  expect_equal(resolve({ running = "1.0.0" }).version, "2.0.0")
end)

test("the newest of a channel", function()
  expect_equal(resolve({ running = "1.0.0", wanted = "beta" }), { version = "1.3.0", reason = "the newest that fits channel beta" })
  settings.channel = "beta"
  expect_equal(resolve({ running = "1.0.0", wanted = "< 2.0.0" }).version, "1.3.0")
  settings.channel = ""
end)

test("a unit never goes back", function()
  expect_equal(resolve({ running = "2.0.0", wanted = "< 2.0.0" }), { reason = "nothing newer fits < 2.0.0" })
  expect_equal(resolve({ running = "2.0.0", wanted = "nightly" }), { reason = "no version fits channel nightly" })
end)

test("a version has to be old enough, and is looked at again when it is", function()
  local all = { { version = "1.0.0", released = old }, { version = "1.1.0", released = young }, { version = "1.2.0", released = young } }
  local answer = resolve({ running = "1.0.0" }, all)
  expect_equal(answer, { reason = "1.2.0 fits >= 0.0.0 and is not old enough yet", look_again = 23 * 3600 })
end)

test("pre-releases are for those who want them", function()
  expect_equal(resolve({ running = "1.2.0", wanted = "< 1.3.0" }).version, nil)
  settings.prereleases = true
  expect_equal(resolve({ running = "1.2.0", wanted = "< 1.3.0" }).version, "1.3.0-rc.1")
  settings.prereleases = false
end)

test("nothing moves in a freeze, nor to what is skipped", function()
  settings.freezes[1] = { from = "2026-11-20", to = "2026-11-23", reason = "fair" }
  expect_equal(resolve({ running = "1.0.0" }).reason, "2.0.0 waits for the end of the freeze on 2026-11-23 (fair)")
  settings.freezes[1] = { from = "2026-11-24", to = "2026-11-25", reason = "fair" }
  settings.skip[1] = { version = "2.0.0", reason = "loses its disk" }
  expect_equal(resolve({ running = "1.0.0" }).version, "1.3.0")
  settings.freezes[1], settings.skip[1] = nil, nil
end)
