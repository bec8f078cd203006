-- Steps from one Release to the next, what is asked of them, and whether one may become active.
local policy = require("policy")
local findings = require("findings")
local image = require("image")
local versions = require("versions")

local function entries(versions_by_name, more)
  local list = {}
  for name, version in pairs(versions_by_name) do
    local entry = { name = name, version = version, catalog = "", component_version = "", reference = "", depends_on = {} }
    for key, value in pairs(more and more[name] or {}) do entry[key] = value end
    list[#list + 1] = entry
  end
  return list
end

local function release(name, components, apps, more)
  local version = name:match("%d.*$")
  local r = { name = name, file = name .. ".yaml", folder = "capa", stored_as = "v" .. version, archived = false, state = "active",
    date = "", components = entries(components, more), apps = entries(apps or {}, more), hash = "hash of " .. name, problems = {} }
  return r
end

local stock = { ["cluster-aws"] = "7.7.3", flatcar = "4593.2.2", kubernetes = "1.34.7", ["os-tooling"] = "1.31.0" }
local function with(changes)
  local all = {}
  for name, version in pairs(stock) do all[name] = version end
  for name, version in pairs(changes or {}) do all[name] = version or nil end
  return all
end

local function question(r, more)
  local q = { release = r, pools = {}, values = {}, registered = { r.stored_as .. "/release.yaml" }, app_ranges = {},
    requests = { file = "requests.yaml", blocks = {}, problems = {} } }
  q.others = { r }
  for key, value in pairs(more or {}) do q[key] = value end
  return q
end

local function ids(answer)
  local all = {}
  for _, f in ipairs(answer.findings) do all[#all + 1] = f.id end
  table.sort(all)
  return table.concat(all, " ")
end

local function has(answer, id, part)
  for _, f in ipairs(answer.findings) do
    if f.id == id and (not part or f.why:find(part, 1, true) or f.subject:find(part, 1, true)) then return true end
  end
  error("no finding " .. id .. " with '" .. (part or "") .. "' among: " .. ids(answer), 2)
end

local base = release("aws-34.4.0", stock, { cilium = "1.4.2" })
local function step(changes, apps, more, name, was)
  local r = release(name or "aws-34.5.0", with(changes), apps or { cilium = "1.4.2" })
  return policy.release.diff(question(r, (function()
    local all = { base = was or base }
    for key, value in pairs(more or {}) do all[key] = value end
    return all
  end)()))
end

test("a new OS replaces machines and says from which image to which", function()
  local answer = step({ flatcar = "4593.2.4" })
  expect_equal({ answer.level, answer.rolls }, { "minor", "yes" })
  expect_equal(answer.image_from, "flatcar-stable-4593.2.2-kube-1.34.7-tooling-1.31.0-gs")
  expect_equal(answer.image_to, "flatcar-stable-4593.2.4-kube-1.34.7-tooling-1.31.0-gs")
  has(answer, "nodes.roll")
  has(step({ flatcar = "4593.2.4" }, nil, nil, "aws-34.4.1"), "nodes.roll-in-patch")
end)

test("a chart alone may replace machines", function()
  local answer = step({ ["cluster-aws"] = "7.8.0" })
  expect_equal(answer.rolls, "chart")
  has(answer, "nodes.may-roll", "cluster-aws")
end)

test("what comes, goes and becomes an app is told once, where it is now", function()
  local was = release("aws-34.4.0", with({ etcd = "3.5.0" }), { cilium = "1.4.2", gone = "1.0.0" })
  local answer = step({ containerd = "2.0.0" }, { cilium = "1.4.2", etcd = "3.5.1" }, nil, nil, was)
  local told = {}
  for _, change in ipairs(answer.changes) do told[#told + 1] = change.what .. " " .. change.kind .. " " .. change.name end
  table.sort(told)
  expect_equal(told, { "added component containerd", "moved app etcd", "removed app gone" })
end)

test("catalogues, references and dependencies are changes as well", function()
  local was = release("aws-34.4.0", stock, { cilium = "1.4.2", coredns = "1.0.0" },
    { cilium = { catalog = "default" }, flatcar = { reference = "a" }, coredns = { depends_on = { "cilium" } } })
  local now = release("aws-34.5.0", stock, { cilium = "1.4.2", coredns = "1.0.0" },
    { cilium = { catalog = "cluster" }, flatcar = { reference = "b" }, coredns = { depends_on = {} } })
  local answer, told = policy.release.diff(question(now, { base = was })), {}
  for _, change in ipairs(answer.changes) do told[#told + 1] = change.what .. " " .. change.name end
  table.sort(told)
  expect_equal(told, { "catalog cilium", "depends coredns", "reference flatcar" })
  expect_equal(answer.rolls, "no")
end)

test("a step back, a component that vanishes and a leap of Kubernetes are found", function()
  has(step({ flatcar = "4593.2.1" }), "component.downgrade", "flatcar")
  has(step(nil, { cilium = "1.4.1" }), "app.downgrade", "cilium")
  local fewer = with()
  fewer["os-tooling"] = nil
  local r = release("aws-34.5.0", fewer, { cilium = "1.4.2" })
  has(policy.release.diff(question(r, { base = base })), "component.removed", "os-tooling")
  has(step({ kubernetes = "1.36.0" }, nil, nil, "aws-36.0.0"), "k8s.minor-skip")
  has(step({ kubernetes = "1.35.0" }), "k8s.minor-mismatch")
end)

test("a Release that is compared with another provider's is not judged further", function()
  local other = release("azure-34.4.0", { ["cluster-azure"] = "1.0.0", flatcar = "4593.2.2", kubernetes = "1.34.7",
    ["os-tooling"] = "1.31.0" })
  has(step(nil, nil, nil, nil, other), "release.schema", "aws-34.5.0")
end)

test("alone it is judged without a step", function()
  local answer = policy.release.diff(question(release("aws-34.5.0", stock)))
  expect_equal({ answer.level, answer.rolls }, { "none", "no" })
  has(answer, "check.not-evaluated")
end)

test("a Release of nobody has no step", function()
  local answer = policy.release.diff(question(release("gcp-34.5.0", stock)))
  expect_equal({ answer.level, answer.changes }, { "none", {} })
end)

test("where it is stored has to be what it is called", function()
  local r = release("aws-34.5.0", stock)
  r.stored_as = "v34.5.1"
  has(policy.release.diff(question(r, { registered = {} })), "release.name-mismatch", "aws-34.5.0")
  local elsewhere = release("aws-34.5.0", stock)
  elsewhere.folder = "azure"
  has(policy.release.diff(question(elsewhere)), "release.name-mismatch")
  has(policy.release.diff(question(release("aws-34.5.0", stock), { registered = {} })), "release.unregistered")
  local q = question(release("aws-34.5.0", stock))
  q.registered = nil
  has(policy.release.diff(q), "check.not-evaluated", "release.unregistered")
  for _, resource in ipairs({ "archived/v34.5.0.yaml", "v34.5.0", "v34.5.0/", "./v34.5.0", "./v34.5.0/release.yaml" }) do
    expect_true(not ids(policy.release.diff(question(release("aws-34.5.0", stock), { registered = { resource } }))):find("unregistered", 1, true),
      resource)
  end
end)

test("a misspelt component names the one that was meant", function()
  local answer = policy.release.diff(question(release("aws-34.5.0", with({ flatcarr = "1.0.0", zzzzzzzzz = "1.0.0" }))))
  has(answer, "component.unknown", "is it flatcar?")
  has(answer, "component.unknown", "zzzzzzzzz")
end)

test("a build of a commit is not for an active Release", function()
  local r = release("aws-34.5.0", stock, { cilium = "1.4.2-0123456789abcdef0123456789abcdef01234567" })
  has(policy.release.diff(question(r)), "prerelease.in-stable", "cilium")
  r.state = "wip"
  expect_true(not ids(policy.release.diff(question(r))):find("prerelease", 1, true))
end)

test("apps that wait for nobody's app or for each other are found", function()
  local r = release("aws-34.5.0", stock, { a = "1.0.0", b = "1.0.0", c = "1.0.0" },
    { a = { depends_on = { "b" } }, b = { depends_on = { "a" } }, c = { depends_on = { "nowhere" } } })
  local answer = policy.release.diff(question(r))
  has(answer, "depends.cycle", "a -> b -> a")
  has(answer, "depends.unknown", "nowhere")
end)

test("among its provider's others it has to be new and lead on", function()
  local r = release("aws-34.5.0", stock, { cilium = "1.5.0" })
  local twin = release("aws-34.4.9", stock, { cilium = "1.5.0" })
  twin.hash = r.hash
  local later = release("aws-35.0.0", with({ flatcar = "4459.2.0" }), { cilium = "1.4.0" })
  local answer = policy.release.diff(question(r, { others = { r, twin, later, release("aws-35.1.0", stock) } }))
  has(answer, "release.duplicate-content", "aws-34.4.9")
  has(answer, "path.downgrade", "cilium")
  has(answer, "path.downgrade", "flatcar")
  local q = question(r)
  q.others = nil
  has(policy.release.diff(q), "check.not-evaluated", "path.downgrade")
end)

test("apps say which Kubernetes they take", function()
  local r = release("aws-34.5.0", stock, { cilium = "1.4.2", coredns = "1.0.0" })
  has(policy.release.diff(question(r, { app_ranges = { cilium = "< 1.30.0" } })), "app.kube-version", "cilium 1.4.2 works with")
  has(policy.release.diff(question(r, { app_ranges = { coredns = "nonsense" } })), "app.kube-version", "cannot be read")
  local q = question(r)
  q.app_ranges = nil
  has(policy.release.diff(q), "check.not-evaluated", "app.kube-version")
end)

test("a big step of a component needs a big Release", function()
  local found = false
  for _, change in ipairs({ { cilium = "2.0.0" }, { cilium = "1.5.0" } }) do
    found = found or ids(step(nil, change, nil, "aws-34.4.1")):find("level.too-high", 1, true) ~= nil
  end
  expect_true(found)
end)

local function asked(blocks, more, name, components)
  local r = release(name or "aws-34.5.0", components or stock, { cilium = "1.4.2" })
  for key, value in pairs(more or {}) do r[key] = value end
  return policy.release.diff(question(r, { requests = { file = "requests.yaml", blocks = blocks, problems = {} } }))
end
local function rule(range, name, version, except)
  return { range = range, requests = { { name = name, version = version, except = except or {} } } }
end

test("requests are satisfied, violated, missing or excused", function()
  expect_equal(asked({ rule(">= 34.0.0", "cilium", ">= 1.4.0") }).requests[1].result, "satisfied")
  local violated = asked({ rule(">= 34.0.0", "cilium", ">= 1.5.0") })
  expect_equal(violated.requests[1].result, "violated")
  has(violated, "request.violated", "this one has 1.4.2")
  has(asked({ rule(">= 34.0.0", "coredns", ">= 1.5.0") }), "request.missing", "coredns")
  local excused = asked({ rule(">= 34.0.0", "cilium", ">= 1.5.0", { { release = "v34.5.0", reason = "" } }) })
  expect_equal(excused.requests, {})
  has(excused, "request.no-reason")
  expect_equal(asked({ rule(">= 35.0.0", "cilium", ">= 1.5.0") }).requests, {})
end)

test("requests that cannot be read or that nobody can meet are found", function()
  has(asked({ rule("=> 34", "cilium", ">= 1.4.0") }), "request.syntax", "requests.yaml")
  has(asked({ rule(">= 34.0.0", "cilium", "~~1") }), "request.syntax", "requests.yaml")
  has(asked({ rule("< 34.0.0", "cilium", ">= 1.4.0") }), "request.dead")
end)

test("without a file of requests that is said", function()
  local q = question(release("aws-34.5.0", stock))
  q.requests = nil
  has(policy.release.diff(q), "check.not-evaluated", "request.violated")
end)

test("a Release passes when its suites passed for what it consists of", function()
  local r = release("aws-34.5.0", with({ flatcar = "4593.2.4" }), { cilium = "1.4.2" })
  local stage = { is = "freeze", to = "active", action = "", actor = "" }
  local tables = require("tables")
  local required = tables.suites.capa or tables.suites.aws
  expect_true(#required > 0)
  local function gate(suites, more)
    local q = { step = question(r, { base = base }), suites = suites, stage = stage }
    for key, value in pairs(more or {}) do q[key] = value end
    return policy.release.gate(q)
  end
  has(gate({}), "coverage.missing", required[1])
  has(gate({ { suite = required[1], hash = r.hash, result = "failed" } }), "coverage.missing", "it did not pass")
  has(gate({ { suite = required[1], hash = r.hash, result = "passed" }, { suite = required[1], hash = r.hash, result = "failed" } }),
    "coverage.rerun-failed")
  local all = {}
  for i, suite in ipairs(required) do all[i] = { suite = suite, hash = r.hash, result = "passed" } end
  expect_true(not ids(gate(all)):find("coverage", 1, true))
  has(gate(all), "check.not-evaluated", "image.not-built")
end)

test("a major waits for what has to be ready", function()
  local major = release("aws-35.0.0", with({ kubernetes = "1.35.0" }), { cilium = "1.4.2" })
  local function gate(readiness)
    return policy.release.gate({ step = question(major, { base = base }), suites = {}, readiness = readiness,
      stage = { is = "active", to = "freeze", action = "", actor = "" } })
  end
  has(gate({ { item = "cloud controller", closed = false } }), "readiness.open", "aws-35.0.0")
  has(gate(nil), "check.not-evaluated", "readiness.open")
end)

test("hooks answer with their findings", function()
  local stage = { is = "", to = "", action = "", actor = "" }
  expect_equal(policy.release.bump({ base = base, kind = "minor", picks = {}, available = {}, stage = stage }).version, "34.5.0")
  expect_equal(#policy.release.path({ releases = { base }, from = "34.4.0", to = "99.0.0" }).steps, 0)
  expect_equal(policy.release.lifecycle({ releases = { base }, in_use = { base.name } }).releases[1].action, "keep")
end)

test("what a file has wrong is a finding with its place", function()
  local r = release("aws-34.5.0", stock)
  r.problems = { { id = "release.schema", subject = "release/aws-34.5.0", why = "odd", evidence = "r.yaml: spec", from = "", to = "" } }
  has(policy.release.diff(question(r)), "release.schema", "odd")
end)

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

test("a pool may name its image, its architecture, its channel", function()
  local r = release("aws-34.5.0", with({ ["cluster-aws"] = "8.6.0" }))
  has(map(r, { pool({ image = "mine" }) }), "image.override")
  has(map(r, { pool({ architecture = "riscv" }) }), "pool.architecture", "riscv")
  has(map(r, { pool({ channel = "nightly" }) }), "channel.mismatch", "nightly")
  expect_equal(map(r, { pool({ architecture = "arm64" }) }).images[1].image,
    "flatcar-stable-4593.2.2-kube-1.34.7-tooling-1.31.0-arm64-gs")
end)

test("no pool gets an image of another architecture", function()
  local function found(name, chart, architecture)
    local r = release(name, { ["cluster-" .. name:match("^(%l[%l-]*)%-%d")] = chart, flatcar = "4593.2.2", kubernetes = "1.34.7",
      ["os-tooling"] = "1.31.0" })
    return ids(map(r, { pool({ architecture = architecture }) }))
  end
  for _, row in ipairs({ { "aws-34.5.0", "8.4.9", "arm64" }, { "aws-34.5.0", "1.0.0", "arm64" }, { "azure-34.5.0", "1.0.0", "arm64" },
    { "vsphere-34.5.0", "1.0.0", "arm64" }, { "proxmox-34.5.0", "1.0.0", "arm64" }, { "azure-34.5.0", "1.0.0", "riscv" } }) do
    expect_equal(found(row[1], row[2], row[3]), "pool.architecture", row[1] .. " " .. row[2])
    expect_equal(found(row[1], row[2], "x86_64"), "", row[1])
    expect_equal(found(row[1], row[2], ""), "", row[1])
  end
end)

test("the channel is that of the pool", function()
  local function on(channel, flatcar)
    local answer = map(release("aws-34.5.0", with({ flatcar = flatcar })), { pool({ name = "workers", channel = channel }) })
    for _, f in ipairs(answer.findings) do
      if f.id == "channel.mismatch" then return f.clears end
    end
    return ids(answer)
  end
  expect_equal(on("", "4593.2.2"), "")
  expect_equal(on("beta", "4600.1.0"), "")
  expect_equal(on("lts", "4600.3.0"), "")
  expect_equal(on("beta", "4593.2.2"), "take a version x.1.y, or the channel stable for the pool")
  expect_equal(on("stable", "4600.1.0"), "take a version x.2.y, or the channel beta for the pool")
  expect_equal(on("", "4600.0.0"), "take a version x.2.y, or the channel alpha for the pool")
  expect_equal(on("", "4600.9.0"), "take a version x.2.y")
  -- A rule whose names have no place for it.
  local fixed = release("azure-26.0.0", { ["cluster-azure"] = "0.18.0", flatcar = "3815.1.4", kubernetes = "1.26.15" })
  has(map(fixed, { pool({ channel = "beta" }) }), "channel.mismatch", "rule P1 names stable")
end)

test("advice is what clears the finding", function()
  local function advice(r, id)
    for _, f in ipairs(map(r).findings) do
      if f.id == id then return f.clears end
    end
  end
  expect_equal(advice(release("aws-34.5.0", with({ ["os-tooling"] = "25383e1" })), "component.missing"), "give os-tooling a version of three numbers")
  expect_equal(advice(release("aws-34.5.0", with({ ["cluster-aws"] = "main" })), "component.missing"), "give cluster-aws a version of three numbers")
  expect_equal(advice(release("aws-0.70.0", { ["cluster-aws"] = "0.70.0" }), "component.missing"), "give the value: --value kubernetesVersion=…")
  local without = with()
  without["os-tooling"] = nil
  expect_equal(advice(release("aws-34.5.0", without), "component.missing"), "add os-tooling to spec.components")
end)

test("an old name is known by its operator where no folder says it", function()
  local r = release("v14.1.0", { ["aws-operator"] = "9.0.0", kubernetes = "1.18.0" })
  r.folder, r.stored_as = "", ""
  expect_equal({ image.identify(r) }, { "aws", "14.1.0" })
  expect_true(not ids(policy.release.diff(question(r, { within = "folder" }))):find("provider.unknown", 1, true))
  r.components = {}
  expect_equal(image.identify(r), nil)
end)

test("going back names the waiver that it takes", function()
  local later = release("aws-34.5.0", with({ flatcar = "4593.2.4" }), { cilium = "1.4.2" })
  local answer = policy.release.diff(question(base, { base = later }))
  for _, f in ipairs(answer.findings) do
    if f.id == "component.downgrade" then
      expect_equal(f.clears, "consent to going back, in waivers.yaml: {rule: component.downgrade, subject: component/flatcar, "
        .. "release: aws-34.4.0, hash: hash of aws-34.4.0, reason: …}")
    end
  end
  has(answer, "component.downgrade", "flatcar")
end)

test("names that a cloud does not take are refused", function()
  local r = release("vsphere-34.5.0", { ["cluster-vsphere"] = "2.0.0", flatcar = "4593.2.2", kubernetes = "1.34.7", ["os-tooling"] = "1.31.0" })
  r.folder = "vsphere"
  has(map(r, { pool({ suffix = ("x"):rep(60) }) }), "image.too-long", "vsphere")
  has(map(r, { pool({ suffix = "a/b" }) }), "image.bad-char", "vsphere")
  has(map(r, { pool({ suffix = "-x" }) }), "image.bad-char", "empty part")
end)

test("images that nobody built, tags and constants", function()
  local r = release("aws-34.5.0", stock)
  has(map(r, {}, { catalogue = { "another" } }), "image.not-built")
  expect_true(not ids(map(r, {}, { catalogue = { "flatcar-stable-4593.2.2-kube-1.34.7-tooling-1.31.0-gs" } })):find("not-built", 1, true))
  local tagged = release("proxmox-34.5.0", { ["cluster-proxmox"] = "1.0.0", flatcar = "4593.2.2", kubernetes = "1.34.7", ["os-tooling"] = "1.31.0" })
  tagged.folder = "proxmox"
  expect_equal(map(tagged).images[1].tags,
    { "release-channel_stable", "flatcar_4593.2.2", "kubernetes_1.34.7", "os-tooling_1.31.0" })
  local constant = release("vsphere-27.0.0", { ["cluster-vsphere"] = "0.65.0", flatcar = "3815.2.2", kubernetes = "1.27.14" })
  constant.folder = "vsphere"
  expect_equal(map(constant).images[1].image, "flatcar-stable-3815.2.2-kube-v1.27.14-gs")
  local unknown = release("vsphere-26.0.0", { ["cluster-vsphere"] = "0.8.0", flatcar = "3815.2.2", kubernetes = "1.27.14" })
  unknown.folder = "vsphere"
  expect_true(#map(unknown).findings > 0)
  local managed = release("eks-34.5.0", { ["cluster-eks"] = "1.0.0", kubernetes = "1.34.7" })
  managed.folder = "eks"
  expect_equal(map(managed).images[1].image, nil)
end)

test("the names of former charts are known, written and read", function()
  local function of(provider, chart, values)
    local answer = map(release(provider .. "-27.0.0", { ["cluster-" .. provider] = chart }), {}, { values = values or {} })
    return answer.images[1] and answer.images[1].image or ids(answer)
  end
  expect_equal(of("cloud-director", "0.50.0"), "flatcar-stable-3602.2.1-kube-v1.25.16")
  expect_equal(of("cloud-director", "0.55.0"), "flatcar-stable-3815.2.0-kube-v1.26.14")
  expect_equal(of("cloud-director", "0.62.0"), "flatcar-stable-3815.2.2-kube-v1.27.14-gs")
  expect_equal(of("cloud-director", "0.49.0"), "image.rule-none")
  expect_equal(of("vsphere", "0.9.9"), "flatcar-stable-3602.2.1-kube-v1.24.12-gs")
  expect_equal(of("vsphere", "0.52.0"), "flatcar-stable-3815.2.0-kube-v1.26.15-gs")
  for _, row in ipairs({ { "0.0.31", "capi-flatcar-stable-1.24.1-gen2" }, { "0.8.9", "capi-flatcar-stable-1.24.1-gen2-gs" },
    { "0.16.0", "capi-flatcar-stable-1.24.1-gen2-gs" } }) do
    expect_equal(of("azure", row[1], { kubernetesVersion = "v1.24.1" }), row[2])
    expect_equal(image.read("azure", row[2])["values.kubernetesVersion"], "1.24.1", row[2])
  end
  for _, name in ipairs({ "flatcar-stable-3602.2.1-kube-v1.25.16", "flatcar-stable-3815.2.2-kube-v1.27.14-gs" }) do
    local found = image.read("cloud-director", name)
    expect_equal({ found.flatcar, found.kubernetes }, { name:match("stable%-(.-)%-kube"), (name:match("v(1%.%d+%.%d+)")) }, name)
  end
end)

test("a machine that is called as no rule would call it", function()
  has(map(release("aws-34.5.0", stock), { pool({ running = "ubuntu" }) }), "image.drift", "aws")
end)

test("a component whose version is none cannot be part of a name", function()
  has(map(release("aws-34.5.0", with({ flatcar = "latest" }))), "component.missing", "flatcar")
  has(map(release("aws-0.70.0", { ["cluster-aws"] = "0.70.0" })), "component.missing", "kubernetesVersion")
  local _, why, id = image.identify({ name = "v1.0.0", folder = "nowhere" })
  expect_true(why:find("its name says no provider, and 'nowhere' is no provider's folder; known are aks", 1, true) == 1, why)
  expect_equal(id, "provider.unknown")
  expect_equal({ image.identify({ name = "aws-1.x", folder = "" }) },
    { nil, "'aws-1.x' has no version of three numbers", "release.schema" })
end)

test("an os-tooling and a variant exclude each other", function()
  has(map(release("aws-34.5.0", with({ ["flatcar-variant"] = "3.0.0" }))), "variant.conflict")
end)

test("levels and directions", function()
  expect_equal(versions.level("1.0.0", "2.0.0"), "major")
  expect_equal(versions.level("1.0.0", "1.1.0"), "minor")
  expect_equal(versions.level("1.0.0", "1.0.1"), "patch")
  expect_equal((versions.direction("etcd", "3.5.0-gs1", "3.5.0-gs2")), "up")
end)
