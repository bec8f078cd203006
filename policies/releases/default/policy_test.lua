-- Run by the host before a changed pack takes over, and by `windlass policy test`.
local policy = require("policy")
local template = require("template")
local image = require("image")

local function release(name, components, more)
  local r = { name = name, file = "r.yaml", folder = "", stored_as = "", archived = false, state = "active", date = "",
    components = {}, apps = {}, hash = "", problems = {} }
  for component, version in pairs(components) do
    r.components[#r.components + 1] = { name = component, version = version, catalog = "", component_version = "",
      reference = "", depends_on = {} }
  end
  for key, value in pairs(more or {}) do r[key] = value end
  return r
end

local function pool(more)
  local p = { name = "", kind = "", architecture = "", channel = "", suffix = "", image = "", running = "" }
  for key, value in pairs(more or {}) do p[key] = value end
  return p
end

local function map(r, pools, more)
  local q = { release = r, pools = pools or {}, values = {}, tools = {} }
  for key, value in pairs(more or {}) do q[key] = value end
  return policy.release.map(q)
end

local function ids(answer)
  local all = {}
  for i, f in ipairs(answer.findings) do all[i] = f.id end
  return table.concat(all, " ")
end

test("the current pattern has OS, Kubernetes and tooling", function()
  local answer = map(release("azure-29.0.0", { ["cluster-azure"] = "1.0.0", flatcar = "3815.2.5", kubernetes = "1.29.7",
    ["os-tooling"] = "1.15.0" }))
  expect_equal(answer.images[1].image, "flatcar-stable-3815.2.5-kube-1.29.7-tooling-1.15.0-gs")
  expect_equal(answer.images[1].rule, "T1")
  expect_equal(answer.images[1].image_version, "3815.2.5")
  expect_equal(ids(answer), "")
end)

test("a name that nothing was built for is never made up", function()
  local answer = map(release("aws-29.0.0", { ["cluster-aws"] = "1.3.3", flatcar = "3815.2.5", kubernetes = "1.29.7" }))
  expect_equal(answer.images, {})
  expect_equal(ids(answer), "component.missing")
end)

test("templates say where they cannot be read", function()
  expect_error(function() template.parse("a-{b", "x") end, "x: character 3: expected {name}")
  expect_error(function() template.parse("a-[b", "x") end, "x: a [ without its ]")
  expect_error(function() template.parse("a-[b[c]]", "x") end, "x: character 5: a [ inside of [ ]")
  expect_error(function() template.parse("a]", "x") end, "x: character 2: a ] that nothing opened")
  expect_error(function() template.parse("{a:minor}", "x") end, "the only thing behind a colon is major")
end)

test("what is put together is taken apart again", function()
  local parts = template.parse("a-{x}-[{y}-|n-]gs[-{z}]", "x")
  local values = { { x = "1.2.3" }, { x = "1.2.3-rc.1", y = "4.5.6" }, { x = "1.0.0", z = "s-gs" },
    { x = "1.0.0-gs1", y = "2.0.0", z = "gs-gs" } }
  for _, v in ipairs(values) do
    local text = template.render(parts, function(name) return v[name] end)
    local fits = function(p, piece) return p.segment == "z" or semver.parse(piece) ~= nil end
    expect_equal(template.read(parts, text, fits), v, text)
  end
end)

test("a machine that runs something else is named with the part that differs", function()
  local r = release("aws-34.5.0", { ["cluster-aws"] = "7.7.3", flatcar = "4593.2.4", kubernetes = "1.34.10",
    ["os-tooling"] = "1.33.1" })
  local answer = map(r, { pool({ running = "flatcar-stable-4593.2.4-kube-1.34.7-tooling-1.33.1-gs" }) })
  expect_equal(ids(answer), "image.drift")
  expect_equal(answer.findings[1].from, "1.34.7")
  expect_equal(answer.findings[1].to, "1.34.10")
  expect_equal(ids(map(r, { pool({ running = answer.images[1].image }) })), "")
end)

test("a provider is known by its whole name", function()
  expect_equal({ image.identify(release("cloud-director-34.5.0", {})) }, { "cloud-director", "34.5.0" })
  expect_equal(image.identify(release("other-34.5.0", {})), nil)
  expect_equal({ image.identify(release("v14.1.0", {}, { folder = "azure" })) }, { "azure", "14.1.0" })
end)

test("a list of tools has one hash whatever its order", function()
  local hash, text = image.hash({ { name = "containerd", version = "v1.7.0" }, { name = "cni", version = "1.4.0" } })
  expect_equal(text, "cni=1.4.0\ncontainerd=1.7.0\n")
  expect_equal(hash, "h" .. sha256(text):sub(1, 10))
  expect_equal(image.hash({ { name = "cni", version = "1.4.0" }, { name = "containerd", version = "1.7.0" } }), hash)
  expect_true(image.hash({ { name = "cni", version = "1.4.1" }, { name = "containerd", version = "1.7.0" } }) ~= hash)
  expect_equal({ image.hash({}) }, { nil, "the list of tools is empty" })
  expect_equal(select(2, image.hash({ { name = "cni", version = "1" }, { name = "cni", version = "2" } })), "cni is there twice")
end)
