local policy = require("policy")

local chart = { name = "shop", values = { replicas = 5 } }
local function asked(labels) return policy.fleet.values(chart, { name = "c1", labels = labels }, {}) end

test("images come from the region's mirror", function()
  local answer = asked({ region = "eu", env = "prod" })
  expect_equal(answer.values, { image = { registry = "registry.eu.example.com" }, ingress = { host = "shop.c1.example.com" } })
  expect_equal(answer.hold, nil)
end)

test("outside of production one replica is enough", function()
  expect_equal(asked({ region = "us", env = "dev" }).values.replicas, 1)
end)

test("without a region or a mirror the chart waits", function()
  expect_equal(asked({}).hold.code, "NoRegion")
  expect_equal(asked({ region = "jp" }).hold.reason, "the region jp has no mirror")
end)
