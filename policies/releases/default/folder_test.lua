-- What is said of a whole folder of Releases, and what goes out of it: pins, joint majors, charts under another name.
local policy = require("policy")
local tables = require("tables")

local function release(name, components, more)
  local r = { name = name, file = name .. ".yaml", folder = "capa", stored_as = "v" .. name:match("%d.*"), archived = false,
    state = "active", components = {}, apps = {}, hash = name, problems = {} }
  for component, version in pairs(components or {}) do
    r.components[#r.components + 1] = { name = component, version = version, catalog = "", reference = "", depends_on = {} }
  end
  for key, value in pairs(more or {}) do r[key] = value end
  return r
end

local function found(answer)
  local all = {}
  for i, f in ipairs(answer.findings) do all[i] = f.id .. " " .. (f.rule or f.subject) end
  return all
end

local function blocks(...)
  local list = {}
  for i, range in ipairs({ ... }) do list[i] = { range = range, requests = {} } end
  return { file = "capa/requests.yaml", blocks = list, problems = {} }
end

test("what nobody knows of a folder is said once", function()
  local answer = policy.release.folder({ folder = "capa", releases = { release("aws-34.0.0") } })
  expect_equal(found(answer), { "check.not-evaluated release.unregistered", "check.not-evaluated app.kube-version",
    "check.not-evaluated request.violated" })
end)

test("what is listed is there", function()
  local answer = policy.release.folder({ folder = "capa", app_ranges = {}, requests = blocks(), releases = { release("aws-34.0.0"),
    release("aws-33.0.0", {}, { archived = true }) },
    registered = { "v34.0.0", "archived/v33.0.0/release.yaml", "v35.0.0.yaml", "crds.yaml" } })
  expect_equal(found(answer), { "release.unregistered release/capa/v35.0.0" })
end)

test("a rule is dead when nothing that is offered or still comes is in its range", function()
  local answer = policy.release.folder({ folder = "capa", app_ranges = {}, registered = {}, releases = { release("aws-33.1.0"),
    release("aws-34.0.0-e2e.h1"), release("aws-31.0.0", {}, { archived = true }) },
    requests = blocks("< 33.1.0", ">= 31.0.0 < 32.0.0", ">= 32.0.0", ">= 36.0.0", ">= 33.2.0 < 33.3.0", "~1") })
  expect_equal(#answer.findings, 2)
  expect_equal(answer.findings[2].why, "'>= 31.0.0 < 32.0.0' is below 33.1.0, the lowest Release that is offered")
end)

local function pin(more)
  local q = { release = "v34.2.1", name = "cilium", version = "1.4.2", up_to = "",
    folders = { { folder = "capa", file = "capa/requests.yaml", has = true, blocks = {
      { range = "34.2.1", requests = { { name = "coredns", version = ">= 1.0.0" } } },
      { range = ">=34.2.0, < v35.1.0", requests = { { name = "cilium", version = "1.4.2" } } },
    } }, { folder = "eks", file = "eks/requests.yaml", has = false, blocks = {} } } }
  for key, value in pairs(more or {}) do q[key] = value end
  local answer = policy.release.pin(q)
  local edits = {}
  for i, row in ipairs(answer.pins) do edits[i] = row.edit .. " " .. row.range .. " " .. row.block end
  return edits, found(answer)
end

test("a pin is for one Release, or until one that is named", function()
  expect_equal({ pin() }, { { "extended 34.2.1 1", "none 34.2.1 0" }, { "pin.partly app/cilium" } })
  expect_equal(pin({ up_to = "v35.1.0" }), { "same >= 34.2.0 < 35.1.0 2", "none >= 34.2.0 < 35.1.0 0" })
  expect_equal(pin({ up_to = "v36.0.0" })[1], "new >= 34.2.0 < 36.0.0 1")
end)

test("a pin that would hold nothing is refused", function()
  expect_equal({ pin({ up_to = "34.2.1" }) }, { {}, { "pin.bad-until release/v34.2.1" } })
  expect_equal({ pin({ up_to = "soon" }) }, { {}, { "pin.bad-until release/v34.2.1" } })
  expect_equal({ pin({ release = "next" }) }, { {}, { "bump.version release/next" } })
  expect_equal({ pin({ version = "~1" }) }, { {}, { "request.syntax app/cilium" } })
  expect_equal(select(2, pin({ folders = { { folder = "eks", file = "f", has = false, blocks = {} } } })), { "pin.unknown-item app/cilium" })
end)

test("a pin against what somebody else asks for is a conflict", function()
  expect_equal(select(2, pin({ version = "1.5.0", up_to = "35.1.0" })), { "request.conflict >=34.2.0, < v35.1.0", "pin.partly app/cilium" })
end)

local function join(kind, target, ...)
  local providers = {}
  for i, p in ipairs({ ... }) do providers[i] = { name = p[1], versions = { unpack(p, 2) } } end
  local answer = policy.release.join({ kind = kind, target = target, providers = providers })
  local rows = {}
  for i, row in ipairs(answer.rows) do rows[i] = row.provider .. (row.joins and " joins: " or " not: ") .. row.why end
  return answer.target, rows, found(answer)
end

test("providers go on together when they are at one place", function()
  expect_equal({ join("major", "", { "aws", "34.1.0", "33.9.9" }, { "azure", "34.0.0" }, { "eks", "31.0.0" }) },
    { "35.0", { "aws joins: it is one major behind", "azure joins: it is one major behind", "eks not: it goes its own way" }, {} })
  expect_equal({ join("minor", "", { "aws", "34.1.0" }, { "azure", "34.1.3", "34.2.0-rc1" }) },
    { "34.2", { "aws joins: it is at 34.1", "azure joins: it is at 34.1" }, {} })
  expect_equal({ join("minor", "", { "aws", "34.1.0" }, { "azure", "34.0.0" }) }, { "", {}, { "join.apart exempt" } })
  expect_equal({ join("major", "", { "eks", "34.1.0" }) }, { "", {}, { "join.apart exempt" } })
end)

test("who is too far behind is told what comes first", function()
  expect_equal(select(2, join("minor", "34.3", { "aws", "34.1.0" }, { "azure", "33.9.0" }, { "vsphere", "32.0.0" }, { "aks" },
    { "proxmox", "35.0.0" }, { "cloud-director", "34.2.0" })), { "aws not: needs 34.2.0 first", "azure not: needs 34.0.0 first",
    "vsphere not: needs 33.0.0 first", "aks not: it has no Release", "proxmox joins: it is at 35.0",
    "cloud-director joins: it is at 34.2" })
  expect_equal({ join("major", "soon", { "aws", "34.1.0" }) }, { "", {}, { "bump.version release/soon" } })
end)

test("a chart is published under the version of its Release", function()
  local function publish(r, commit)
    local answer = policy.release.publish({ release = r, commit = commit or "" })
    return answer.retag, found(answer)
  end
  local r = release("aws-34.0.0", { ["cluster-aws"] = "7.2.5" })
  expect_equal(publish(r), { { from = "cluster-aws:7.2.5", to = "release-aws:34.0.0", value = "global.release.version", text = "34.0.0" } })
  expect_equal(publish(r, "25383e1")[1].to, "release-aws:34.0.0-25383e1")
  expect_equal(publish(r, "25383e1")[1].text, "34.0.0")
  expect_equal({ publish(r, "main") }, { {}, { "bump.version release/aws-34.0.0" } })
  expect_equal({ publish(release("aws-34.0.0")) }, { {}, { "component.missing published" } })
  expect_equal({ publish(release("other-34.0.0")) }, { {}, { "provider.unknown release/other-34.0.0" } })
end)

test("every finding has its weight and every weight its finding", function()
  for id, severity in pairs(tables.severities) do
    expect_true(({ error = 1, warn = 1, info = 1, approval = 1 })[severity], id)
  end
end)
