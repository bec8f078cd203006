local policy = require("policy")
local waves = require("waves")

local now = { unix = 1795428000 }
local function cluster(name, wave, updated, degraded, updated_at)
  return { name = name, labels = { ["windlass.dev/wave"] = wave }, nodes = 3, updated = updated, degraded = degraded or 0,
    updated_at = updated_at or 0 }
end
local function plan(wave, clusters, more)
  local fleet = { api = "bootc", cluster = "here", cluster_labels = { ["windlass.dev/wave"] = wave }, clusters = clusters, free = 1, capacity = 1,
    startable = "Staged" }
  for key, value in pairs(more or {}) do fleet[key] = value end
  local units = { { name = "w1", state = "Staged" }, { name = "w2", state = "Staged" }, { name = "w3", state = "Staged", degraded = true },
    { name = "w4", state = "UpToDate" }, { name = "w5", state = "Staged", slotted = true } }
  return policy.rollout.plan(units, fleet, now)
end
local long_ago = now.unix - 7200

test("the first wave begins at once, by name", function()
  local answer = plan("canary", { cluster("other", "main", 0) })
  expect_equal(answer.start, { "w1" })
  expect_equal(answer.holds.w2.code, "WaitsForSlot")
  expect_equal(answer.holds.w3.code, "Degraded")
  expect_equal(answer.holds.w5, nil)
end)

test("a node that is not Ready waits until every Ready one has moved", function()
  local function plan_of(second)
    return policy.rollout.plan({ { name = "w1", state = "Staged", ready = false }, second },
      { api = "bootc", cluster = "here", cluster_labels = { ["windlass.dev/wave"] = "canary" }, clusters = {}, free = 1, capacity = 1, occupied = 0,
        startable = "Staged" }, now)
  end
  local answer = plan_of({ name = "w2", state = "Staged", ready = true })
  expect_equal(answer.start, { "w2" })
  expect_equal(answer.holds.w1.code, "NotReady")
  expect_equal(plan_of({ name = "w2", state = "UpToDate", ready = true }).start, { "w1" })
end)

test("a later wave waits for every cluster of the earlier ones", function()
  local answer = plan("early", { cluster("a", "canary", 3, 0, long_ago), cluster("b", "canary", 1), cluster("here", "early", 0) })
  expect_equal(answer.start, {})
  expect_equal(answer.holds.w1, { code = "EarlierWave", reason = "waits for b of an earlier wave (1 of 3 are up to date)" })
  expect_equal(answer.look_again, 30)
end)

test("a finished wave is watched before the next begins", function()
  local answer = plan("early", { cluster("a", "canary", 3, 0, now.unix - 600) })
  expect_equal(answer.holds.w1.code, "WaveSoak")
  expect_equal(answer.look_again, 3000)
  expect_equal(plan("early", { cluster("a", "canary", 3, 0, long_ago) }).start, { "w1" })
end)

test("failures in an earlier wave stop the later ones", function()
  local answer = plan("main", { cluster("a", "canary", 3, 1, long_ago) })
  expect_equal(answer.holds.w1, { code = "WaveFailed", reason = "the waves before report 1 failures, 0 are allowed" })
  waves.failures = 1
  local borne = plan("main", { cluster("a", "canary", 3, 1, long_ago) })
  waves.failures = 0
  expect_equal(borne.start, { "w1" })
end)

test("a wave that is up to date with another image has proved nothing", function()
  local done, here = cluster("a", "canary", 3, 0, long_ago), cluster("here", "main", 0)
  done.target, here.target = "sha256:old", "sha256:new"
  expect_equal(plan("main", { done, here }).holds.w1,
    { code = "EarlierWave", reason = "waits for a of an earlier wave, which is not to run the same image yet" })
  done.target = "sha256:new"
  expect_equal(plan("main", { done, here }).start, { "w1" })
end)

test("who has no wave goes last", function()
  expect_equal(plan(nil, { cluster("a", "main", 0) }).holds.w1.code, "EarlierWave")
  expect_equal(plan("main", { cluster("a", nil, 0) }).start, { "w1" })
end)

-- Tenants: the same, by what flags say.

local function tenants(wave, clusters, told)
  local fleet = { api = "tenants", pool = "cert-manager", cluster = "here", cluster_labels = { ["mesh.openkcm.io/wave"] = wave },
    clusters = clusters, free = 2, capacity = 2, startable = "Staged",
    parameters = { max_failures = "0", soak_seconds = "0", wave_label = "mesh.openkcm.io/wave" } }
  for key, value in pairs(told or {}) do fleet.parameters[key] = value end
  return policy.rollout.plan({ { name = "default/a", state = "Staged" }, { name = "default/b", state = "Staged" } }, fleet, now)
end
local function has(name, wave, nodes, settled, failed, at)
  return { name = name, labels = { ["mesh.openkcm.io/wave"] = wave }, nodes = nodes, updated = settled, degraded = failed or 0, updated_at = at or 0 }
end

test("tenants: without labels all clusters move at once", function()
  expect_equal(tenants(nil, { has("other", nil, 3, 0) }).start, { "default/a", "default/b" })
end)

test("tenants: no label is wave 0, and a later wave waits for it", function()
  local answer = tenants("1", { has("other", nil, 3, 2) })
  expect_equal(answer.holds["default/a"], { code = "EarlierWave", reason = "waits for other of an earlier wave (2 of 3 are settled)" })
  expect_equal(tenants("1", { has("other", nil, 3, 3) }).start, { "default/a", "default/b" })
  expect_equal(tenants("2", { has("other", "10", 3, 0) }).start, { "default/a", "default/b" })
end)

test("tenants: failures are allowed as a number or as a share", function()
  local ten = { has("a", "0", 6, 6, 1), has("b", nil, 4, 4) }
  expect_equal(tenants("1", ten).holds["default/b"].reason, "the waves before report 1 failures, 0 are allowed")
  expect_equal(tenants("1", ten, { max_failures = "1" }).start, { "default/a", "default/b" })
  expect_equal(tenants("1", ten, { max_failures = "10%" }).start, { "default/a", "default/b" })
  expect_equal(tenants("1", ten, { max_failures = "9%" }).holds["default/a"].code, "WaveFailed")
end)

test("tenants: a wave is watched for as long as the flag says", function()
  local answer = tenants("1", { has("a", "0", 1, 1, 0, now.unix - 100) }, { soak_seconds = "300" })
  expect_equal(answer.holds["default/a"].code, "WaveSoak")
  expect_equal(answer.look_again, 200)
  expect_equal(tenants("1", { has("a", "0", 1, 1, 0, now.unix - 301) }, { soak_seconds = "300" }).start, { "default/a", "default/b" })
end)

test("tenants: a wave that is no number holds the cluster that carries it, and no other", function()
  expect_equal(tenants("one", {}).holds["default/a"],
    { code = "WaveUnknown", reason = "the label mesh.openkcm.io/wave of the cluster is no number: one" })
  expect_equal(tenants("1", { has("a", "one", 3, 0) }).start, { "default/a", "default/b" })
end)
