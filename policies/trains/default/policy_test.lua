-- Run by the host before a changed pack takes over, and by `windlass policy test`.
-- One file although it is long: every rule of a train is tried on one train in which everything fits.
local policy = require("policy")
local days = require("days")

local A, B, C = ("a"):rep(40), ("b"):rep(40), ("c"):rep(40)

local function ids(answer)
  local all = {}
  for _, f in ipairs(answer.findings) do
    if f.id ~= "train.evidence-skew" then all[#all + 1] = f.id end
  end
  return table.concat(all, " ")
end

local function checks(answer)
  local all = {}
  for i, c in ipairs(answer.checks) do all[i] = c.name .. "=" .. c.result end
  return table.concat(all, " ")
end

-- Whether there is such a finding about a place.
local function has(answer, id, evidence)
  for _, f in ipairs(answer.findings) do
    if f.id == id and f.evidence == evidence then return true end
  end
  return false
end

local function find(answer, id)
  for _, f in ipairs(answer.findings) do
    if f.id == id then return f end
  end
end

-- A train in which everything fits, with some of it changed.
local function train(more)
  local t = {
    train = "v1.0.0", phase = "released",
    projects = {
      { name = "Kata", release = "3.23.0", candidate = C },
      { name = "guest-components", candidate = A, protocol = "0.4.0" },
      { name = "Trustee", candidate = B, protocol = "0.4.0" },
    },
    pins = {
      { holder = "Kata", project = "guest-components", field = "version", kind = "commit", value = A },
      { holder = "Kata", project = "Trustee", field = "version", kind = "commit", value = B },
      { holder = "Kata", project = "Trustee", field = "image_tag", value = B, image = "ghcr.io/x/staged-images/kbs" },
      { holder = "Kata", project = "Trustee", field = "ita_image_tag", value = B .. "-x86_64" },
      { holder = "Kata", project = "nydus-snapshotter", field = "version", value = "v0.15.2" },
      { holder = "operator", project = "nydus-snapshotter", field = "NYDUS_SNAPSHOTTER_VERSION", value = "v0.15.2" },
      { holder = "operator", project = "Kata", field = "default", value = "3.23.0" },
      { holder = "operator", project = "Kata", field = "peer-pods", value = "3.23.0" },
      { holder = "operator", project = "Kata", field = "s390x", value = "3.23.0" },
      { holder = "cloud-api-adaptor", project = "guest-components", field = "reference", value = A },
      { holder = "cloud-api-adaptor", project = "Trustee", field = "reference", value = B },
      { holder = "cloud-api-adaptor", project = "Kata", field = "reference", value = "3.23.0" },
    },
    tags = { { project = "guest-components", tag = "v0.16.0", commit = A }, { project = "Trustee", tag = "v0.16.0", commit = B } },
  }
  for key, value in pairs(more or {}) do t[key] = value end
  return t
end

local function pin(t, holder, project, field, value)
  for _, p in ipairs(t.pins) do
    if p.holder == holder and p.project == project and p.field == field then p.value = value end
  end
  return t
end

test("a train that fits has nothing to say", function()
  local answer = policy.train.check(train())
  expect_equal(checks(answer), "protocol=equal image_tag=sync ita=sync nydus=equal operator_kata=equal caa_gc=equal caa_kbs=equal caa_kata=equal")
  expect_equal(ids(answer), "")
end)

test("two protocols do not speak with each other", function()
  local t = train()
  t.projects[2].protocol, t.projects[3].protocol = "0.2.0", "0.4.0"
  local answer = policy.train.check(t)
  expect_equal(ids(answer), "train.skew")
  local why = find(answer, "train.skew").why
  expect_true(why:find("0.2.0", 1, true) and why:find("0.4.0", 1, true) and why:find(A, 1, true) and why:find(B, 1, true))
end)

test("evidence that no project names wants a test of the pair", function()
  local t = train()
  expect_equal(find(policy.train.check(t), "train.evidence-skew").severity, "warn")
  t.suites = { { id = "pair:guest-components+Trustee", result = "passed" } }
  expect_equal(find(policy.train.check(t), "train.evidence-skew"), nil)
  t.projects[2].evidence, t.projects[3].evidence = "1", "2"
  expect_equal(find(policy.train.check(t), "train.evidence-skew").severity, "error")
end)

test("one of a pair does not move alone", function()
  local t = train()
  t.pins[2].was = C
  expect_equal(ids(policy.train.check(t)), "train.pair-moved-alone")
  t.pins[1].was = C
  expect_equal(ids(policy.train.check(t)), "")
end)

test("an image belongs to its version", function()
  expect_equal(ids(policy.train.check(pin(train(), "Kata", "Trustee", "image_tag", C))), "train.pin-in-sync")
  local t = train({ tags = { { project = "Trustee", tag = "v0.10.1", commit = B }, { project = "guest-components", tag = "v1", commit = A } } })
  pin(t, "Kata", "Trustee", "version", "v0.10.1")
  pin(t, "Kata", "Trustee", "image_tag", "built-in-as-v0.10.1")
  pin(t, "Kata", "Trustee", "ita_image_tag", "v0.10.1-x86_64")
  t.pins[3].image = "ghcr.io/x/key-broker-service"
  expect_equal(ids(policy.train.check(t)), "")
  t.pins[3].image = "ghcr.io/x/staged-images/kbs"
  expect_equal(ids(policy.train.check(t)), "train.pin-in-sync")
end)

test("each image of a version has its tag", function()
  local t = train()
  for _, name in ipairs({ "kbs", "as", "rvps" }) do
    t.pins[#t.pins + 1] = { holder = "Kata", project = "Trustee", field = "images." .. name, value = B }
  end
  local answer = policy.train.check(t)
  expect_equal(ids(answer), "")
  expect_true(checks(answer):find("images=sync", 1, true))
  answer = policy.train.check(pin(t, "Kata", "Trustee", "images.rvps", C))
  expect_equal(find(answer, "train.pin-in-sync").subject, "pin/Kata/Trustee.images.rvps")
  expect_true(checks(answer):find("images=MISMATCH", 1, true))
  -- Others that begin so are not meant.
  pin(t, "Kata", "Trustee", "images.rvps", B)
  t.pins[#t.pins + 1] = { holder = "Kata", project = "Trustee", field = "imagestream", value = C }
  expect_equal(ids(policy.train.check(t)), "")
  -- Newer files name the image alone: its tag is the version.
  pin(t, "Kata", "Trustee", "images.rvps", "ghcr.io/x/staged-images/rvps")
  expect_equal(ids(policy.train.check(t)), "")
  for _, other in ipairs({ "ghcr.io/x/staged-images/rvps:" .. C, "ghcr.io/x/reference-value-provider-service", "localhost:5000/rvps@sha256:0" }) do
    pin(t, "Kata", "Trustee", "images.rvps", other)
    expect_equal(ids(policy.train.check(t)), "train.pin-in-sync", other)
  end
end)

test("peer pods that are ahead are told by how much", function()
  local t = pin(train({ ancestry = { { project = "guest-components", from = A, to = C, ahead = 5, behind = 0 } } }),
    "cloud-api-adaptor", "guest-components", "reference", C)
  local answer = policy.train.check(t)
  expect_equal(ids(answer), "train.pin-mismatch")
  expect_equal(answer.findings[#answer.findings].severity, "warn")
  expect_true(find(answer, "train.pin-mismatch").why:find("ahead 5", 1, true))
  t.ancestry[1].behind = 2
  expect_equal(find(policy.train.check(t), "train.pin-mismatch").severity, "error")
end)

test("every payload of the samples is one and the same", function()
  local t = train()
  local function payload(project, field, value)
    t.pins[#t.pins + 1] = { holder = "operator", project = project, field = field, value = value }
  end
  payload("operator", "reqs-payload", A)
  payload("reqs-payload", "default", A)
  expect_equal(ids(policy.train.check(t)), "")
  expect_true(checks(policy.train.check(t)):find("reqs_payload=equal", 1, true))
  payload("operator", "s390x/reqs-payload", B)
  payload("operator", "my-reqs-payload", C)
  payload("operator", "reqs-payloads", C)
  local answer = policy.train.check(t)
  expect_equal(ids(answer), "train.same-version")
  local found = find(answer, "train.same-version")
  expect_equal({ found.subject, found.from, found.to, found.rule },
    { "pin/operator/operator.s390x/reqs-payload", B, A, "reqs_payload" })
  expect_true(found.why:find("config/samples", 1, true), found.why)
  t.reqs_payload_commit = A
  answer = policy.train.check(t)
  expect_equal(find(answer, "train.reqs-stale").subject, "pin/operator/operator.s390x/reqs-payload")
end)

test("what floats is no pin of a release", function()
  local t = pin(train(), "cloud-api-adaptor", "Kata", "reference", "kata-containers-latest")
  expect_equal(find(policy.train.check(t), "train.floating-pin").severity, "error")
  t.phase = "candidate"
  expect_equal(find(policy.train.check(t), "train.floating-pin").severity, "info")
end)

test("a commit that is cut short is found when it is the only one", function()
  local t = pin(train(), "cloud-api-adaptor", "Trustee", "reference", "bbbbbbb")
  expect_equal(ids(policy.train.check(t)), "")
  t.tags[3] = { project = "Trustee", tag = "v9", commit = "bbbbbbb" .. ("0"):rep(33) }
  expect_true(find(policy.train.check(t), "train.ambiguous-commit"))
end)

test("a comment that names another commit than its pin is noticed", function()
  local t = train()
  local commented = t.pins[11]
  commented.comment = "v0.16.0 + tagging fix"
  expect_equal(ids(policy.train.check(t)), "")
  t.tags[3] = { project = "Trustee", tag = "v0.15.0", commit = C }
  commented.comment = "v0.15.0"
  local found = find(policy.train.check(t), "train.comment-mismatch")
  expect_equal({ found.severity, found.from, found.to }, { "info", B, "v0.15.0" })
  commented.comment = "v0.14.0, which nobody knows"
  expect_equal(find(policy.train.check(t), "train.comment-mismatch"), nil)
end)

test("a released train says which commits have no tag", function()
  local t = train()
  t.tags[2] = nil
  expect_equal(find(policy.train.check(t), "train.unreleased-dep").subject, "pin/Kata/Trustee.version")
  t.phase = "candidate"
  expect_equal(find(policy.train.check(t), "train.unreleased-dep"), nil)
end)

test("a bundle of a commit waits for consent", function()
  local t = train()
  t.projects[1].release = "kata-containers-latest"
  pin(t, "cloud-api-adaptor", "Kata", "reference", "kata-containers-latest")
  expect_equal(find(policy.train.check(t), "train.bundle-kind").blocking, "approval")
end)

test("weak edges may close a circle and strong ones may not", function()
  local function cycle(kind)
    return policy.train.plan(train({ edges = { only = { { from = "Trustee", to = "guest-components", kind = "strong" },
      { from = "guest-components", to = "Trustee", kind = kind } } } }))
  end
  expect_equal(cycle("weak").order, { "Trustee", "guest-components" })
  expect_equal(ids(cycle("weak")), "")
  expect_equal(find(cycle("strong"), "train.cycle").why, "projects wait for each other: Trustee -> guest-components -> Trustee")
end)

local function states(answer)
  local all = {}
  for _, s in ipairs(answer.steps) do all[s.id] = s.state end
  return all
end

test("steps follow from evidence", function()
  local t = train({ steps = { { id = "kata-pick", state = "done", evidence = "3.23.0" } } })
  local s = states(policy.train.plan(t))
  expect_equal({ s["kata-pick"], s["nydus-check"], s["bundle-pr"], s.peerpods, s.notes }, { "done", "done", "ready", "ready", "blocked" })
  pin(t, "operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION", "v0.13.14")
  local answer = policy.train.plan(t)
  s = states(answer)
  expect_equal({ s["nydus-check"], s["bundle-pr"], s.peerpods }, { "blocked", "blocked", "ready" })
  expect_true(find(answer, "train.same-version").why:find("Makefile", 1, true))
end)

test("a step says since when it is what it is", function()
  local function ages(t)
    local all = {}
    for _, s in ipairs(policy.train.plan(t).steps) do all[s.id] = s.since .. " " .. (s.days or "?") end
    return all
  end
  local t = train({ now = "2026-11-22T08:00:00Z", steps = { { id = "kata-pick", state = "done", evidence = "3.23.0", at = "2026-11-01" } } })
  local s = ages(t)
  -- Done by its evidence, by a check as soon as there was something to check; ready since then; blocked behind what is ready.
  expect_equal({ s["kata-pick"], s["nydus-check"], s["bundle-pr"], s["bundle-release"], s.peerpods },
    { "2026-11-01 21", "2026-11-01 21", "2026-11-01 21", "2026-11-01 21", "2026-11-01 21" })
  t.suites = { { id = "kata-ci", project = "Kata", result = "passed" } }
  t.steps[2] = { id = "bundle-pr", state = "done", evidence = "pull/7", at = "2026-11-15T00:00:00Z" }
  s = ages(t)
  expect_equal({ s["bundle-pr"], s["bundle-release"], s.peerpods, s.notes, s["revert-ci"] },
    { "2026-11-15T00:00:00Z 7", "2026-11-15T00:00:00Z 7", "2026-11-01 21", "2026-11-01 21", "2026-11-15T00:00:00Z 7" })
  t.steps[1].at = nil
  s = ages(t)
  expect_equal({ s["kata-pick"], s.peerpods, s.notes }, { " ?", " ?", "2026-11-15T00:00:00Z 7" })
  t.steps[1].at, t.now = "soon", nil
  local answer = policy.train.plan(t)
  expect_equal(find(answer, "train.schema").evidence, "train: steps[kata-pick].at")
  expect_equal(answer.steps[3].since .. (answer.steps[3].days or "?"), "2026-11-15T00:00:00Z?")
end)

test("a tag that proves a step says since when", function()
  local t = train({ order = "before", now = "2026-11-22", steps = { { id = "gc-tag", state = "done", evidence = "v0.16.0" } } })
  t.tags[1].at = "2026-11-20T00:00:00Z"
  local answer = policy.train.plan(t)
  expect_equal({ answer.steps[1].state, answer.steps[1].days, answer.steps[2].days }, { "done", 2, 2 })
end)

local function row_of(answer, id)
  for _, s in ipairs(answer.steps) do
    if s.id == id then return s end
  end
end

local function inputs(answer, id)
  local all = {}
  for i, input in ipairs(row_of(answer, id).inputs) do all[i] = input.project .. " " .. input.value end
  return table.concat(all, ", ")
end

test("the inputs of a step are fixed when it starts", function()
  local t = train({ now = "2026-11-22", steps = { { id = "kata-pick", state = "done", evidence = "3.23.0", at = "2026-11-01" } } })
  local answer = policy.train.plan(t)
  expect_equal(inputs(answer, "bundle-pr"), "Kata 3.23.0")
  expect_equal(inputs(answer, "peerpods"), "Kata 3.23.0, guest-components " .. A .. ", Trustee " .. B)
  expect_equal(inputs(answer, "kata-pick"), "")
  -- Started with what the train said: nothing to tell. The train moves on; the step does not.
  t.steps[2] = { id = "bundle-pr", state = "started", at = "2026-11-20", inputs = { Kata = "3.23.0" } }
  answer = policy.train.plan(t)
  expect_equal({ row_of(answer, "bundle-pr").state, row_of(answer, "bundle-pr").since, row_of(answer, "bundle-pr").days }, { "started", "2026-11-20", 2 })
  expect_equal(row_of(answer, "bundle-release").state, "blocked")
  expect_equal(find(answer, "step.inputs-moved"), nil)
  t.projects[1].release = "3.24.0"
  answer = policy.train.plan(t)
  local moved = find(answer, "step.inputs-moved")
  expect_equal({ moved.subject, moved.from, moved.to, moved.severity }, { "step/bundle-pr", "3.23.0", "3.24.0", "warn" })
  expect_equal({ inputs(answer, "bundle-pr"), inputs(answer, "bundle-release") }, { "Kata 3.23.0", "Kata 3.24.0" })
  -- What it was done with stays said.
  t.suites = { { id = "kata-ci", project = "Kata", result = "passed" } }
  for _, p in ipairs(t.pins) do
    if p.holder == "operator" and p.project == "Kata" then p.value = "3.24.0" end
  end
  t.steps[1].evidence = "3.24.0"
  t.steps[2] = { id = "bundle-pr", state = "done", evidence = "pull/7", inputs = { Kata = "3.23.0" } }
  answer = policy.train.plan(t)
  expect_equal({ row_of(answer, "bundle-pr").state, find(answer, "step.inputs-moved").why:match("^it was (%l+) with") }, { "done", "done" })
  -- An input that the table does not have, and one that nobody names any more.
  t.steps[2].inputs = { Kata = "3.24.0", ["td-shim"] = "v1" }
  moved = find(policy.train.plan(t), "step.inputs-moved")
  expect_equal({ moved.from, moved.to or "none" }, { "v1", "none" })
end)

test("a step that was started with nothing said may move", function()
  local t = train({ steps = { { id = "kata-pick", state = "done", evidence = "3.23.0" }, { id = "bundle-pr", state = "started" } } })
  expect_equal(find(policy.train.plan(t), "step.inputs-unknown").subject, "step/bundle-pr")
  -- Who has not begun what it waits for cannot have begun it.
  t.steps[1].state = "open"
  expect_equal(row_of(policy.train.plan(t), "bundle-pr").state, "blocked")
  t.steps[2].inputs = { Kata = 3 }
  expect_true(find(policy.train.plan(t), "train.schema").why:find("a text for each project, and Kata", 1, true))
  t.steps[2].inputs = "Kata"
  expect_true(find(policy.train.plan(t), "train.schema").why:find("mapping of texts", 1, true))
end)

test("a tag proves the commit that its step was started with", function()
  local t = train({ order = "before", steps = { { id = "gc-tag", state = "done", evidence = "v0.16.0", inputs = { ["guest-components"] = A } } } })
  expect_equal(find(policy.train.plan(t), "step.inputs-moved"), nil)
  -- Written as the tag, it is the same commit.
  t.steps[1].inputs["guest-components"] = "v0.16.0"
  expect_equal(find(policy.train.plan(t), "step.inputs-moved"), nil)
  t.steps[1].inputs["guest-components"] = A
  pin(t, "Kata", "guest-components", "version", C)
  local answer = policy.train.plan(t)
  expect_equal(row_of(answer, "gc-tag").state, "done")
  expect_equal({ find(answer, "step.inputs-moved").from, find(answer, "step.inputs-moved").to }, { A, C })
  t.steps[1].inputs = nil
  expect_equal(row_of(policy.train.plan(t), "gc-tag").state, "ready")
end)

test("a tick is no proof", function()
  local t = train({ order = "before", steps = { { id = "gc-tag", state = "done", evidence = "v0.16.0" }, { id = "trustee-tag", state = "done", evidence = "v0.16.0" },
    { id = "gc-release", state = "done", evidence = "https://example.com/releases/v0.16.0" } } })
  local s = states(policy.train.plan(t))
  expect_equal({ s["gc-tag"], s["trustee-tag"], s["gc-release"] }, { "done", "done", "done" })
  t.tags[1].commit = C
  local answer = policy.train.plan(t)
  s = states(answer)
  expect_equal({ s["gc-tag"], s["gc-release"] }, { "ready", "blocked" })
  expect_true(find(answer, "step.unproven"))
  t.tags[1].commit, t.present = A, { "other" }
  expect_true(find(policy.train.plan(t), "step.regressed"))
  t.order = "sideways"
  expect_true(find(policy.train.plan(t), "train.schema"))
end)

test("a frozen candidate stays", function()
  local t = train({ freeze = { project = "guest-components", baseCommit = A, since = "2026-10-01" }, now = "2026-10-20" })
  expect_equal(ids(policy.train.check(t)), "")
  t.projects[2].candidate = C
  t.suites = { { id = "k", project = "Kata", result = "passed" }, { id = "n", project = "nydus-snapshotter", result = "passed" } }
  expect_equal(find(policy.train.plan(t), "train.candidate-moved").to, C)
  t.freeze.fixup = "a crash"
  local answer = policy.train.plan(t)
  expect_equal(find(answer, "train.candidate-moved"), nil)
  expect_equal(answer.void, { "k" })
  t.now, t.bump = "2026-12-01", "guest-components"
  expect_equal(find(policy.train.check(t), "train.freeze-stale").why, "it is frozen for 61 days")
  expect_true(find(policy.train.check(t), "train.frozen"))
end)

test("trains ride on positions, not on numbers", function()
  local function releases(...)
    local list = {}
    for i, tag in ipairs({ ... }) do list[i] = { tag = tag } end
    return list
  end
  local t = train({ releases = releases("3.29.0", "3.30.0"), cadence = "every-2", since = "3.29.0" })
  t.projects[1].release = "3.29.0"
  pin(t, "cloud-api-adaptor", "Kata", "reference", "3.29.0")
  local answer = policy.train.plan(t)
  expect_equal(answer.next, "3.31.0")
  expect_equal(find(answer, "train.behind").to, "3.30.0")
  t.projects[1].release = "3.30.0"
  expect_equal(find(policy.train.plan(t), "train.off-cadence").blocking, "approval")
  t.releases = releases("3.31.0", "3.32.0", "4.0.0", "4.1.0")
  t.projects[1].release, t.since = "3.31.0", nil
  expect_equal(policy.train.plan(t).next, "4.0.0")
  t.releases, t.cadence, t.projects[1].release = releases("4.0.0", "4.0.1", "4.1.0"), "every", "4.0.0"
  expect_equal(policy.train.plan(t).next, "4.0.1")
  -- One that is there may be ridden on since its day, one to come not before its month.
  t.releases[2].date = "2026-01-31T09:00:00Z"
  expect_equal(policy.train.plan(t).earliest, "2026-01-31")
  t.releases[2].date = "2028-02-29"
  expect_equal(policy.train.plan(t).earliest, "2028-02-29")
  t.releases[3].date, t.projects[1].release = "2026-01-31", "4.1.0"
  expect_equal(policy.train.plan(t).next, "4.2.0")
  expect_equal(policy.train.plan(t).earliest, "2026-02-28")
  t.releases[3].date = "2028-01-31"
  expect_equal(policy.train.plan(t).earliest, "2028-02-29")
  t.releases[3].date, t.cadence = "2026-11-30", "every-3"
  expect_equal(policy.train.plan(t).next, "4.2.0")
  expect_equal(policy.train.plan(t).earliest, "2026-12-30")
  t.releases[3].date = "soon"
  expect_equal(policy.train.plan(t).earliest, "")
  for _, mode in ipairs({ "every-0", "evry", "every-1000000" }) do
    t.cadence = mode
    expect_true(has(policy.train.plan(t), "train.schema", "train: cadence"))
  end
end)

local function images(t)
  local list = {}
  for _, row in ipairs(require("tables").promote) do
    for _, arch in ipairs(row.arches) do
      list[#list + 1] = { ref = row.from:gsub("{}", B) .. "-" .. arch, digest = "sha256:" .. #list }
    end
  end
  t.images, t.promote = list, { project = "Trustee", tag = "v0.17.0" }
  t.suites = { { id = "kata-ci", project = "Kata", result = "passed" } }
  t.suites[1].contentHash = policy.train.check(t).hash
  return t
end

test("what was tested is not tested again under another name", function()
  local t = images(train())
  local answer = policy.train.promote(t)
  expect_equal(answer.retest, "skipped")
  expect_equal(#answer.retag, #t.images)
  expect_equal(answer.retag[1].to, "key-broker-service:built-in-as-v0.17.0-x86_64")
  expect_equal(ids(answer), "train.retest-skipped")
  t.images[#t.images + 1] = { ref = answer.retag[1].to, digest = "sha256:other" }
  answer = policy.train.promote(t)
  expect_equal(answer.retest, "required")
  expect_equal(find(answer, "train.retest-required").subject, "image/key-broker-service:built-in-as-v0.17.0-x86_64")
  t.images[#t.images] = nil
  t.suites[1].contentHash = "stale"
  expect_equal(policy.train.promote(t).retest, "required")
  local hash = policy.train.check(t).hash
  t.suites[1].contentHash = hash
  expect_equal(policy.train.promote(t).retest, "skipped")
  expect_equal({ policy.train.plan(t).hash, policy.train.promote(t).hash }, { hash, hash })
end)

test("what has another pin than it was tested with is tested again", function()
  local t = images(train())
  for _, p in ipairs(t.pins) do p.tested = p.value end
  expect_equal(policy.train.promote(t).retest, "skipped")
  -- Another name of the same commit, and what is called after it.
  pin(t, "Kata", "Trustee", "version", "v0.16.0")
  pin(t, "Kata", "Trustee", "image_tag", "built-in-as-v0.16.0")
  pin(t, "Kata", "Trustee", "ita_image_tag", "v0.16.0-x86_64")
  expect_equal(policy.train.promote(t).retest, "skipped")
  pin(t, "operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION", "v0.15.3")
  local answer = policy.train.promote(t)
  expect_equal(answer.retest, "required")
  local found = find(answer, "train.retest-required")
  expect_equal(found.subject, "pin/operator/nydus-snapshotter.NYDUS_SNAPSHOTTER_VERSION")
  expect_equal(found.from .. " " .. found.to, "v0.15.2 v0.15.3")
end)

test("nothing is promoted in part", function()
  local t = images(train())
  local gone = table.remove(t.images, 2)
  local answer = policy.train.promote(t)
  expect_equal(answer.retag, {})
  expect_equal(find(answer, "train.partial-promotion").from, gone.ref)
  t.promote.project = "nobody"
  expect_equal(ids(policy.train.promote(t)), "train.unknown-name train.schema")
end)

test("an index of each release has the architectures that were tested", function()
  local t = images(train())
  local answer = policy.train.promote(t)
  expect_equal(#answer.indexes, #require("tables").promote)
  expect_equal(answer.indexes[1].to, "key-broker-service:built-in-as-v0.17.0")
  expect_equal(answer.indexes[1].parts[1].architecture, "amd64")
  expect_equal(answer.indexes[1].parts[2], { from = t.images[2].ref, digest = t.images[2].digest, architecture = "s390x" })
  expect_equal(#answer.indexes[3].parts, 1)
  table.remove(t.images, 2)
  expect_equal(policy.train.promote(t).indexes, {})
end)

test("what is another thing by now than it was is no evidence", function()
  local t = images(train())
  t.images[1].was = "sha256:before"
  local found = find(policy.train.promote(t), "train.digest-moved")
  expect_equal({ found.subject, found.from, found.severity }, { "image/" .. t.images[1].ref, "sha256:before", "error" })
  t.images[1].was = t.images[1].digest
  expect_equal(find(policy.train.promote(t), "train.digest-moved"), nil)
  t.tags[1].was = C
  found = find(policy.train.check(t), "train.digest-moved")
  expect_equal({ found.subject, found.from, found.to }, { "project/guest-components", C, A })
end)

test("what is not as it should be is named with its place", function()
  local answer = policy.train.check({ projects = { { name = 7 }, "x", {} }, pins = "all" })
  local seen = {}
  for _, f in ipairs(answer.findings) do
    if f.id == "train.schema" then seen[#seen + 1] = f.evidence end
  end
  expect_equal(seen, { "train: train", "train: pins", "train: projects[1].name", "train: projects[2]", "train: projects[3].name" })
end)

test("an unknown field is named, and denies where it is nearly a known one", function()
  local t = train({ colour = "blue" })
  t.projects[1].candidat = "x"
  local answer, seen = policy.train.check(t), {}
  for _, f in ipairs(answer.findings) do
    if f.id == "train.unknown-field" then seen[#seen + 1] = f.severity .. " " .. f.evidence end
  end
  expect_equal(seen, { "info train: colour", "error train: projects[1].candidat" })
end)

test("days are counted over months and years", function()
  expect_equal(days.of("1970-01-01"), 0)
  expect_equal(days.of("2026-03-01T10:00:00Z") - days.of("2026-02-28"), 1)
  expect_equal(days.of("2024-03-01") - days.of("2024-02-28"), 2)
  expect_equal(days.of("soon"), nil)
end)

test("what check denies is not promoted", function()
  local t = images(train())
  for _, project in ipairs(t.projects) do
    if project.name == "Trustee" then project.protocol = "0.1.0" end
    if project.name == "guest-components" then project.protocol = "0.2.0" end
  end
  local denied = find(policy.train.check(t), "train.skew")
  expect_equal(denied.severity, "error")
  expect_equal(find(policy.train.promote(t), "train.skew"), denied)
end)
