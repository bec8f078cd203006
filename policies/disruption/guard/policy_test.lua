local policy = require("policy")

local function admit(peers, allowed, more)
  local fleet = { pool_labels = { ["windlass.dev/guard"] = allowed or "0" } }
  for key, value in pairs(more or {}) do fleet[key] = value end
  return policy.disruption.admit({ name = "w1" }, peers, fleet, {})
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

test("a node condition that the pool names stops it", function()
  local peers = { { name = "w2", conditions = { "DiskPressure", "CephDown" } } }
  expect_equal(admit(peers).admit, true)
  expect_equal(admit(peers, "0", { pool_annotations = { ["windlass.dev/guard-conditions"] = "KernelDeadlock, CephDown" } }),
    { admit = false, code = "NodeCondition", reason = "w2 has the condition CephDown" })
end)

local web = "apps/v1/deployments/shop/web"

test("a Deployment below its replicas stops it, and is looked at again soon", function()
  local function with(available, wanted)
    return admit({}, "0", { guards = { { path = web, exists = true, counts = true, available = available, wanted = wanted } } })
  end
  expect_equal(with(3, 3), { admit = true })
  expect_equal(with(2, 3), { admit = false, code = "BelowReplicas", look_again = 30,
    reason = "apps/v1/deployments/shop/web has 2 of 3 replicas" })
end)

test("an alerting object stops it while it is there", function()
  local path = "example.com/v1/alerts/ceph"
  expect_equal(admit({}, "0", { guards = { { path = path } } }), { admit = true })
  expect_equal(admit({}, "0", { guards = { { path = path, exists = true } } }).reason, path .. " exists")
end)

test("what cannot be read stops it rather than being taken for well", function()
  expect_equal(admit({}, "0", { guards = { { path = web, problem = "403" } } }).reason, web .. " cannot be read: 403")
end)
