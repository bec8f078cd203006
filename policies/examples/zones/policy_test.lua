local policy = require("policy")

local function unit(name, zone, state) return { name = name, zone = zone, state = state, slotted = false, degraded = false } end
local free_slots = { free = 5, capacity = 5, occupied = 0 }

test("the first zone goes alone", function()
  local answer = policy.rollout.plan({ unit("w1", "b", "Staged"), unit("w2", "a", "Staged"), unit("w3", "a", "Staged") },
    free_slots, {})
  expect_equal(answer.start, { "w2", "w3" })
  expect_equal(answer.holds.w1.reason, "waits for zone a (2 to go there)")
end)

test("a unit that is still rebooting keeps its zone open", function()
  local answer = policy.rollout.plan({ unit("w1", "a", "Rebooting"), unit("w2", "b", "Staged") }, free_slots, {})
  expect_equal(answer.start, {})
  expect_equal(answer.holds.w2.code, "OtherZone")
end)

test("the next zone begins when the first is done", function()
  local answer = policy.rollout.plan({ unit("w1", "a", "UpToDate"), unit("w2", "b", "Staged") }, free_slots, {})
  expect_equal(answer.start, { "w2" })
end)

test("who reports a failure stays, and who comes too late waits for a slot", function()
  local failed = unit("w1", "a", "Staged")
  failed.degraded = true
  local answer = policy.rollout.plan({ failed, unit("w2", "a", "Staged"), unit("w3", "a", "Staged") },
    { free = 1, capacity = 2, occupied = 1 }, {})
  expect_equal(answer.start, { "w2" })
  expect_equal(answer.holds.w1.code, "Degraded")
  expect_equal(answer.holds.w3.reason, "waits for a free slot (1 of 2 taken)")
end)

test("a finished pool has nothing to say", function()
  expect_equal(policy.rollout.plan({ unit("w1", "a", "UpToDate") }, free_slots, {}), { start = {}, holds = {} })
end)
