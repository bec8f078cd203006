local policy = require("policy")
local function admit(annotations) return policy.disruption.admit({ name = "w1", annotations = annotations }, {}, {}, {}) end

test("a unit may be disturbed", function() expect_equal(admit({}), { admit = true }) end)

test("a Node that is held is not", function()
  expect_equal(admit({ ["windlass.dev/hold"] = "ticket 7" }).reason, "its Node is held by windlass.dev/hold: ticket 7")
  expect_equal(admit({ ["windlass.dev/hold"] = "" }).code, "Held")
end)
