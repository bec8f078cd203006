local policy = require("policy")

local function unit(name, state, canary, since)
  return { name = name, state = state, labels = { ["example.com/canary"] = canary and "true" or nil }, slotted = false,
    degraded = false, ready = true, since = since or 0 }
end
local free_slots = { free = 5, capacity = 5, occupied = 0 }

test("the canary goes first", function()
  local answer = policy.rollout.plan({ unit("w1", "Staged"), unit("w2", "Staged", true) }, free_slots, { unix = 1000 })
  expect_equal(answer.start, { "w2" })
  expect_equal(answer.holds.w1.reason, "waits for the canary w2")
end)

test("the rest waits while the canary is watched", function()
  local answer = policy.rollout.plan({ unit("w1", "Staged"), unit("w2", "UpToDate", true, 1000) }, free_slots, { unix = 1100 })
  expect_equal(answer.start, {})
  expect_equal(answer.look_again, 500)
end)

test("then the rest goes", function()
  local answer = policy.rollout.plan({ unit("w1", "Staged"), unit("w2", "UpToDate", true, 1000) }, free_slots, { unix = 1600 })
  expect_equal(answer.start, { "w1" })
end)

test("who reports a failure stays, and who comes too late waits for a slot", function()
  local failed = unit("w1", "Staged")
  failed.degraded = true
  local answer = policy.rollout.plan({ failed, unit("w2", "Staged"), unit("w3", "Staged") },
    { free = 1, capacity = 2, occupied = 1 }, { unix = 5000 })
  expect_equal(answer.start, { "w2" })
  expect_equal(answer.holds.w1.code, "Degraded")
  expect_equal(answer.holds.w3.reason, "waits for a free slot (1 of 2 taken)")
end)

test("without canaries nobody waits for one", function()
  expect_equal(policy.rollout.plan({ unit("w1", "Staged") }, free_slots, { unix = 5000 }).start, { "w1" })
end)
