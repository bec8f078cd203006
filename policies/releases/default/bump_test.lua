-- What a bump proposes is what `check` lets through: versions that it would deny are passed over, and said to be.
local bump = require("bump")
local findings = require("findings")
local policy = require("policy")
local tables = require("tables")

local function list_of(versions)
  local list = {}
  for name, version in pairs(versions) do
    list[#list + 1] = { name = name, version = version, catalog = "", component_version = "", reference = "", depends_on = {} }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

local stock = { ["cluster-aws"] = "7.7.3", flatcar = "4593.2.2", kubernetes = "1.34.7", ["os-tooling"] = "1.31.0", etcd = "3.5.1" }

local function release(name, components, apps)
  return { name = name, file = name .. ".yaml", folder = "capa", stored_as = "v" .. name:match("%d.*$"), archived = false, state = "active",
    date = "", components = list_of(components), apps = list_of(apps or {}), hash = name, problems = {} }
end

local base = release("aws-34.4.1", stock, { cilium = "1.4.2", coredns = "1.30.0" })

local function question(more)
  local q = { base = base, kind = "minor", picks = {}, available = {}, stage = { is = "", to = "", action = "", actor = "" }, prefix = "",
    asked = false, others = { base } }
  for key, value in pairs(more or {}) do q[key] = value end
  for i, text in ipairs(q.picks) do
    local name, version = text:match("^([^@]*)@(.*)$")
    q.picks[i] = { name = name, version = version, catalog = "", depends_on = {} }
  end
  return q
end

-- What moves, why, and the ids of errors and warnings beside those of what was not given.
local function next_release(more)
  local answer = policy.release.bump(question(more))
  local moved, why, ids = {}, {}, {}
  for _, item in ipairs(answer.items) do moved[item.name], why[item.name] = item.to, item.why end
  for _, f in ipairs(answer.findings) do
    if f.severity ~= "info" and f.id ~= "check.not-evaluated" and f.id ~= "tied.skew" then ids[#ids + 1] = f.id .. " " .. f.subject end
  end
  table.sort(ids)
  return moved, table.concat(ids, ", "), why, answer
end

-- What moves of one item.
local function moves(name, versions, more)
  local q = { available = { [name] = versions } }
  for key, value in pairs(more or {}) do q[key] = value end
  local moved, ids, why = next_release(q)
  return { moved[name] or "stays", ids, why[name] }
end

test("an alpha is no version of the stable channel", function()
  expect_equal(moves("flatcar", { "4600.0.0", "4600.1.0" })[1], "stays")
  expect_equal(moves("flatcar", { "4600.0.0", "4593.2.4" }), { "4593.2.4", "", "held back: 4600.0.0 is of another channel" })
  expect_equal(moves("flatcar", { "4593.2.4", "4593.0.0" })[3], "newest")
end)

test("a v in front is read and never written", function()
  expect_equal(moves("kubernetes", { "v1.34.12" }), { "1.34.12", "", "newest" })
  expect_equal(moves("kubernetes", { "v1.34.7" })[1], "stays")
  expect_equal(moves("kubernetes", { "vv1.34.12", "1.34", "latest" })[1], "stays")
  expect_equal((next_release({ picks = { "kubernetes@v1.34.12" } })), { kubernetes = "1.34.12" })
  expect_equal(select(2, next_release({ picks = { "kubernetes@vv1.34.12" } })), "bump.version component/kubernetes")
end)

test("build metadata moves nothing by itself, in whatever order it is listed", function()
  expect_equal(moves("coredns", { "1.30.0+b.1", "1.30.0+b.2" })[1], "stays")
  for _, list in ipairs({ { "1.31.0+b.1", "1.31.0", "1.31.0+b.2" }, { "1.31.0+b.2", "1.31.0+b.1", "1.31.0" } }) do
    expect_equal(moves("coredns", list)[1], "1.31.0")
  end
  expect_equal(moves("coredns", { "1.31.0+b.2", "1.31.0+b.1" })[1], "1.31.0+b.1")
end)

test("a revision is not left for what may be older", function()
  local revised = release("aws-34.4.1", stock, { cilium = "1.4.2-2", coredns = "1.30.0-gs9" })
  expect_equal(moves("cilium", { "1.4.2" }, { base = revised })[1], "stays")
  expect_equal(moves("cilium", { "1.4.2", "1.4.3" }, { base = revised })[1], "1.4.3")
  expect_equal(moves("coredns", { "1.30.0", "1.30.0-gs10" }, { base = revised })[1], "1.30.0-gs10")
  expect_equal(moves("etcd", { "3.5.1-2", "3.5.1-10" })[1], "3.5.1-10")
end)

test("a version that check denies is passed over for the next best one", function()
  local requests = { file = "requests.yaml", problems = {}, blocks = {
    { range = ">= 34.0.0", requests = { { name = "cilium", version = ">= 1.4.0", issue = "", except = {} } } },
    { range = ">= 34.5.0", requests = { { name = "cilium", version = "< 1.6.0", issue = "", except = {} } } } } }
  expect_equal(moves("cilium", { "1.7.0", "1.6.0", "1.5.0" }, { requests = requests }),
    { "1.5.0", "", "held back: 1.7.0: request.violated" })
end)

test("a major of a binary waits for a major, by the tooling that brings it", function()
  tables.binaries["1.31.0"] = { teleport = "17.4.8" }
  tables.binaries["1.32.0"] = { teleport = "18.0.0" }
  tables.binaries["1.31.1"] = { teleport = "17.5.0" }
  expect_equal(moves("os-tooling", { "1.32.0", "1.31.1" }), { "1.31.1", "", "held back: 1.32.0: level.too-high" })
  expect_equal(select(2, next_release({ picks = { "os-tooling@1.32.0" } })), "level.too-high binary/teleport")
  tables.binaries["1.31.0"], tables.binaries["1.32.0"], tables.binaries["1.31.1"] = nil, nil, nil
end)

-- Of before os-tooling: what the first chart that reads it needs.
local old = { name = "azure-26.0.0", file = "azure-26.0.0.yaml", folder = "azure", stored_as = "v26.0.0", archived = false, state = "active", date = "",
  components = list_of({ ["cluster-azure"] = "0.18.0", flatcar = "3815.2.4", ["flatcar-variant"] = "1.0.0", kubernetes = "1.26.15" }),
  apps = {}, hash = "x", problems = {} }

test("a component that the next chart reads comes with it, and what it replaces goes", function()
  local available = { ["cluster-azure"] = { "1.0.0" }, ["os-tooling"] = { "1.14.0", "v1.15.0" }, kubernetes = { "1.27.16" } }
  local _, ids, why, answer = next_release({ base = old, kind = "major", available = available, others = {} })
  expect_true(not ids:find("component.missing", 1, true) and not ids:find("variant.conflict", 1, true), ids)
  local told = {}
  for _, item in ipairs(answer.items) do told[#told + 1] = item.name .. " " .. item.from .. ">" .. item.to end
  expect_equal(told, { "cluster-azure 0.18.0>1.0.0", "flatcar-variant 1.0.0>", "kubernetes 1.26.15>1.27.16", "os-tooling >1.15.0" })
  expect_equal(why["os-tooling"], "the image of cluster-azure 1.0.0 needs it")
  -- Without a version of it the chart waits, and the next best one is taken.
  available["os-tooling"], available["cluster-azure"] = nil, { "1.0.0", "0.18.1" }
  local moved, held = next_release({ base = old, kind = "major", available = available, others = {} })
  expect_equal({ moved["cluster-azure"], held }, { "0.18.1", "bump.held-back component/cluster-azure" })
end)

test("build metadata that no name may have is passed over", function()
  expect_equal(moves("kubernetes", { "1.34.9+b.1", "1.34.8" }), { "1.34.8", "",
    "held back: the name of an image cannot have the build metadata of 1.34.9+b.1" })
  expect_equal(moves("cilium", { "1.4.3+b.1" })[1], "1.4.3+b.1")
end)

test("what is picked and there already is told", function()
  local _, _, _, answer = next_release({ picks = { "kubernetes@v1.34.7" } })
  expect_equal({ #answer.items, answer.findings[1].id, answer.findings[1].subject }, { 0, "bump.nothing", "component/kubernetes" })
end)

test("a component that a name may have, and need not, is not added", function()
  local variant = { name = "aws-25.0.0", file = "x", folder = "capa", stored_as = "v25.0.0", archived = false, state = "active", date = "",
    components = list_of({ ["cluster-aws"] = "1.0.0", flatcar = "3815.2.4", kubernetes = "1.25.15" }), apps = {}, hash = "x", problems = {} }
  local moved = next_release({ base = variant, others = {}, available = { ["flatcar-variant"] = { "1.0.0" }, kubernetes = { "1.25.16" } } })
  expect_equal(moved, { kubernetes = "1.25.16" })
end)

test("what is picked is held to the same rules", function()
  local function picked(...) return (select(2, next_release({ kind = "patch", picks = { ... } }))) end
  expect_equal(picked("os-tooling@1.32.0"), "level.too-high component/os-tooling, nodes.roll-in-patch release/aws-34.4.2")
  expect_equal(picked("flatcar@4600.0.0"), "channel.mismatch component/flatcar, nodes.roll-in-patch release/aws-34.4.2")
  expect_equal(picked("flatcar@4593.2.1"), "component.downgrade component/flatcar, nodes.roll-in-patch release/aws-34.4.2")
  expect_equal(picked("cilium@1.4.3"), "")
  expect_equal(picked("cilium@1.4.3-25383e1"), "prerelease.in-stable app/cilium")
  expect_equal(picked("strange@1.0.0"), "pin.unknown-item app/strange")
  local unbuilt = { next_release({ picks = { "flatcar@4593.2.4" }, catalogue = {} }) }
  expect_equal(unbuilt[2], "image.not-built image/aws")
  for _, f in ipairs(unbuilt[4].findings) do
    if f.id == "image.not-built" then expect_equal(f.severity, "error") end
  end
end)

test("what was not looked at is said", function()
  local function unlooked(more)
    for _, f in ipairs(select(4, next_release(more)).findings) do
      if f.id == "check.not-evaluated" then return f.rule end
    end
  end
  expect_equal(unlooked(), "image.not-built")
  expect_equal(unlooked({ catalogue = {} }), nil)
  -- Without a name nothing can be built, and that is an error rather than silence.
  local nameless = release("aws-34.4.1", { ["cluster-aws"] = "7.7.3", flatcar = "4593.2.2", kubernetes = "1.34.7" })
  expect_true(select(2, next_release({ base = nameless, catalogue = {} })):find("component.missing component/os-tooling", 1, true))
end)

test("a test Release takes the component that its chart needs", function()
  local version, moved = nil, {}
  local q = question({ base = old, kind = "test", picks = { "cluster-azure@1.0.0", "os-tooling@1.15.0" }, others = {} })
  local _, add = findings.new()
  local items
  version, items = bump.plan(q, add)
  for _, item in ipairs(items) do moved[item.name] = item.from .. ">" .. item.to end
  expect_equal(moved, { ["cluster-azure"] = "0.18.0>1.0.0", ["os-tooling"] = ">1.15.0" })
  expect_equal(version, "27.0.0")
end)

test("a test Release has a name that a Release may have", function()
  local function ids_of(prefix)
    return select(2, next_release({ kind = "test", picks = { "cilium@1.4.4" }, asked = true, prefix = prefix }))
  end
  for _, prefix in ipairs({ "", "e2e", "A.1" }) do expect_equal(ids_of(prefix), "", prefix) end
  for _, prefix in ipairs({ "a-b", "a b", "a+b" }) do expect_true(ids_of(prefix):find("bump.version release/aws-34.4.1", 1, true), prefix) end
end)

test("a name in the list of versions that is nearly one of the Release is told", function()
  local _, ids = next_release({ available = { cilum = { "1.5.0" }, ["of-another-provider"] = { "1.0.0" } } })
  expect_equal(ids, "bump.unknown-item app/cilum")
end)

test("a version that is taken is told", function()
  local there, archived = release("aws-34.5.0", stock), release("aws-34.4.2", stock)
  archived.archived = true
  local more = { others = { base, there, archived, release("azure-34.5.0", stock) } }
  local function told(of)
    local _, ids = next_release(of)
    return ids
  end
  expect_equal(told(more), "bump.taken release/aws-34.5.0")
  more.kind, more.picks = "patch", { "cilium@1.4.4" }
  local _, ids, _, answer = next_release(more)
  expect_equal(ids, "bump.taken release/aws-34.4.2")
  for _, f in ipairs(answer.findings) do
    if f.id == "bump.taken" then expect_equal(f.why, "it is there already, archived: begin with the newest Release, or take it out") end
  end
  expect_equal(told({ others = { base, there }, kind = "major" }):find("bump.taken", 1, true), nil)
end)
