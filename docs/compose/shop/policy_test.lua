local policy = require("policy")
local template = 'replicas: "{replicas}"\nimage: "{image}"\n'

local function shop(children)
  return policy.compose.sync({ name = "blue", spec = { image = "i:1", replicas = 2 } }, {}, children or {},
    { text = { ["deployment.yaml"] = template } })
end

test("values stay what they are", function()
  expect_equal(shop().children[3].object.spec, { replicas = 2, image = "i:1" })
end)

test("it is ready when its Deployment has rolled out", function()
  expect_equal(shop().conditions[1].status, "False")
  expect_equal(shop({ ["Deployment/blue-shop"] = { ready = true } }).conditions[1].status, "True")
end)
