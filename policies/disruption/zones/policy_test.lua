local policy = require("policy")

local function admit(unit, peers, pool_labels)
  return policy.disruption.admit(unit, peers, { pool_labels = pool_labels or { ["windlass.dev/max-per-zone"] = "1" } }, {})
end
local w1, w2 = { name = "w1", zone = "a" }, { name = "w2", zone = "a", slotted = true }

test("a quiet zone may be disturbed", function()
  expect_equal(admit(w1, { w1, { name = "w2", zone = "a" }, { name = "w3", zone = "b", slotted = true } }), { admit = true })
end)

test("a second one of a zone waits and hears for whom", function()
  local answer = admit(w1, { w1, w2 })
  expect_equal(answer, { admit = false, code = "ZoneBusy", reason = "zone 'a' has 1 of at most 1 disturbed: w2" })
end)

test("who is down counts, also without a slot", function()
  expect_equal(admit(w1, { w1, { name = "w2", zone = "a", ready = false } }).code, "ZoneBusy")
end)

test("more than one may be allowed, and long lists are cut", function()
  local labels = { ["windlass.dev/max-per-zone"] = "2" }
  expect_equal(admit(w1, { w1, w2 }, labels).admit, true)
  local many = { w1 }
  for i = 2, 6 do many[i] = { name = "w" .. i, zone = "a", slotted = true } end
  expect_equal(admit(w1, many, labels).reason, "zone 'a' has 5 of at most 2 disturbed: w2, w3, w4, …")
end)

test("any label can stand for the zone", function()
  local labels = { ["windlass.dev/max-per-zone"] = "1", ["windlass.dev/zone-label"] = "example.com_rack" }
  local one = { name = "w1", zone = "a", labels = { ["example.com/rack"] = "r1" } }
  local other = { name = "w2", zone = "b", slotted = true, labels = { ["example.com/rack"] = "r1" } }
  expect_equal(admit(one, { one, other }, labels).reason, "example.com/rack 'r1' has 1 of at most 1 disturbed: w2")
  expect_equal(admit(w1, { w1, other }, labels).admit, true)
end)

test("a limit that is none stops rather than guesses", function()
  expect_equal(admit(w1, { w1 }, { ["windlass.dev/max-per-zone"] = "many" }).code, "ZoneLimitUnknown")
  expect_equal(admit(w1, { w1 }, { ["windlass.dev/max-per-zone"] = "0" }).admit, false)
end)

test("the file may say it for all pools", function()
  local zones = require("zones")
  zones.max_per_zone = 1
  local busy, quiet = admit(w1, { w1, w2 }, {}), admit(w1, { w1 }, {})
  zones.max_per_zone = nil
  expect_equal({ busy.code, quiet.admit }, { "ZoneBusy", true })
end)
