local policy = require("policy")

local function admit(peers, allowed)
  return policy.disruption.admit({ name = "w1" }, peers, { pool_labels = { ["windlass.dev/guard"] = allowed or "0" } }, {})
end

test("a pool that is well may be disturbed", function()
  expect_equal(admit({ { name = "w1", ready = false }, { name = "w2" }, { name = "w3", ready = false, slotted = true } }),
    { admit = true })
end)

test("somebody who is down without a slot stops it", function()
  expect_equal(admit({ { name = "w2", ready = false }, { name = "w3", degraded = true } }).reason,
    "2 units without a slot are down, w2 first; 0 may be")
  expect_equal(admit({ { name = "w2", ready = false } }, "1").admit, true)
end)

test("an alert stops it", function()
  expect_equal(admit({ { name = "w2", annotations = { ["windlass.dev/alert"] = "disk" } } }),
    { admit = false, code = "Alert", reason = "an alert on w2: disk" })
end)

test("a limit that is none stops rather than guesses", function()
  expect_equal(admit({}, "few").code, "GuardUnknown")
end)
