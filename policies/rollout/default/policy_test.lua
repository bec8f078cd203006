-- Run by the host before a changed pack takes over, and by `windlass policy test`. Plain tables stand for units.
local policy = require("policy")

local monday = { text = "2026-11-23T10:00:00Z", unix = 1795428000, weekday = "Monday", hour = 10, minute = 0 }

local function unit(name, state, more)
  local u = { name = name, state = state, zone = "", labels = {}, annotations = {}, slotted = false, degraded = false,
    ready = true, control_plane = false, since = 0, image = "", target = "", pool = "workers", cluster = "c1" }
  for key, value in pairs(more or {}) do u[key] = value end
  return u
end

local function fleet(more)
  local f = { pool = "workers", cluster = "c1", capacity = 1, free = 1, occupied = 0, node_count = 3, updated = 0,
    degraded = 0, halted = false, paused = false, in_slots = {}, clusters = {}, cluster_labels = {}, pool_labels = {} }
  for key, value in pairs(more or {}) do f[key] = value end
  return f
end

local function plan(units, f) return policy.rollout.plan(units, f, monday) end

test("staged units start by name, as many as are free", function()
  local answer = plan({ unit("w1", "Staged"), unit("w2", "Staged"), unit("w3", "Staged") }, fleet({ capacity = 2, free = 2 }))
  expect_equal(answer.start, { "w1", "w2" })
  expect_equal(answer.holds.w3.code, "WaitsForSlot")
end)

test("only staged units start", function()
  local answer = plan({ unit("w1", "Staging"), unit("w2", "Pending"), unit("w3", "UpToDate") }, fleet())
  expect_equal(answer.start, {})
  expect_equal(answer.holds, {})
end)

test("a unit that holds a slot is not started again", function()
  local answer = plan({ unit("w1", "Staged", { slotted = true }), unit("w2", "Staged") }, fleet())
  expect_equal(answer.start, { "w2" })
end)

test("the hold names who has the slot", function()
  local answer = plan({ unit("w1", "Rebooting", { slotted = true }), unit("w2", "Staged") },
    fleet({ free = 0, occupied = 1, in_slots = { "w1" } }))
  expect_equal(answer.start, {})
  expect_equal(answer.holds.w2.reason, "waits for a free slot (1 of 1 taken by w1)")
end)

test("a degraded unit does not start", function()
  local answer = plan({ unit("w1", "Staged", { degraded = true }), unit("w2", "Staged") }, fleet())
  expect_equal(answer.start, { "w2" })
  expect_equal(answer.holds.w1.code, "Degraded")
end)

test("a node that is not Ready waits until every Ready one has moved", function()
  local dead = unit("w1", "Staged", { ready = false })
  local answer = plan({ dead, unit("w2", "Staged"), unit("w3", "Staged") }, fleet())
  expect_equal(answer.start, { "w2" })
  expect_equal(answer.holds.w1.code, "NotReady")
  expect_equal(answer.holds.w3.code, "WaitsForSlot")
  answer = plan({ dead, unit("w2", "Staging"), unit("w3", "UpToDate") }, fleet())
  expect_equal(answer.start, {})
  expect_equal(answer.holds.w1.code, "NotReady")
  answer = plan({ dead, unit("w2", "Staged", { slotted = true }), unit("w3", "UpToDate") }, fleet({ capacity = 2, occupied = 1 }))
  expect_equal(answer.start, { "w1" })
  answer = plan({ dead, unit("w2", "Pending", { degraded = true }), unit("w3", "Pending", { ready = false }) }, fleet())
  expect_equal(answer.start, { "w1" })
end)

test("the only control-plane node that is not Ready goes before those that the core refuses meanwhile", function()
  local function node(name, ready) return unit(name, "Staged", { control_plane = true, ready = ready }) end
  expect_equal(plan({ node("c1", true), node("c2", false), node("c3", true) }, fleet()).start, { "c2" })
  expect_equal(plan({ node("c1", true), node("c2", false), unit("w1", "Staged") }, fleet()).start, { "w1" })
  expect_equal(plan({ node("c1", false), node("c2", false), unit("w1", "Staged") }, fleet()).start, { "w1" })
end)

test("a paused pool says so", function()
  local answer = plan({ unit("w1", "Staged") }, fleet({ paused = true, free = 0, capacity = 0 }))
  expect_equal(answer.holds.w1.code, "Paused")
end)

test("a halted pool says so", function()
  local answer = plan({ unit("w1", "Staged") }, fleet({ halted = true, free = 0 }))
  expect_equal(answer.holds.w1.code, "RolloutHalted")
end)

test("maxUnavailable 0 is named as the cause", function()
  local answer = plan({ unit("w1", "Staged") }, fleet({ capacity = 0, free = 0 }))
  expect_equal(answer.holds.w1.code, "NoCapacity")
end)
