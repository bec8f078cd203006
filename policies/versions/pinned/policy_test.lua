local policy = require("policy")
local pins = require("pins")

local catalogue = { { version = "1.0.0" }, { version = "1.1.0" } }
local function resolve(unit) return policy.versions.resolve(unit, catalogue, {}) end

test("a unit gets what its object asks for", function()
  expect_equal(resolve({ wanted = "1.1.0", running = "1.0.0" }), { version = "1.1.0", reason = "what its object asks for" })
end)

test("who runs it already is told so", function()
  expect_equal(resolve({ wanted = "1.1.0", running = "1.1.0" }).reason, "it runs it already; what its object asks for")
end)

test("a version that is nowhere is not made up", function()
  local answer = resolve({ wanted = "9.9.9" })
  expect_equal(answer.version, nil)
  expect_equal(answer.reason, "9.9.9 (what its object asks for) is not in the catalogue")
end)

test("without a name nothing changes", function()
  expect_equal(resolve({}), { reason = "nothing names a version for it" })
end)

test("the first pin that fits wins over the object", function()
  pins[1] = { cluster = "elsewhere", version = "1.1.0" }
  pins[2] = { cluster = "c1", name = "workers", version = "1.0.0" }
  pins[3] = { cluster = "c1", version = "1.1.0" }
  local answer = resolve({ cluster = "c1", name = "workers", wanted = "1.1.0" })
  pins[1], pins[2], pins[3] = nil, nil, nil
  expect_equal(answer, { version = "1.0.0", reason = "pinned by pins.lua" })
end)
