-- The next Release, the way to it, and how long it is offered.
local bump = require("bump")
local findings = require("findings")
local lifecycle = require("lifecycle")
local path = require("path")
local policy = require("policy")
local stages = require("stages")

local function release(name, components, apps, more)
  local r = { name = name, file = name .. ".yaml", folder = "capa", archived = false, state = "active", components = {}, apps = {} }
  for _, kind in ipairs({ "components", "apps" }) do
    for entry, version in pairs(kind == "apps" and apps or components) do
      local list = r[kind]
      list[#list + 1] = { name = entry, version = version, depends_on = {} }
    end
  end
  for key, value in pairs(more or {}) do r[key] = value end
  return r
end

local function ids(list)
  local all = {}
  for i, f in ipairs(list) do all[i] = f.id end
  return table.concat(all, " ")
end

local function open(name, state) return release(name, {}, {}, { state = state }) end

local base = release("aws-34.4.1", { ["cluster-aws"] = "7.7.3", flatcar = "4593.2.2", kubernetes = "1.34.7",
  ["os-tooling"] = "1.31.0" }, { cilium = "1.4.2" })

local function next_release(more)
  local q = { base = base, kind = "minor", picks = {}, available = { flatcar = { "4593.2.4" }, kubernetes = { "1.34.10", "1.35.1" } },
    stage = { is = "", to = "", action = "", actor = "" } }
  for key, value in pairs(more or {}) do q[key] = value end
  local list, add = findings.new()
  local version, items = bump.plan(q, add)
  local moved = {}
  for _, item in ipairs(items) do moved[item.name] = item.to end
  return version, moved, ids(list)
end

test("a minor takes the newest that fits its Kubernetes", function()
  expect_equal({ next_release() }, { "34.5.0", { flatcar = "4593.2.4", kubernetes = "1.34.10" }, "" })
end)

test("what was not built is held back", function()
  expect_equal({ next_release({ catalogue = { "flatcar-stable-4593.2.2-kube-1.34.10-tooling-1.31.0-gs" } }) },
    { "34.5.0", { kubernetes = "1.34.10" }, "bump.held-back" })
  expect_equal({ next_release({ catalogue = {} }) }, { "34.5.0", {}, "bump.held-back bump.nothing" })
end)

test("the first rule bounds a version and two that exclude each other are a conflict", function()
  local function rules(...)
    local blocks = {}
    for i, range in ipairs({ ... }) do blocks[i] = { range = ">= 34.0.0", requests = { { name = "cilium", version = range } } } end
    return { file = "requests.yaml", blocks = blocks }
  end
  local available = { cilium = { "1.4.3", "1.5.0" } }
  expect_equal({ next_release({ available = available, requests = rules("< 1.5.0") }) }, { "34.5.0", { cilium = "1.4.3" }, "" })
  local _, _, found = next_release({ available = available, requests = rules(">= 1.3.0", "< 1.3.0") })
  expect_equal(found, "request.conflict")
end)

test("a patch moves what is asked for and nothing else", function()
  expect_equal({ next_release({ kind = "patch" }) }, { "34.4.2", {}, "bump.nothing" })
  expect_equal({ next_release({ kind = "patch", picks = { { name = "cilium", version = "1.4.3" }, { name = "x", version = "1.0.0" },
    { name = "flatcar", version = "new" } } }) }, { "34.4.2", { cilium = "1.4.3" }, "pin.unknown-item bump.version" })
  local _, _, found = next_release({ kind = "huge" })
  expect_equal(found, "bump.kind")
end)

test("a frozen draft is not refreshed", function()
  local function denied(is, to, action, actor, major)
    local list, add = findings.new()
    stages.check({ is = is, to = to, action = action, actor = actor }, "aws-35.0.0", major or false, add)
    return #list
  end
  expect_equal(denied("freeze", "", "refresh", "bot"), 1)
  expect_equal(denied("freeze", "", "pin", "anybody"), 0)
  expect_equal(denied("freeze", "", "version", "anybody"), 1)
  expect_equal(denied("freeze", "", "version", "release-team"), 0)
  expect_equal(denied("development", "", "refresh", "bot", true), 1)
  expect_equal(denied("active", "freeze", "", ""), 0)
  expect_equal(denied("active", "merged", "", ""), 1)
  expect_equal(denied("", "merged", "", ""), 1)
  expect_equal(denied("later", "active", "", ""), 1)
  expect_equal(denied("active", "later", "", ""), 1)
end)

test("nothing overtakes a major that is not published", function()
  local function found(kind, others)
    local _, _, ids_of = next_release({ kind = kind, others = others, available = { kubernetes = { "1.35.1" } } })
    return ids_of
  end
  expect_equal(found("major", { open("aws-35.0.0", "wip") }), "bump.unpublished")
  expect_equal(found("minor", { open("aws-35.0.0", "preview") }), "bump.major-open bump.nothing")
  expect_equal(found("minor", { open("aws-35.0.0", "active"), open("azure-35.0.0", "wip"), open("aws-34.5.0", "wip"),
    open("aws-35.0.0-e2e.1", "wip") }), "bump.taken bump.nothing")
end)

test("a major needs its Kubernetes", function()
  local function major(...) return { next_release({ kind = "major", available = { kubernetes = { ... } } }) } end
  expect_equal(major("1.34.10", "1.35.1"), { "35.0.0", { kubernetes = "1.35.1" }, "" })
  expect_equal(major("1.34.10", "1.35.0-rc.1"), { "35.0.0", {}, "bump.nothing bump.kubernetes" })
  expect_equal(major(), { "35.0.0", {}, "bump.nothing bump.kubernetes" })
end)

test("a young draft is not refreshed", function()
  local function refreshed(hours)
    local list, add = findings.new()
    stages.check({ is = "active", to = "", action = "refresh", actor = "bot", age_hours = hours }, "aws-35.0.0", false, add)
    return #list == 0
  end
  expect_equal({ refreshed(23), refreshed(24), refreshed(-1) }, { false, true, true })
end)

test("a test Release has the level of its largest change and a hash of what was picked", function()
  local tried = release("aws-34.4.1-rc1", { ["cluster-aws"] = "7.7.3", flatcar = "4593.2.2", kubernetes = "1.34.7" }, { cilium = "1.4.2", coredns = "1.0.0" })
  for _, list in ipairs({ tried.components, tried.apps }) do
    for _, entry in ipairs(list) do entry.catalog = "default" end
  end
  local clean = release("aws-34.4.1", {}, {})
  clean.components, clean.apps = tried.components, tried.apps
  local function try(r, picks, more)
    local q = { base = r, kind = "test", picks = {}, available = {}, stage = { is = "", to = "", action = "", actor = "" }, prefix = "", asked = false }
    for i, p in ipairs(picks) do q.picks[i] = { name = p[1], version = p[2], catalog = p[3] or "", depends_on = p[4] or {} } end
    for key, value in pairs(more or {}) do q[key] = value end
    local list, add = findings.new()
    local version, items = bump.plan(q, add)
    return { version, #items, ids(list) }
  end
  local function hash(text) return sha256(text):sub(1, 10) end
  expect_equal(try(clean, { { "cilium", "1.4.3" } }), { "34.4.2", 1, "" })
  expect_equal(try(clean, { { "cilium", "1.5.0" }, { "coredns", "1.0.1" } }), { "34.5.0", 2, "" })
  expect_equal(try(clean, { { "cilium", "2.0.0" } }), { "35.0.0", 1, "" })
  expect_equal(try(clean, { { "cilium", "1.4.3-rc1", "control", { "a", "b" } }, { "cluster-aws", "v7.7.4" } }),
    { "34.4.2-" .. hash("+cluster-awsdefault7.7.4+ciliumcontrol1.4.3-rc1+a+b"), 2, "" })
  expect_equal(try(clean, { { "cilium", "1.4.3" } }, { asked = true, prefix = "e2e" }), { "34.4.2-e2e." .. hash("+ciliumdefault1.4.3"), 1, "" })
  expect_equal(try(tried, { { "cilium", "1.4.3" } }), { "34.4.2-" .. hash("+ciliumdefault1.4.3"), 1, "" })
  expect_equal(try(clean, { { "nobody", "1.0.0" }, { "flatcar", "1.0.0" }, { "cilium", "x" } }), { "34.4.2", 0,
    "pin.unknown-item pin.unknown-item bump.version" })
end)

local function way(releases, from, to, denied)
  local list, add = findings.new()
  local steps = path.find(releases, from, to, add, denied)
  local names = {}
  for i, step in ipairs(steps) do names[i] = step.to end
  return table.concat(names, " "), ids(list)
end

test("a way leads one major at a time and goes back as little as it can", function()
  local releases = {
    release("aws-32.0.0", { flatcar = "4.2.0" }, {}), release("aws-33.0.0", { flatcar = "3.2.0" }, {}),
    release("aws-33.1.0", { flatcar = "5.2.0" }, {}), release("aws-33.2.0", { flatcar = "5.2.0" }, {}, { archived = true }),
    release("aws-34.0.0", { flatcar = "6.2.0" }, {}), release("aws-36.0.0", { flatcar = "7.2.0" }, {}),
  }
  expect_equal({ way(releases, "32.0.0", "34.0.0") }, { "aws-33.1.0 aws-34.0.0", "" })
  -- A step that `diff` denies is gone around, by more steps if need be; without another way it is shown and denied.
  local denied = { { from = "aws-32.0.0", to = "aws-33.1.0", why = "component.downgrade component/flatcar" } }
  expect_equal({ way(releases, "32.0.0", "34.0.0", denied) }, { "aws-33.0.0 aws-34.0.0", "path.downgrade" })
  expect_equal({ way(releases, "32.0.0", "33.1.0", denied) }, { "aws-33.0.0 aws-33.1.0", "path.downgrade" })
  denied[2] = { from = "aws-32.0.0", to = "aws-33.0.0", why = "component.downgrade component/flatcar" }
  expect_equal({ way(releases, "32.0.0", "33.1.0", denied) }, { "aws-33.1.0", "path.denied" })
  expect_equal({ way(releases, "32.0.0", "33.0.0") }, { "aws-33.0.0", "path.downgrade" })
  expect_equal({ way(releases, "32.0.0", "36.0.0") }, { "", "path.none" })
  expect_equal({ way(releases, "33.0.0", "33.2.0") }, { "", "path.not-offered" })
  expect_equal({ way(releases, "34.0.0", "33.0.0") }, { "", "path.none" })
  expect_equal({ way(releases, "34.0.0", "99.0.0") }, { "", "path.none" })
  expect_equal(policy.release.path({ releases = releases, from = "32.0.0", to = "33.1.0" }).steps[1].to, "aws-33.1.0")
end)

test("a way skips no minor of Kubernetes", function()
  local releases = { release("aws-24.0.0", { kubernetes = "1.21.0" }, {}), release("aws-24.1.0", { kubernetes = "1.22.0" }, {}),
    release("aws-24.2.0", { kubernetes = "1.23.0" }, {}), release("aws-25.0.0", { kubernetes = "1.25.0" }, {}) }
  expect_equal({ way(releases, "24.0.0", "24.2.0") }, { "aws-24.1.0 aws-24.2.0", "" })
  expect_equal({ way(releases, "24.2.0", "25.0.0") }, { "", "path.none" })
  releases[5] = release("aws-24.3.0", { kubernetes = "1.24.0" }, {})
  expect_equal({ way(releases, "24.0.0", "25.0.0") }, { "aws-24.1.0 aws-24.2.0 aws-24.3.0 aws-25.0.0", "" })
end)

local function lives(releases, in_use)
  local list, add = findings.new()
  local actions = {}
  for _, row in ipairs(lifecycle.plan(releases, in_use, add)) do
    actions[#actions + 1] = row.name:sub(5) .. " " .. row.action
  end
  return table.concat(actions, ", "), ids(list)
end

test("what somebody may step on is kept", function()
  local releases = { release("aws-33.4.0", {}, {}), release("aws-33.2.0", {}, {}, { state = "deprecated" }),
    release("aws-33.1.1", {}, {}), release("aws-32.0.0", {}, {}, { state = "deprecated" }),
    release("aws-35.0.0", {}, {}, { state = "wip" }) }
  expect_equal({ lives(releases, { "aws-33.1.1" }) },
    { "32.0.0 archive, 33.1.1 keep, 33.2.0 keep, 33.4.0 keep, 35.0.0 keep", "" })
  expect_equal({ lives(releases, nil) },
    { "32.0.0 keep, 33.1.1 deprecate, 33.2.0 keep, 33.4.0 keep, 35.0.0 keep", "usage.unknown" })
  -- A version alone is one of these, with or without a v; what names nothing that is known is told.
  for _, name in ipairs({ "33.1.1", "v33.1.1" }) do expect_equal({ lives(releases, { name }) }, { lives(releases, { "aws-33.1.1" }) }) end
  expect_equal({ select(2, lives(releases, { "33.1.1", "v33.9.9" })), select(2, lives(releases, { "33.1.1", "prod" })) }, { "usage.not-found", "usage.not-found" })
  expect_equal(select(2, lives(releases, { "aws-33.1.1", "aws-33.9.9", "azure-33.9.9", "aws-33.9.9" })), "usage.not-found")
  expect_equal(#policy.release.lifecycle({ releases = releases, in_use = {} }).releases, 5)
  expect_equal(policy.release.bump({ base = base, kind = "minor", picks = {}, available = {}, stage = { is = "", to = "", action = "",
    actor = "" } }).version, "34.5.0")
end)
