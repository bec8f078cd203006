local policy = require("policy")

local function answer(updated_on_dev)
  local clusters = { { name = "dev", labels = { env = "dev" }, nodes = 3, updated = updated_on_dev } }
  return policy.rollout.plan({ { name = "w1", state = "Staged" }, { name = "w2", state = "Staged" } },
    { free = 1, startable = "Staged", clusters = clusters }, {})
end

test("prod waits for dev", function()
  expect_equal(answer(2).start, {})
  expect_equal(answer(2).holds.w1.code, "AfterDev")
  expect_equal(answer(2).look_again, 30)
end)

test("then it goes on as slots are free", function()
  expect_equal(answer(3).start, { "w1" })
  expect_equal(answer(3).holds.w2.code, "WaitsForSlot")
end)
