-- What a step changes, what is found on it, and whether it may go out. One file although it is long: all of it is about the same few Releases.
local checks = require("checks")
local findings = require("findings")
local image = require("image")
local policy = require("policy")
local tables = require("tables")
local template = require("template")
local versions = require("versions")

local usual = { ["cluster-aws"] = "7.7.3", flatcar = "4593.2.2", kubernetes = "1.34.7", ["os-tooling"] = "1.31.0" }

local function list_of(entries)
  local list = {}
  for name, about in pairs(entries) do
    local entry = { name = name, version = about, catalog = "", component_version = "", reference = "", depends_on = {} }
    if type(about) == "table" then
      for key, value in pairs(about) do entry[key] = value end
    end
    list[#list + 1] = entry
  end
  return list
end

local function release(name, components, apps, more)
  local all = {}
  for key, value in pairs(usual) do all[key] = value end
  for key, value in pairs(components or {}) do all[key] = value or nil end
  local r = { name = name, file = name .. ".yaml", folder = "", stored_as = "", archived = false, state = "active", date = "",
    components = list_of(all), apps = list_of(apps or {}), hash = name, problems = {} }
  for key, value in pairs(more or {}) do r[key] = value end
  return r
end

local function question(base, new, more)
  local q = { base = base, release = new, pools = {}, values = {}, others = {}, registered = {}, app_ranges = {}, within = "",
    requests = { file = "requests.yaml", blocks = {}, problems = {} } }
  for key, value in pairs(more or {}) do q[key] = value or nil end
  return q
end

local function diff(base, new, more) return policy.release.diff(question(base, new, more)) end

local function ids(answer)
  local all = {}
  for i, f in ipairs(answer.findings) do all[i] = f.id end
  table.sort(all)
  return table.concat(all, " ")
end

local function find(answer, id)
  for _, f in ipairs(answer.findings) do
    if f.id == id then return f end
  end
end

local function changes(answer)
  local all = {}
  for i, c in ipairs(answer.changes) do
    all[i] = c.kind .. " " .. c.name .. " " .. c.what .. " " .. c.from .. ">" .. c.to .. (c.level and " " .. c.level or "")
  end
  return all
end

local base = release("aws-34.1.0")

test("a step is told item by item", function()
  local before = release("aws-34.1.0", { etcd = "3.5.1", wandering = "1.0.0" }, { cilium = "1.4.2", gone = "1.0.0",
    tied = { version = "1.0.0", catalog = "default", depends_on = { "b", "a" } } })
  local after = release("aws-34.2.0", { flatcar = "4593.2.4", etcd = { version = "3.5.1", reference = "x" } }, { cilium = "1.4.3",
    new = "1.0.0", wandering = "1.0.1", tied = { version = "1.0.0", catalog = "other", depends_on = { "a", "c" } } })
  expect_equal(changes(diff(before, after)), {
    "component etcd reference >x", "component flatcar changed 4593.2.2>4593.2.4 patch", "app cilium changed 1.4.2>1.4.3 patch",
    "app gone removed 1.0.0>", "app new added >1.0.0", "app tied catalog default>other", "app tied depends a,b>a,c",
    "app wandering moved 1.0.0>1.0.1" })
  expect_equal(diff(before, after).rolls, "yes")
  expect_equal(diff(before, after).level, "minor")
  expect_equal(find(diff(before, after), "component.removed"), nil)
  expect_true(find(diff(after, release("aws-34.3.0", { etcd = false })), "component.removed"))
end)

test("a chart may replace machines and tooling does", function()
  expect_equal(ids(diff(base, release("aws-34.2.0", { ["cluster-aws"] = "7.8.0" }))), "nodes.may-roll")
  expect_equal(diff(base, release("aws-34.2.0", { ["cluster-aws"] = "7.8.0" })).rolls, "chart")
  expect_equal(ids(diff(base, release("aws-34.2.0", { ["os-tooling"] = "1.32.0" }))), "nodes.roll")
  expect_equal(ids(diff(base, release("aws-34.1.1", { ["os-tooling"] = "1.32.0" }))), "level.too-high nodes.roll nodes.roll-in-patch")
  expect_equal(diff(base, release("aws-34.1.1", {}, { a = "1.0.0" })).rolls, "no")
  expect_equal(ids(diff(base, release("aws-34.2.0", { ["os-tooling"] = "1.30.0" }))), "component.downgrade nodes.roll")
  expect_equal(diff(release("eks-34.1.0"), release("eks-34.2.0", { flatcar = "4593.2.4" })).findings[1].id, "component.missing")
end)

test("a major of a binary inside is seen where it is known what is inside", function()
  tables.binaries["1.31.0"] = { containerd = "1.7.0", teleport = "17.4.8", old = "1.0.0", same = "1.0.0" }
  tables.binaries["1.32.0"] = { containerd = "2.0.0", teleport = "17.4.1", new = "1.0.0", same = "1.0.0" }
  local answer = diff(base, release("aws-34.2.0", { ["os-tooling"] = "1.32.0" }))
  expect_equal(changes(answer), { "component os-tooling changed 1.31.0>1.32.0 minor", "binary containerd changed 1.7.0>2.0.0 major",
    "binary new added >1.0.0", "binary old removed 1.0.0>", "binary teleport changed 17.4.8>17.4.1 patch" })
  expect_equal(ids(answer), "binary.downgrade level.too-high nodes.roll")
  expect_equal(find(answer, "level.too-high").subject, "binary/containerd")
  expect_equal(find(answer, "level.too-high").evidence, "aws-34.2.0.yaml: spec.components[os-tooling].version")
  tables.binaries["1.31.0"] = nil
  expect_equal(ids(diff(base, release("aws-34.2.0", { ["os-tooling"] = "1.32.0" }))), "nodes.roll")
end)

test("a component that nothing else is known of is a binary of the node", function()
  local function step(name, from, to)
    return ids(diff(release("aws-34.1.0", { [name] = from }), release("aws-34.2.0", { [name] = to })))
  end
  expect_equal(step("teleport", "17.4.8", "18.0.0"), "level.too-high")
  local answer = diff(release("aws-34.1.0", { teleport = "17.4.8" }), release("aws-34.2.0", { teleport = "18.0.0" }))
  expect_equal({ find(answer, "level.too-high").severity, find(answer, "level.too-high").subject }, { "error", "component/teleport" })
  expect_equal(step("teleport", "17.4.8", "17.5.0"), "")
  -- What is no part of the image is not: a chart, and what tables.lua lists.
  answer = diff(release("aws-34.1.0", { etcd = "3.5.1" }), release("aws-34.2.0", { etcd = "4.0.0" }))
  expect_equal(find(answer, "level.too-high").severity, "warn")
end)

test("a binary whose version has no three numbers was not compared", function()
  tables.binaries["1.31.0"], tables.binaries["1.32.0"] = { teleport = "17.4.8" }, { teleport = "18" }
  local answer = diff(base, release("aws-34.2.0", { ["os-tooling"] = "1.32.0" }))
  tables.binaries["1.31.0"], tables.binaries["1.32.0"] = nil, nil
  local told = false
  for _, f in ipairs(answer.findings) do told = told or (f.rule == "level.too-high" and f.why:find("teleport 18 is a new major of 17.4.8", 1, true) ~= nil) end
  expect_true(told)
end)

test("a new minor of Kubernetes wants new cloud controllers", function()
  local old = release("aws-33.1.0", { kubernetes = "1.33.1" }, { ["cloud-provider-aws"] = "2.0.0", other = "1.0.0" })
  local function step(version, kubernetes)
    return diff(old, release("aws-34.0.0", { kubernetes = kubernetes or "1.34.1" }, { ["cloud-provider-aws"] = version, other = "1.0.0" }))
  end
  expect_equal(find(step("2.0.0"), "app.kube-version").subject, "app/cloud-provider-aws")
  expect_equal(find(step("2.1.0"), "app.kube-version"), nil)
  expect_equal(find(step("2.0.0", "1.33.4"), "app.kube-version"), nil)
end)

test("a range that an app gives is held against Kubernetes", function()
  local function with(range)
    local f = find(diff(base, release("aws-34.2.0", {}, { cilium = "1.4.2" }), { app_ranges = { cilium = range } }), "app.kube-version")
    return f and f.why
  end
  expect_equal(with(">= 1.30.0"), nil)
  expect_equal(with("< 1.34.0"), "cilium 1.4.2 works with Kubernetes < 1.34.0, not with 1.34.7")
  expect_true(with("~1"):find("cannot be read", 1, true))
end)

test("what is not known is said, once a folder", function()
  local q = { others = false, registered = false, app_ranges = false, requests = false }
  local r = release("aws-34.2.0", {}, {}, { folder = "capa", stored_as = "v34.2.0" })
  expect_equal(ids(diff(nil, r, q)), ("check.not-evaluated "):rep(5) .. "check.not-evaluated")
  q.within = "folder"
  expect_equal(ids(diff(nil, r, q)), ("check.not-evaluated "):rep(2) .. "check.not-evaluated")
end)

test("a Release lies where its name says and is listed there", function()
  local function place(more, registered)
    more.file = "r.yaml"
    return ids(diff(base, release("aws-34.2.0", {}, {}, more), { registered = registered or {} }))
  end
  expect_equal(place({ folder = "capa", stored_as = "v34.2.0" }, { "v34.2.0/release.yaml" }), "")
  expect_equal(place({ folder = "capa", stored_as = "v34.2.0" }, { "v34.2.1" }), "release.unregistered")
  expect_equal(place({ folder = "capa", stored_as = "v34.2.0", archived = true }), "")
  expect_equal(place({ folder = "azure", stored_as = "v34.2.1" }, { "v34.2.1.yaml" }), "release.name-mismatch release.name-mismatch")
end)

test("names that nobody knows are asked about", function()
  expect_equal(find(diff(nil, release("aws-34.2.0", { ["os-toling"] = "1.0.0" })), "component.unknown").to, "os-tooling")
  expect_equal(find(diff(nil, release("aws-34.2.0", { ["kubernets"] = "1.0.0" })), "component.unknown").severity, "error")
  expect_equal(find(diff(nil, release("aws-34.2.0", { unheard = "1.0.0" })), "component.unknown").severity, "warn")
  expect_equal(find(diff(release("aws-34.1.0", { unheard = "1.0.0" }), release("aws-34.2.0", { unheard = "1.0.0" })), "component.unknown"), nil)
  expect_equal(find(diff(nil, release("v14.1.0", { ["azure-operator"] = "1.0.0" }, {}, { folder = "azure" })), "component.unknown").from,
    "cluster-aws")
end)

test("an active Release consists of what was released", function()
  expect_equal(ids(diff(base, release("aws-34.1.1", {}, { a = "1.0.0-25383e1a" }))), "prerelease.in-stable")
  expect_equal(ids(diff(base, release("aws-34.1.1", {}, { a = "1.0.0-25383e1a" }, { state = "wip" }))), "")
  expect_equal(ids(diff(base, release("aws-34.1.1", {}, { a = "1.0.0-rc1" }))), "")
  expect_equal(find(diff(base, release("aws-34.1.1-e2e.1")), "release.test-active").blocking, "approval")
end)

test("Kubernetes goes with the major, one minor at a time", function()
  expect_equal(ids(diff(nil, release("aws-34.2.0", { kubernetes = "1.35.1" }))), "check.not-evaluated k8s.minor-mismatch")
  expect_equal(find(diff(release("aws-32.1.0", { kubernetes = "1.32.1" }), release("aws-34.0.0")), "k8s.minor-skip").from, "1.32.1")
  expect_equal(find(diff(release("aws-34.1.0", { kubernetes = "nightly" }), release("aws-34.2.0", { kubernetes = false })), "k8s.minor-skip"), nil)
end)

test("apps that wait for nobody or for each other", function()
  local function on(...) return { version = "1.0.0", depends_on = { ... } } end
  local answer = diff(base, release("aws-34.1.1", {}, { a = on("b"), b = on("c"), c = on("a", "kyverno"), d = on("nobody", "a") }))
  expect_equal(ids(answer), "depends.cycle depends.unknown")
  expect_equal(find(answer, "depends.cycle").why, "apps wait for each other: a -> b -> c -> a")
end)

test("the others of a provider tell of doubles and of steps back", function()
  local later = release("aws-35.1.0", { kubernetes = "1.35.1", flatcar = "4459.2.1" }, { cilium = "1.0.0" })
  local lowest = release("aws-35.0.0", { kubernetes = "1.35.1", flatcar = "4593.2.1" }, { cilium = "1.4.1" })
  local r = release("aws-34.2.0", {}, { cilium = "1.4.2" })
  local answer = diff(nil, r, { others = { r, later, lowest, release("aws-35.0.0-rc1"), release("aws-36.0.0"),
    release("aws-34.9.0", {}, {}, { hash = r.hash }) } })
  expect_equal(ids(answer), "check.not-evaluated path.downgrade path.downgrade release.duplicate-content")
  expect_equal(find(answer, "path.downgrade").rule, "aws-35.0.0")
end)

test("what moves without what it is tied to is worth a look", function()
  local function step(teleport, tooling, present)
    return ids(diff(release("aws-34.1.0", {}, { ["teleport-kube-agent"] = "1.0.0" }), release("aws-34.2.0", { ["os-tooling"] = tooling },
      present == false and {} or { ["teleport-kube-agent"] = teleport })))
  end
  expect_equal(step("1.0.1", "1.31.0"), "tied.skew")
  expect_equal(step("1.0.0", "1.32.0"), "nodes.roll tied.skew")
  expect_equal(step("1.0.1", "1.32.0"), "nodes.roll")
  expect_equal(step("", "1.32.0", false), "nodes.roll")
end)

local function asked(r, blocks)
  return policy.release.diff(question(base, r, { requests = { file = "r.yaml", blocks = blocks, problems = {} } }))
end
local function block(range, ...) return { range = range, requests = { ... } } end
local function want(name, version, ...) return { name = name, version = version, except = { ... } } end

test("requests hold for the Releases that they speak of", function()
  local r = release("aws-34.1.1", {}, { cilium = "1.4.2" })
  local answer = asked(r, { block(">= 34.0.0", want("cilium", ">= 1.4.0"), want("cilium", "> 1.5.0"), want("other", "> 1.0.0")),
    block("< 34.0.0", want("cilium", "> 9.0.0")) })
  expect_equal(ids(answer), "request.missing request.violated")
  local results = {}
  for i, row in ipairs(answer.requests) do results[i] = row.item .. " " .. row.result end
  expect_equal(results, { "cilium satisfied", "cilium violated", "other missing" })
  r.state = "wip"
  expect_equal(find(asked(r, { block(">= 34.0.0", want("other", "> 1.0.0")) }), "request.missing").severity, "info")
end)

test("an exception is for one Release and has a reason", function()
  local function except(version, reason)
    return ids(asked(release("aws-34.1.1"), { block(">= 34.0.0", want("other", "> 1.0.0", { release = version, reason = reason })) }))
  end
  expect_equal(except("v34.1.1", "agreed"), "")
  expect_equal(except("34.1.2", "agreed"), "request.missing")
  expect_equal(except("34.1.1", ""), "request.no-reason")
end)

test("ranges that cannot be read are named", function()
  local answer = asked(release("aws-34.1.1"), { block("~34", want("a", "> 1.0.0")), block(">= 34.0.0", want("a", ">= 1.0")) })
  expect_equal(ids(answer), "request.syntax request.syntax")
  expect_true(find(answer, "request.syntax").why:find("'~34', character 1", 1, true))
end)

test("a rule below all that is offered is dead", function()
  local q = question(nil, base, { others = { base }, requests = { file = "r.yaml", problems = {}, blocks = { block("< 30.0.0") } } })
  expect_true(find(policy.release.diff(q), "request.dead"))
  q.within = "folder"
  expect_equal(find(policy.release.diff(q), "request.dead"), nil)
  q.within, q.others = "", {}
  expect_equal(find(policy.release.diff(q), "request.dead"), nil)
end)

test("a Release of another provider is no base", function()
  expect_equal(find(diff(release("azure-34.1.0"), release("aws-34.2.0")), "release.schema").from, "azure-34.1.0")
  local none = policy.release.diff(question(nil, release("strange-1.0.0")))
  expect_equal({ none.level, none.rolls, ids(none) }, { "none", "no", "provider.unknown" })
  expect_equal(find(diff(nil, release("aws-34.2.0", {}, {}, { problems = { { id = "release.schema", subject = "x", from = "", to = "",
    why = "odd", evidence = "e" } } })), "release.schema").why, "odd")
end)

local function gate(more, new, before)
  local q = { step = question(before or base, new or release("aws-34.2.0", {}, {}, { folder = "capa" }), { catalogue = {
    "flatcar-stable-4593.2.2-kube-1.34.7-tooling-1.31.0-gs" } }), stage = { is = "", to = "", action = "", actor = "" } }
  for key, value in pairs(more or {}) do q[key] = value end
  local answer, all = policy.release.gate(q), {}
  for _, f in ipairs(answer.findings) do
    if f.id ~= "release.name-mismatch" and f.id ~= "release.unregistered" then all[#all + 1] = f.id .. " " .. f.subject end
  end
  return all
end

local function suites(result, hash)
  local list = {}
  for i, suite in ipairs(tables.suites.capa) do list[i] = { suite = suite, hash = hash or "aws-34.2.0", result = result } end
  return list
end

test("a Release goes out when its suites passed for its content", function()
  expect_equal(gate({ suites = suites("passed") }), {})
  expect_equal(#gate(), 6)
  expect_equal(#gate({ suites = suites("passed", "other") }), 6)
  expect_equal(#gate({ suites = suites("failed") }), 6)
  local twice = suites("passed")
  twice[7] = { suite = "upgrade", hash = "aws-34.2.0", result = "failed" }
  expect_equal(gate({ suites = twice }), { "coverage.rerun-failed suite/upgrade" })
end)

test("a major waits for what must be ready, and all wait for images", function()
  local new = release("aws-35.0.0", { kubernetes = "1.35.1" }, {}, { folder = "capa", hash = "aws-34.2.0" })
  local function major(readiness)
    local all = {}
    for _, text in ipairs(gate({ suites = suites("passed"), readiness = readiness }, new)) do
      if not text:match("^nodes") then all[#all + 1] = text end
    end
    return all
  end
  expect_equal(major(nil), { "image.not-built image/aws", "check.not-evaluated release/aws-35.0.0" })
  expect_equal(major({ { item = "aws", closed = false }, { item = "x", closed = true } }),
    { "image.not-built image/aws", "readiness.open release/aws-35.0.0" })
  expect_equal(major({}), major(nil))
  -- Of a provider without suites nothing is asked; of one that the table does not know that is said.
  local function unlooked(name)
    local r = release(name .. "-34.2.0", { ["cluster-aws"] = false, ["cluster-" .. name] = "1.0.0" }, {}, { folder = name })
    for _, f in ipairs(policy.release.gate({ step = question(nil, r, { catalogue = {} }), stage = { is = "", to = "", action = "",
      actor = "" } }).findings) do
      if f.id == "check.not-evaluated" and f.rule == "coverage.missing" then return f.why end
    end
  end
  expect_equal(unlooked("gcp"), "coverage.missing: tables.lua says of no suite that it is asked of gcp")
  expect_equal(unlooked("proxmox"), nil)
  local q = { step = question(base, release("aws-34.2.0")), suites = {}, stage = { is = "", to = "", action = "", actor = "" } }
  expect_equal(find(policy.release.gate(q), "check.not-evaluated").rule, "image.not-built")
end)

test("a draft is judged as what it becomes", function()
  local function ids_of(state, to)
    local new = release("aws-34.2.0", { ["os-tooling"] = "1.31.1-25383e1" }, { cilium = "1.4.2" }, { folder = "capa", state = state })
    local requests = { file = "r.yaml", problems = {}, blocks = { { range = ">= 34.0.0", requests = { { name = "cilium", version = ">= 2.0.0",
      issue = "", except = {} } } } } }
    local answer = policy.release.gate({ step = question(base, new, { catalogue = {}, requests = requests }), suites = suites("passed"),
      stage = { is = "development", to = to, action = "", actor = "" } })
    local errors = {}
    for _, f in ipairs(answer.findings) do
      if f.severity == "error" and not f.id:match("^release%.") then errors[#errors + 1] = f.id end
    end
    table.sort(errors)
    return table.concat(errors, " ")
  end
  local all = "image.not-built prerelease.in-stable request.violated"
  for _, state in ipairs({ "active", "wip", "preview", "deprecated" }) do expect_equal(ids_of(state, "active"), all, state) end
  expect_equal(ids_of("wip", ""), all)
  expect_equal(ids_of("wip", "freeze"), all .. " stage.denied")
  expect_equal(ids_of("wip", "no-stage"), all .. " stage.denied")
  expect_equal(ids_of("wip", "development"), "stage.denied")
end)

test("a result of a suite that is not asked for is told with the one that may be meant", function()
  local more = suites("passed")
  more[7] = { suite = "upgrad", hash = "aws-34.2.0", result = "passed" }
  more[8] = { suite = "of another content", hash = "x", result = "passed" }
  expect_equal(gate({ suites = more }), { "suite.unknown suite/upgrad" })
end)

test("a finding without a weight is a mistake of the tables", function()
  local _, add = findings.new()
  expect_error(function() add("nobody.knows", "x", "y") end, "tables.lua: severities: there is none for nobody.knows")
end)

test("versions that are none have no order", function()
  expect_equal(versions.level("a", "1.0.0"), "unknown")
  expect_equal(versions.level("1.0.0-a", "1.0.0-b"), "prerelease")
  expect_equal(versions.level("1.0.0", "1.0.0"), "none")
  expect_equal(versions.level("1.0.0", "2.0.0"), "major")
  expect_equal(versions.level("0.1.0", "0.2.0"), "major") -- below 1.0.0 the second number breaks
  expect_equal(versions.level("0.1.0", "0.1.1"), "patch")
  expect_equal(versions.strict("a", "1.0.0"), nil)
  expect_equal({ versions.direction("x", "a", "1.0.0") }, { "unknown", "unknown" })
  expect_equal({ versions.direction("x", "1.27.3-gs9", "1.27.3-gs10") }, { "up", "down" })
  expect_equal({ versions.direction("etcd", "3.5.1", "3.5.1-2") }, { "up", "down" })
  expect_equal({ versions.direction("x", "1.0.0-gsx", "1.0.0-gs1") }, { "down", "down" })
end)

local function map(r, pool, more)
  local p = { name = "", kind = "", architecture = "", channel = "", suffix = "", image = "", running = "" }
  for key, value in pairs(pool or {}) do p[key] = value end
  local q = { release = r, pools = { p }, values = {}, tools = {} }
  for key, value in pairs(more or {}) do q[key] = value end
  local answer = policy.release.map(q)
  return answer.images[1] and (answer.images[1].image or answer.images[1].rule), ids(answer), answer
end

-- The name and what was found.
local function named(...)
  local name, found = map(...)
  return { name, found }
end

test("names where no dot may stand", function()
  local name, found, answer = map(release("gcp-34.1.0", { ["cluster-gcp"] = "1.0.0" }))
  expect_equal({ name, found }, { "flatcar-stable-4593-2-2-kube-1-34-7-tooling-1-31-0-gs", "" })
  expect_equal(select(2, map(release("gcp-34.1.0", { ["cluster-gcp"] = "1.0.0" }), { running = name })), "")
  expect_equal(select(2, map(release("gcp-34.1.0", { ["cluster-gcp"] = "1.0.0" }), { running = (name:gsub("34%-7", "34-6")) })), "image.drift")
  expect_equal(answer.images[1].limit, 63)
  expect_equal(select(2, map(release("gcp-34.1.0", { ["cluster-gcp"] = "1.0.0", kubernetes = "1.34.7-rc.1" }))), "image.bad-char")
  expect_equal(select(2, map(release("gcp-34.1.0", { ["cluster-gcp"] = "1.0.0", kubernetes = "1.34.7-RC1" }))), "image.bad-char")
end)

test("a name that is copied fits its copies", function()
  local providers = require("providers")
  providers.vsphere.copies = { "label" }
  local _, found, answer = map(release("vsphere-34.1.0", { ["cluster-vsphere"] = "1.0.0" }, {}), { suffix = "ten-letter" })
  expect_equal(found, "image.too-long")
  expect_equal(answer.findings[1].why, "the name has 64 characters, the limit of label is 63: 1 too many")
  providers.vsphere.copies = { "dns-label" }
  expect_equal(select(2, map(release("vsphere-34.1.0", { ["cluster-vsphere"] = "1.0.0" }))), "image.bad-char")
  providers.vsphere.copies = nil
  expect_equal(select(2, map(release("vsphere-34.1.0", { ["cluster-vsphere"] = "1.0.0" }))), "")
end)

test("what a provider does not take is said of the name", function()
  local _, found = map(release("vsphere-34.1.0", { ["cluster-vsphere"] = "1.0.0" }), { suffix = ("s"):rep(40) })
  expect_equal(found, "image.too-long")
  expect_equal(select(2, map(release("vsphere-34.1.0", { ["cluster-vsphere"] = "1.0.0" }), { suffix = "a%b" })), "image.bad-char")
  expect_equal(select(2, map(release("vsphere-34.1.0", { ["cluster-vsphere"] = "1.0.0" }), { suffix = "-b" })), "image.bad-char")
  expect_equal(select(2, map(release("aws-34.1.0"), { channel = "daily" })), "channel.mismatch")
  expect_equal(select(2, map(release("aws-34.1.0", { ["cluster-aws"] = "8.5.0" }), { architecture = "riscv64" })), "pool.architecture")
  expect_equal(select(2, map(release("aws-34.1.0", { flatcar = "4593.1.0" }))), "channel.mismatch")
end)

test("rules without names", function()
  local tags = policy.release.map({ release = release("proxmox-34.1.0", { ["cluster-proxmox"] = "1.0.0" }), pools = {}, values = {}, tools = {} })
  expect_equal(tags.images[1].tags, { "release-channel_stable", "flatcar_4593.2.2", "kubernetes_1.34.7", "os-tooling_1.31.0" })
  expect_equal(policy.release.diff(question(release("proxmox-34.1.0", { ["cluster-proxmox"] = "1.0.0" }), release("proxmox-34.2.0",
    { ["cluster-proxmox"] = "1.0.0", flatcar = "4593.2.4" }))).rolls, "yes")
  expect_equal(select(2, map(release("proxmox-34.1.0", { ["cluster-proxmox"] = "1.0.0", flatcar = false }))), "component.missing")
  expect_equal(named(release("eks-34.1.0", { ["cluster-eks"] = "1.0.0" })), { "N0", "" })
  expect_equal(named(release("vsphere-28.0.0", { ["cluster-vsphere"] = "0.65.0", flatcar = "3815.2.5" })),
    { "flatcar-stable-3815.2.2-kube-v1.27.14-gs", "image.drift image.drift" })
  expect_equal(select(2, map(release("vsphere-28.0.0", { ["cluster-vsphere"] = "0.64.9" }))), "image.rule-none")
  expect_equal(select(2, map(release("cloud-director-28.0.0", { ["cluster-cloud-director"] = "0.62.9" }))), "image.rule-none")
  expect_equal(select(2, map(release("azure-24.0.0", { ["cluster-azure"] = "0.16.0" }))), "component.missing")
end)

test("the values of a chart where no Release is", function()
  local old = release("aws-24.0.0", { ["cluster-aws"] = "0.65.0" })
  expect_equal(named(old, {}, { values = { kubernetesVersion = "1.24.16", osImageVariant = "2" } }), { "capa-ami-flatcar-stable-v1.24.16-2-gs", "" })
  expect_equal(select(2, map(old)), "component.missing")
end)

test("a variant beside the tooling is one too many", function()
  local variant = { ["flatcar-variant"] = "2.0.0" }
  expect_equal(select(2, map(release("aws-34.1.0", variant))), "variant.conflict")
  variant["os-tooling"] = false
  expect_equal(select(2, map(release("aws-34.1.0", variant))), "component.missing variant.obsolete")
  variant["cluster-azure"] = "0.17.0"
  expect_equal(select(2, map(release("azure-28.0.0", variant))), "variant.ignored")
  variant["cluster-aws"] = "1.3.2"
  expect_equal(map(release("aws-28.0.0", variant)), "flatcar-stable-4593.2.2-kube-v1.34.7-alpha.2")
end)

test("what charts render tells whether another chart replaces machines", function()
  local function rendered(version, ...)
    local objects = {}
    for i, text in ipairs({ ... }) do
      local kind, name, digest = text:match("^(%S+) (%S+) (%S+)$")
      objects[i] = { kind = kind, name = name, digest = digest }
    end
    return { file = "cluster-aws-" .. version .. ".yaml", objects = objects }
  end
  local function asked(from, to)
    local answer = policy.release.diff(question(release("aws-34.1.0", { ["cluster-aws"] = "7.7.3" }),
      release("aws-34.1.1", { ["cluster-aws"] = "7.7.4" }), { rendered_from = from, rendered_to = to }))
    return answer.rolls, find(answer, "nodes.may-roll") ~= nil, find(answer, "nodes.roll") and find(answer, "nodes.roll").why
  end
  expect_equal({ asked() }, { "chart", true })
  local was = rendered("7.7.3", "AWSMachineTemplate a-1 x", "Deployment d 1", "KubeadmControlPlane c y")
  expect_equal({ asked(was, rendered("7.7.4", "KubeadmControlPlane c y", "AWSMachineTemplate a-1 x", "Deployment d 2")) }, { "no", false })
  expect_equal({ asked(was, rendered("7.7.4", "KubeadmControlPlane c z", "AWSMachineTemplate a-2 x")) }, { "yes", false,
    "machines are replaced: cluster-aws-7.7.3.yaml and cluster-aws-7.7.4.yaml differ in AWSMachineTemplate/a-1, AWSMachineTemplate/a-2, "
    .. "KubeadmControlPlane/c" })
  expect_equal({ asked(was) }, { "chart", true })
end)

test("a pool's own image, and what was built", function()
  expect_equal(named(base, { image = "ami-1" }), { "ami-1", "image.override" })
  expect_equal(select(2, map(base, {}, { catalogue = {} })), "image.not-built")
  expect_equal(select(2, map(base, { running = "something" })), "image.drift")
  expect_equal(select(2, map(release("aws-34.1.0", { ["cluster-aws"] = "main" }))), "component.missing")
  expect_equal(select(2, map(release("aws-34.1.0", { kubernetes = "nightly" }))), "component.missing")
  expect_equal(select(2, image.identify(release("v14.0.0"))), "its name says no provider, and '' is no provider's folder; known are "
    .. "aks, aws, azure, cloud-director, eks, gcp, proxmox, vsphere")
  expect_equal(select(2, image.identify(release("aws-34"))), "'aws-34' has no version of three numbers")
end)

test("a karpenter pool has what its chart fixes", function()
  local function of(chart, more)
    local pool = { kind = "karpenter" }
    for key, value in pairs(more or {}) do pool[key] = value end
    return named(release("aws-34.1.0", { ["cluster-aws"] = chart }), pool)
  end
  local usual_name = "flatcar-stable-4593.2.2-kube-1.34.7-tooling-1.31.0-"
  expect_equal(of("8.6.0"), { usual_name .. "gs", "" })
  expect_equal(of("8.6.0", { architecture = "x86_64" }), { usual_name .. "gs", "" })
  expect_equal(of("8.9.0", { architecture = "arm64" }), { usual_name .. "arm64-gs", "" })
  -- Such a machine boots no image that is made for another one.
  expect_equal(of("8.6.0", { architecture = "arm64" })[2], "pool.architecture")
  expect_equal(of("8.6.0", { channel = "beta" })[2], "channel.mismatch")
end)

test("a hash is over the components that are baked in and what is inside of them", function()
  local function text_of(components, inside)
    tables.binaries["1.31.0"] = inside
    local r = release("eks-34.1.0", components, {})
    local hashed = select(2, image.hash((image.baked("eks", nil, nil, image.components(r), "cluster-eks"))))
    tables.binaries["1.31.0"] = nil
    return hashed
  end
  local usual_text = "flatcar=4593.2.2\nkubernetes=1.34.7\nos-tooling=1.31.0\n"
  expect_equal(text_of({ ["cluster-aws"] = false, ["cluster-eks"] = "1.0.0", etcd = "3.5.1" }), usual_text)
  expect_equal(text_of({ ["cluster-aws"] = false }, { teleport = "17.0.0", agent = { aws = "1.0.0" } }), usual_text .. "teleport=17.0.0\n")
  expect_true(text_of({ ["cluster-aws"] = false, containerd = "2.0.0" }):find("^containerd=2.0.0\n"))
  expect_equal(image.inside("aws", "9.9.9"), nil)
end)

test("no two lists of tools get one hash", function()
  local digits = tables.hash_digits
  tables.hash_digits = 1
  local text, hash, other
  for i = 1, 100 do
    local its, lines = image.hash({ { name = "a", version = tostring(i) } })
    if i == 1 then hash, text = its, lines elseif its == hash then other = lines:match("=(%d+)") end
  end
  local known = { { image = "x", tools = { { name = "a", version = "1" } } }, { image = "y", tools = { { name = "a", version = other } } } }
  expect_equal(image.collision(hash, text, known), "y")
  expect_equal(image.collision(hash, text, { known[1] }), nil)
  tables.hash_digits = digits
  expect_equal(select(2, image.hash({ { name = "a b", version = "1" } })), "'a b' is no name of a tool")
  expect_equal(select(2, image.hash({ { name = "a", version = "" } })), "'' is no version of a")
end)

test("templates without text are no templates", function()
  expect_error(function() template.parse("", "x") end, "x: expected a name with {parts}")
  expect_equal(template.read(template.parse("a-{x}", "x"), "b-1", function() return true end), nil)
  expect_equal(checks.level_row("other", "nobody", "aws-34.1.0"), nil)
end)
