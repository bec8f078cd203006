local policy = require("policy")
local dependencies = require("dependencies")
local order = require("order")

local function plan(clusters)
  dependencies.prod = { "dev", "stage" }
  local units = { { name = "w1", state = "Staged" }, { name = "w2", state = "Staged" }, { name = "w3", state = "Staged", degraded = true },
    { name = "w4", state = "Staged", slotted = true } }
  local answer = policy.rollout.plan(units, { cluster = "prod", clusters = clusters, free = 1, capacity = 1, startable = "Staged" }, {})
  dependencies.prod = nil
  return answer
end
local function cluster(name, updated) return { name = name, nodes = 3, updated = updated } end

test("a cluster waits for each that it names", function()
  local answer = plan({ cluster("dev", 3), cluster("stage", 2) })
  expect_equal(answer.start, {})
  expect_equal(answer.holds.w1, { code = "Dependency", reason = "waits for stage (2 of 3 are up to date)" })
  expect_equal(answer.look_again, 30)
end)

test("then it goes by name", function()
  local answer = plan({ cluster("dev", 3), cluster("stage", 3) })
  expect_equal(answer.start, { "w1" })
  expect_equal(answer.holds.w2.code, "WaitsForSlot")
  expect_equal(answer.holds.w3.code, "Degraded")
end)

test("a node that is not Ready waits until every Ready one has moved", function()
  local function plan_of(second)
    return policy.rollout.plan({ { name = "w1", state = "Staged", ready = false }, second },
      { cluster = "dev", free = 1, capacity = 1, occupied = 0, startable = "Staged" }, {})
  end
  local answer = plan_of({ name = "w2", state = "Staged", ready = true })
  expect_equal(answer.start, { "w2" })
  expect_equal(answer.holds.w1.code, "NotReady")
  expect_equal(plan_of({ name = "w2", state = "UpToDate", ready = true }).start, { "w1" })
end)

test("a cluster that nobody has is waited for", function()
  expect_equal(plan({ cluster("dev", 3) }).holds.w1.reason, "waits for stage, which has no pool of this name")
end)

test("who names nobody goes at once", function()
  local answer = policy.rollout.plan({ { name = "w1", state = "Staged" } }, { cluster = "dev", free = 1, startable = "Staged" }, {})
  expect_equal(answer, { start = { "w1" }, holds = {} })
end)

test("circles are found", function()
  expect_equal(order.circle({ a = { "b" }, b = { "c" }, c = { "a" } }), "a -> b -> c -> a")
  expect_equal(order.circle({ a = { "b", "c" }, b = { "c" }, c = {} }), nil)
end)
