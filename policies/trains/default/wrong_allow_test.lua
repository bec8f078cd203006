-- What a train must not get past: each of these was allowed, or done, because a check had nothing to look at.
-- One file although it is long: each case changes one thing of the same train.
local policy = require("policy")
local problems = require("validate")

local A, B, C, D = ("a"):rep(40), ("b"):rep(40), ("c"):rep(40), ("d"):rep(40)

local function find(answer, id, subject)
  for _, f in ipairs(answer.findings) do
    if f.id == id and (subject == nil or f.subject == subject) then return f end
  end
end

-- A candidate in which everything fits, with some of it changed.
local function train(more)
  local t = {
    train = "v1.0.0", phase = "candidate",
    projects = {
      { name = "Kata", release = "3.23.0", candidate = C },
      { name = "guest-components", candidate = A, protocol = "0.4.0", evidence = "e1" },
      { name = "Trustee", candidate = B, protocol = "0.4.0", evidence = "e1" },
    },
    pins = {
      { holder = "Kata", project = "guest-components", field = "version", value = A },
      { holder = "Kata", project = "Trustee", field = "version", value = B },
      { holder = "Kata", project = "nydus-snapshotter", field = "version", value = "v0.15.2" },
      { holder = "operator", project = "nydus-snapshotter", field = "NYDUS_SNAPSHOTTER_VERSION", value = "v0.15.2" },
      { holder = "operator", project = "Kata", field = "default", value = "3.23.0" },
      { holder = "operator", project = "Kata", field = "peer-pods", value = "3.23.0" },
      { holder = "operator", project = "Kata", field = "s390x", value = "3.23.0" },
    },
    suites = { { id = "kata-ci", project = "Kata", result = "passed" } },
  }
  for key, value in pairs(more or {}) do t[key] = value end
  return t
end

local function pin(t, holder, project, field, value)
  for i, p in ipairs(t.pins) do
    if p.holder == holder and p.project == project and p.field == field then
      if value == nil then table.remove(t.pins, i) else p.value = value end
      return t
    end
  end
  t.pins[#t.pins + 1] = { holder = holder, project = project, field = field, value = value }
  return t
end

-- "error train.skew project/Trustee" of each finding that is no info.
local function said(answer)
  local list = {}
  for _, f in ipairs(answer.findings) do
    if f.severity ~= "info" then list[#list + 1] = (f.blocking or f.severity) .. " " .. f.id .. " " .. f.subject end
  end
  table.sort(list)
  return list
end

test("a train that fits is allowed, and says what it looked at", function()
  local answer = policy.train.check(train())
  expect_equal(said(answer), {})
  expect_equal(answer.checks[2], { name = "nydus", result = "equal", saw = { "Kata nydus-snapshotter.version v0.15.2",
    "operator nydus-snapshotter.NYDUS_SNAPSHOTTER_VERSION v0.15.2" } })
end)

test("the candidate is the commit that Kata pins", function()
  for _, case in ipairs({ { "Trustee", B }, { "guest-components", A } }) do
    local t = pin(train(), "Kata", case[1], "version", D)
    local found = find(policy.train.check(t), "train.candidate-mismatch")
    expect_equal({ found.subject, found.severity, found.from, found.to }, { "project/" .. case[1], "error", case[2], D })
    expect_true(found.why:find(D, 1, true) and found.why:find(case[2], 1, true) and found.clears)
  end
  -- A tag of the same commit is another name; a tag of another one is not; an unknown one cannot be compared.
  local t = pin(train({ tags = { { project = "Trustee", tag = "v0.17.0", commit = B } } }), "Kata", "Trustee", "version", "v0.17.0")
  expect_equal(said(policy.train.check(t)), {})
  t.tags[1].commit = D
  expect_equal(said(policy.train.check(t)), { "error train.candidate-mismatch project/Trustee" })
  t.tags = {}
  expect_equal(said(policy.train.check(t)), { "warn check.not-evaluated pin/Kata/Trustee.version" })
  -- The release of a project is a tag of its candidate.
  t = train({ tags = { { project = "Trustee", tag = "v0.17.0", commit = D } } })
  t.projects[3].release = "v0.17.0"
  expect_equal(said(policy.train.check(t)), { "error train.candidate-mismatch project/Trustee" })
end)

test("a bundle without release and candidate has not been looked at", function()
  local t = train()
  t.projects[1] = { name = "Kata" }
  local found = find(policy.train.check(t), "check.not-evaluated", "project/Kata")
  expect_equal({ found.rule, found.evidence }, { "train.bundle-kind", "train: projects[Kata]" })
  t.projects[1].candidate = C
  expect_equal(find(policy.train.check(t), "check.not-evaluated", "project/Kata"), nil)
  t.projects[1].candidate, t.phase = nil, "planning"
  expect_equal(find(policy.train.check(t), "check.not-evaluated", "project/Kata"), nil)
end)

test("a suite that failed is told with each step that asks it", function()
  local t = train({ suites = { { id = "kata-ci", project = "Kata", result = "failed" } } })
  local why = {}
  for _, step in ipairs(policy.train.plan(t).steps) do why[step.id] = { step.state, step.why } end
  expect_equal(why["kata-pick"], { "ready", "suite kata-ci of Kata: failed" })
  expect_equal(why["bundle-pr"], { "blocked", "waits for nydus-check" })
  t.steps = { { id = "kata-pick", state = "started", inputs = {} } }
  why = policy.train.plan(t).steps[1]
  expect_equal({ why.state, why.why }, { "started", "suite kata-ci of Kata: failed" })
end)

test("a pin that must be there is missed", function()
  local function without(holder, project, field) return said(policy.train.check(pin(train(), holder, project, field, nil))) end
  expect_equal(without("Kata", "Trustee", "version"), { "error train.pin-missing pin/Kata/Trustee.version" })
  expect_equal(without("Kata", "guest-components", "version"), { "error train.pin-missing pin/Kata/guest-components.version" })
  expect_equal(without("Kata", "nydus-snapshotter", "version"), { "error train.pin-missing pin/Kata/nydus-snapshotter.version" })
  expect_equal(without("operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION"),
    { "error train.pin-missing pin/operator/nydus-snapshotter.NYDUS_SNAPSHOTTER_VERSION" })
  expect_equal(without("operator", "Kata", "s390x"), { "warn train.pin-missing pin/operator/Kata.s390x" })
  -- With no pin at all the step is not done.
  local t = train({ steps = { { id = "kata-pick", state = "done", evidence = "3.23.0" } } })
  pin(pin(t, "Kata", "nydus-snapshotter", "version", nil), "operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION", nil)
  local step = policy.train.plan(t).steps[2]
  expect_equal({ step.id, step.state }, { "nydus-check", "blocked" })
  expect_true(step.why:find("nydus-snapshotter", 1, true), step.why)
  -- With one alone there is nothing to compare, which is said; without Kata there is none.
  t = train({ steps = t.steps, pins = { t.pins[1], t.pins[2], { holder = "Kata", project = "nydus-snapshotter", field = "version", value = "v0.15.15" } } })
  step = policy.train.plan(t).steps[2]
  expect_equal({ step.state, step.why }, { "done", "nothing else names what Kata nydus-snapshotter.version v0.15.15 does" })
  local empty_train = policy.train.plan({ train = "v1", releases = { { tag = "3.23.0" } }, steps = t.steps })
  expect_equal({ empty_train.steps[1].state, empty_train.steps[2].state, empty_train.steps[2].why }, { "done", "blocked",
    "check nydus has nothing to look at" })
  t = train({ steps = { { id = "kata-pick", state = "done", evidence = "3.23.0" } } })
  pin(pin(t, "Kata", "nydus-snapshotter", "version", nil), "operator", "nydus-snapshotter", "NYDUS_SNAPSHOTTER_VERSION", nil)
  -- What is planned may lack anything, and says so.
  t.phase = "planning"
  for _, one in ipairs(said(policy.train.check(t))) do expect_equal(one:match("^%l+"), "warn") end
  -- A project that takes no part in a train has to pin nothing.
  expect_equal(find(policy.train.check(train()), "train.pin-missing", "pin/cloud-api-adaptor/Kata"), nil)
  expect_true(find(policy.train.check(pin(train(), "cloud-api-adaptor", "Trustee", "reference", B)), "train.pin-missing", "pin/cloud-api-adaptor/Kata"))
end)

test("a train without its projects has not been looked at", function()
  expect_equal(said(policy.train.check({ train = "v1" })), { "warn check.not-evaluated edge/Trustee->guest-components",
    "warn check.not-evaluated project/Kata" })
  local t = train()
  table.remove(t.projects, 2)
  expect_equal(said(policy.train.check(t)), { "warn check.not-evaluated edge/Trustee->guest-components" })
end)

test("a candidate that is cut short is the commit that it begins", function()
  local t = train()
  t.projects[3].candidate = B:sub(1, 9)
  expect_equal(said(policy.train.check(t)), {})
  t.projects[3].candidate = D:sub(1, 9)
  expect_equal(said(policy.train.check(t)), { "error train.candidate-mismatch project/Trustee" })
end)

test("a commit is one commit, however many digits and in which case it is written", function()
  local whole = train({ tags = { { project = "Trustee", tag = "v0.17.0", commit = B:sub(1, 12) } },
    freeze = { project = "Trustee", baseCommit = B:sub(1, 7):upper() } })
  whole.projects[3].candidate, whole.projects[3].release = B:sub(1, 9):upper(), "v0.17.0"
  expect_equal(said(policy.train.check(whole)), {})
  pin(whole, "Kata", "Trustee", "version", B:upper())
  expect_equal(said(policy.train.check(whole)), {})
  -- Consent to it is consent to the commit.
  local same = train()
  same.projects[3].candidate = B:sub(1, 9)
  expect_equal(policy.train.check(same).hash, policy.train.check(train()).hash)
  -- Digits that begin two commits name neither.
  same.tags = { { project = "Trustee", tag = "v0.16.0", commit = ("b"):rep(39) .. "a" } }
  expect_true(find(policy.train.check(same), "train.ambiguous-commit"))
  -- A candidate may be the name of a tag, too.
  local tagged = train({ tags = { { project = "Trustee", tag = "v0.17.0", commit = B } } })
  tagged.projects[3].candidate = "v0.17.0"
  expect_equal(said(policy.train.check(tagged)), {})
end)

test("an image that is named without a tag follows its version", function()
  local function images(value) return said(policy.train.check(pin(train(), "Kata", "Trustee", "images.kbs", value))) end
  expect_equal(images("ghcr.io/x/staged-images/kbs-grpc-as"), {})
  expect_equal(images("localhost:5000/staged-images/kbs"), {})
  expect_equal(images("ghcr.io/x/staged-images/kbs-grpc-as:" .. B), {})
  expect_equal(images(B), {})
  expect_equal(images("ghcr.io/x/staged-images/kbs-grpc-as:" .. D), { "error train.pin-in-sync pin/Kata/Trustee.images.kbs" })
end)

test("odd and even are about the minor, whichever release the list begins with", function()
  local function next_of(cadence, ...)
    local t = train({ cadence = cadence, releases = {} })
    for i, tag in ipairs({ ... }) do t.releases[i] = { tag = tag } end
    local answer = policy.train.plan(t)
    return (find(answer, "train.off-cadence") and "off " or "") .. answer.next
  end
  expect_equal(next_of("odd", "3.21.0", "3.22.0", "3.23.0"), "3.25.0")
  expect_equal(next_of("odd", "3.22.0", "3.23.0", "3.24.0", "3.25.0"), "3.25.0")
  expect_equal(next_of("even", "3.22.0", "3.23.0"), "off 3.24.0")
  expect_equal(next_of("even", "3.23.0", "3.24.0"), "off 3.24.0")
end)

test("releases stand in their order, the latest last", function()
  local function told(releases)
    local found = find(policy.train.check(train({ releases = releases })), "train.schema")
    return found and found.why
  end
  expect_equal(told({ { tag = "3.22.0" }, { tag = "3.23.0" } }), nil)
  expect_equal(told({ { tag = "3.23.0" }, { tag = "3.22.0" } }), "3.22.0 stands behind 3.23.0, which is later: the latest release is the last")
  -- A patch of an older line may be the later one.
  expect_equal(told({ { tag = "3.23.0", date = "2026-01-01" }, { tag = "3.22.1", date = "2026-01-02" } }), nil)
  expect_equal(told({ { tag = "3.22.0", date = "2026-01-02" }, { tag = "3.23.0", date = "2026-01-01" } }),
    "3.23.0 stands behind 3.22.0, which is later: the latest release is the last")
end)

test("what has nothing to be compared with is said, and how far a mirror is behind", function()
  local t = train()
  t.projects[2].protocol = nil
  expect_equal(find(policy.train.check(t), "check.not-evaluated").why:match("^the document does not say which protocol"), "the document does not say which protocol")
  t = pin(pin(train(), "cloud-api-adaptor", "Trustee", "reference", D), "Kata", "Trustee", "version", nil)
  expect_true(find(policy.train.check(t), "check.not-evaluated", "pin/cloud-api-adaptor/Trustee.reference"))
  t = pin(train({ ancestry = { { project = "Trustee", from = B, to = D, ahead = 0, behind = 3 } } }), "cloud-api-adaptor", "Trustee", "reference", D)
  expect_true(find(policy.train.check(t), "train.pin-mismatch").why:find("behind 3", 1, true))
  t.ancestry = nil
  local unknown = find(policy.train.check(t), "train.pin-mismatch")
  expect_true(unknown.why:find("distance unknown", 1, true))
  expect_equal(unknown.clears, "let `train facts --clone Trustee=… --range Trustee=" .. B .. ".." .. D .. "` count the commits between them, or pin " .. B)
  t = train({ releases = { { tag = "3.21.0" }, { tag = "3.22.0" } }, since = "3.20.0" })
  local answer = policy.train.check(t)
  expect_equal(find(answer, "train.schema").why, "since: 3.20.0 is none of the listed releases")
  expect_equal(find(answer, "train.off-cadence").why, "3.23.0 is none of the listed releases")
  t.edges = { { from = "guest-components", to = "Trustee", kind = "strong" } }
  expect_equal(#policy.train.plan(t).edges, 8)
end)

test("who ships the bundle ships one of its releases", function()
  local t = train()
  for _, p in ipairs(t.pins) do
    if p.holder == "operator" and p.project == "Kata" then p.value = "kata-containers-" .. D end
  end
  local found = find(policy.train.check(t), "train.bundle-kind", "pin/operator/Kata.default")
  expect_equal({ found.severity, found.blocking }, { "warn", "approval" })
  -- The image tells as well, and so do charts.
  t = train()
  t.pins[5].image = "quay.io/kata-containers/kata-deploy-ci"
  expect_true(find(policy.train.check(t), "train.bundle-kind", "pin/operator/Kata.default"))
  t = pin(train(), "charts", "Kata", "version", "3.23.0-" .. D)
  expect_true(find(policy.train.check(t), "train.bundle-kind", "pin/charts/Kata.version"))
  t.phase = "planning"
  expect_equal(find(policy.train.check(t), "train.bundle-kind"), nil)
  t = train()
  t.projects[1].release = "kata-containers-latest"
  expect_true(find(policy.train.check(t), "train.bundle-kind", "project/Kata"))
end)

test("samples and charts are at the bundle of the train, and each that is not is named", function()
  local t = pin(train({ phase = "released" }), "charts", "Kata", "version", "3.21.0")
  for _, p in ipairs(t.pins) do
    if p.holder == "operator" and p.project == "Kata" then p.value = "3.22.0" end
  end
  local answer = policy.train.check(t)
  expect_equal(said(answer), { "error train.same-version pin/charts/Kata.version", "error train.same-version pin/operator/Kata.default",
    "error train.same-version pin/operator/Kata.peer-pods", "error train.same-version pin/operator/Kata.s390x" })
  expect_equal({ find(answer, "train.same-version", "pin/operator/Kata.s390x").from, find(answer, "train.same-version").to }, { "3.22.0", "3.23.0" })
  t.phase = "candidate"
  for _, one in ipairs(said(policy.train.check(t))) do expect_equal(one:match("^%l+"), "warn") end
  -- Two of them are a mistake at any time.
  pin(t, "operator", "Kata", "default", "3.23.0")
  expect_true(find(policy.train.check(t), "train.same-version", "pin/operator/Kata.s390x").severity == "error")
end)

test("enclave-cc's payload is that of its release", function()
  local t = train({ steps = { { id = "kata-pick", state = "done", evidence = "3.23.0" } } })
  t.projects[4] = { name = "enclave-cc", release = "v0.11.0" }
  pin(t, "operator", "runtime-payload", "enclave-cc/sim", "enclave-cc-SIM-sample-kbc-v0.11.0")
  local answer = policy.train.plan(t)
  expect_equal(said(answer), {})
  expect_equal({ answer.steps[3].id, answer.steps[3].state }, { "enclave-cc", "done" })
  t.projects[4].release = "v0.12.0"
  answer = policy.train.plan(t)
  expect_true(find(answer, "train.same-version", "pin/operator/runtime-payload.enclave-cc/sim"))
  expect_equal(answer.steps[3].state, "blocked")
end)

local function states(answer)
  local all = {}
  for _, s in ipairs(answer.steps) do all[s.id] = s end
  return all
end

test("a step stands on its suites and pins, not on a tick", function()
  local steps = {}
  for _, s in ipairs(require("tables").steps.after) do steps[#steps + 1] = { id = s.id, state = "done", evidence = "x" } end
  local t = train({ steps = steps, suites = { { id = "kata-ci", project = "Kata", result = "failed" } } })
  local s = states(policy.train.plan(t))
  for id, row in pairs(s) do expect_true(row.state ~= "done", id) end
  expect_equal(s["kata-pick"].why, "suite kata-ci of Kata: failed")
  for _, tick in ipairs(t.steps) do
    if tick.id == "kata-pick" then tick.evidence = "3.23.0" end
    if tick.id == "bundle-pr" then tick.evidence = "https://example.com/pull/7" end
  end
  -- No suite at all proves no bundle; one of another content, or of other projects, neither.
  t.suites = {}
  expect_equal(states(policy.train.plan(t))["bundle-pr"].why, "no suite of Kata, operator, charts passed")
  t.suites = { { id = "spelling", project = "confidentialcontainers.org", result = "passed" } }
  expect_equal(states(policy.train.plan(t))["bundle-pr"].state, "ready")
  t.suites = { { id = "kata-ci", project = "Kata", result = "passed", contentHash = "another" } }
  expect_true(states(policy.train.plan(t))["kata-pick"].state ~= "done")
  t.suites = { { id = "kata-ci", project = "Kata", result = "passed" } }
  expect_equal(states(policy.train.plan(t))["bundle-pr"].state, "done")
  -- Samples at an older bundle are to be done.
  for _, p in ipairs(t.pins) do
    if p.holder == "operator" and p.project == "Kata" then p.value = "3.22.0" end
  end
  s = states(policy.train.plan(t))
  expect_equal(s["bundle-pr"].state, "ready")
  expect_true(s["bundle-pr"].why:find("3.22.0", 1, true), s["bundle-pr"].why)
  -- Nothing says which bundle is shipped.
  for i = #t.pins, 1, -1 do
    if t.pins[i].holder == "operator" and t.pins[i].project == "Kata" then table.remove(t.pins, i) end
  end
  expect_true(states(policy.train.plan(t))["bundle-pr"].why:find("nothing to look at", 1, true))
end)

test("each step has a proof of its own", function()
  local t = train({ tags = {
    { project = "confidential-containers", tag = "v1.0.0", commit = A }, { project = "operator", tag = "v1.0.0", digest = "sha256:12" },
    { project = "guest-components", tag = "v0.16.0", commit = A }, { project = "Trustee", tag = "v0.17.0", commit = B },
    { project = "confidentialcontainers.org", tag = "v1.0.0", commit = D },
    { project = "cloud-api-adaptor", tag = "src/cloud-api-adaptor/v1", commit = D }, { project = "cloud-api-adaptor", tag = "src/cloud-providers/v1", commit = D },
    { project = "cloud-api-adaptor", tag = "src/peerpod-ctrl/v1", commit = D }, { project = "cloud-api-adaptor", tag = "src/webhook/v1", commit = D },
  }, images = {}, steps = {
    { id = "kata-pick", state = "done", evidence = "3.23.0" }, { id = "bundle-pr", state = "done", pr = "https://example.com/pull/7" },
    { id = "bundle-release", state = "done", evidence = "v1.0.0" }, { id = "peerpods", state = "done", evidence = "v1" },
    { id = "notes", state = "done", evidence = "v1.0.0" }, { id = "revert-ci", state = "done", evidence = D },
    { id = "gc-tag", state = "done", evidence = "v0.16.0" }, { id = "gc-release", state = "done", evidence = "v0.16.0" },
    { id = "trustee-tag", state = "done", evidence = "v0.17.0" }, { id = "trustee-release", state = "done", evidence = "v0.17.0" },
    { id = "trustee-images", state = "done", evidence = "v0.17.0" }, { id = "site-tag", state = "done", evidence = "v1.0.0" } } })
  for _, row in ipairs(require("tables").promote) do
    for _, arch in ipairs(row.arches) do
      t.images[#t.images + 1] = { ref = row.to:gsub("{}", "v0.17.0") .. "-" .. arch, digest = "sha256:1" }
    end
  end
  local s = states(policy.train.plan(t))
  for id, row in pairs(s) do expect_equal(id .. " " .. row.state .. " " .. row.why, id .. " done ") end
  -- Take away what proves one, and it is not done.
  local images, tags = t.images, t.tags
  t.images = {}
  expect_equal(states(policy.train.plan(t))["trustee-images"].state, "ready")
  t.images = images
  for i, step in ipairs({ "notes", "bundle-release", "gc-tag", "trustee-tag", "site-tag", "peerpods", "peerpods", "peerpods", "peerpods" }) do
    t.tags = {}
    for j, tag in ipairs(tags) do
      if j ~= i then t.tags[#t.tags + 1] = tag end
    end
    expect_true(states(policy.train.plan(t))[step].state ~= "done", step)
  end
  t.tags = tags
  for _, tick in ipairs(t.steps) do
    local kept = tick.evidence
    if tick.id ~= "bundle-pr" then
      tick.evidence = "x"
      expect_true(states(policy.train.plan(t))[tick.id].state ~= "done", tick.id)
      tick.evidence = kept
    end
  end
end)

test("an approval that is outstanding holds its step, and people are told who does what", function()
  local t = train({ steps = { { id = "kata-pick", state = "done", evidence = "3.23.0", owner = "ana", pr = "pull/1", approval = "needed" } } })
  local row = policy.train.plan(t).steps[1]
  expect_equal({ row.state, row.why, row.owner, row.pr, row.approval }, { "ready", "its approval is outstanding", "ana", "pull/1", "needed" })
  t.steps[1].approval = "bo"
  expect_equal(policy.train.plan(t).steps[1].state, "done")
end)

test("consent is to the whole bundle", function()
  local function hash(change)
    local t = train({ tags = { { project = "Trustee", tag = "v0.17.0", commit = B } } })
    if change then change(t) end
    return policy.train.check(t).hash
  end
  local is = hash()
  expect_true(hash(function(t) t.projects[1].release = "3.32.0" end) ~= is)
  expect_true(hash(function(t) t.projects[1].candidate = nil end) ~= hash(function(t)
    t.projects[1].candidate = nil
    t.projects[1].release = "3.32.0"
  end))
  expect_true(hash(function(t) t.projects[2].candidate = D end) ~= is)
  expect_true(hash(function(t) pin(t, "operator", "Kata", "s390x", "3.22.0") end) ~= is)
  expect_true(hash(function(t) pin(t, "cloud-api-adaptor", "Trustee", "reference", D) end) ~= is)
  -- Another name of the same commit, and another order, are no other content.
  expect_equal(hash(function(t) pin(t, "Kata", "Trustee", "version", "v0.17.0") end), is)
  expect_equal(hash(function(t) t.pins[1], t.pins[5] = t.pins[5], t.pins[1] end), is)
  expect_equal(hash(function(t) t.train, t.phase = "v2", "released" end), is)
end)

local function promoted(more)
  local t = train(more)
  t.images, t.promote = {}, { project = "Trustee", tag = "v0.17.0" }
  for _, row in ipairs(require("tables").promote) do
    for _, arch in ipairs(row.arches) do t.images[#t.images + 1] = { ref = row.from:gsub("{}", B) .. "-" .. arch, digest = "sha256:" .. #t.images } end
  end
  return t
end

test("only a suite that passed for this content spares the second test", function()
  local t = promoted()
  local hash = policy.train.check(t).hash
  local function retest(...)
    t.suites = { ... }
    return policy.train.promote(t).retest
  end
  local kata = { id = "kata-ci", project = "Kata", result = "passed", contentHash = hash }
  expect_equal(retest(kata), "skipped")
  expect_equal(retest(), "required")
  expect_equal(retest({ id = "kata-ci", project = "Kata", result = "passed" }), "required")
  expect_equal(retest({ id = "spelling", project = "confidentialcontainers.org", result = "passed", contentHash = hash }), "required")
  expect_equal(retest({ id = "spelling", result = "passed" }), "required")
  expect_equal(retest(kata, { id = "pair:guest-components+Trustee", result = "passed", contentHash = "another" }), "required")
  expect_equal(retest(kata, { id = "pair:guest-components+Trustee", result = "passed", contentHash = hash }), "skipped")
  -- Another project's is not waited for; a pass stays one when the same content fails later.
  expect_equal(retest(kata, { id = "spelling", project = "confidentialcontainers.org", result = "failed" }), "skipped")
  expect_equal(retest(kata, { id = "kata-ci", project = "Kata", result = "failed", contentHash = hash }), "skipped")
  expect_equal(retest({ id = "kata-ci", project = "Kata", result = "failed", contentHash = hash }), "required")
end)

test("a pair was tested as it is, or it was not", function()
  local t = train()
  t.projects[2].evidence, t.projects[3].evidence = nil, nil
  local function warned(suite)
    t.suites = { suite }
    return find(policy.train.check(t), "train.evidence-skew") ~= nil
  end
  expect_equal(warned({ id = "pair:guest-components+Trustee", result = "passed" }), false)
  expect_equal(warned({ id = "pair:guest-components+Trustee", result = "passed", contentHash = policy.train.check(t).hash }), false)
  expect_equal(warned({ id = "pair:guest-components+Trustee", result = "passed", contentHash = "another" }), true)
  expect_equal(warned({ id = "pair:guest-components+Trustee", result = "failed" }), true)
  -- A former train tells what moved as well as `was` does. A suite that does not say what it tested may have tested what was before.
  for _, before in ipairs({ "former", "was" }) do
    t = train()
    t.pins[2][before] = D
    local hash = policy.train.check(t).hash
    for _, case in ipairs({ { nil, true }, { "", true }, { "another", true }, { hash, false } }) do
      t.suites = { case[1] and { id = "pair:Trustee+guest-components", result = "passed", contentHash = case[1] } }
      expect_equal(find(policy.train.check(t), "train.pair-moved-alone", "pin/Kata/Trustee.version") ~= nil, case[2])
    end
  end
end)

test("what cannot be compared with Kata's pin is tested again", function()
  local t = promoted({ tags = { { project = "Trustee", tag = "v0.16.9", commit = B } } })
  pin(t, "Kata", "Trustee", "version", "v0.16.9")
  t.suites = { { id = "kata-ci", project = "Kata", result = "passed", contentHash = policy.train.check(t).hash } }
  expect_equal(policy.train.promote(t).retest, "skipped")
  t.tags = {}
  t.suites[1].contentHash = policy.train.check(t).hash
  local answer = policy.train.promote(t)
  expect_equal({ answer.retest, find(answer, "train.retest-required").subject }, { "required", "pin/Kata/Trustee.version" })
end)

test("only images of the project are promoted", function()
  local t = promoted()
  t.promote.project = "guest-components"
  local answer = policy.train.promote(t)
  expect_equal({ #answer.retag, find(answer, "train.schema").why }, { 0, "tables.lua promotes no image of it: there is nothing to give a name" })
  t.promote = { project = "Trustee", tag = "" }
  expect_equal(find(policy.train.promote(t), "train.schema").why, "no tag is named")
  -- A release has a tag of its own, that the name of an image can have.
  for _, tag in ipairs({ "latest", "main", "v1 0", "../x", "-v1", "v0.17.0%1", ("v"):rep(101) }) do
    t.promote.tag = tag
    answer = policy.train.promote(t)
    expect_equal({ #answer.retag, find(answer, "train.schema").subject }, { 0, "project/Trustee" }, tag)
  end
end)

test("what a frozen project is pinned by, and what it pins, does not move", function()
  local t = train({ freeze = { project = "Trustee", baseCommit = B } })
  expect_equal(said(policy.train.check(t)), {})
  -- To the frozen commit it may.
  t.pins[2].was = D
  expect_equal(find(policy.train.check(t), "train.frozen"), nil)
  pin(t, "Kata", "Trustee", "version", A)
  expect_equal(find(policy.train.check(t), "train.frozen").subject, "pin/Kata/Trustee.version")
  t.freeze.fixup = "a crash"
  t.suites = { { id = "kata-ci", project = "Kata", result = "passed" }, { id = "site", project = "confidentialcontainers.org", result = "passed" },
    { id = "pair:guest-components+Trustee", result = "passed" } }
  expect_equal(find(policy.train.check(t), "train.frozen"), nil)
  expect_equal(policy.train.plan(t).void, { "kata-ci", "pair:guest-components+Trustee" })
  t = train({ freeze = { project = "Kata", baseCommit = C } })
  t.pins[1].was = D
  expect_equal(find(policy.train.check(t), "train.frozen").subject, "pin/Kata/guest-components.version")
  t.freeze.baseCommit = nil
  expect_true(find(policy.train.check(t), "check.not-evaluated", "project/Kata"))
end)

test("a branch may go on, a lock may not", function()
  local t = train({ freeze = { project = "Kata", baseCommit = C, mode = "branch" } })
  t.projects[1].candidate = D
  expect_true(find(policy.train.check(t), "train.candidate-moved").why:find("no ancestry says", 1, true))
  t.ancestry = { { project = "Kata", from = C, to = D, ahead = 2, behind = 0 } }
  expect_equal(find(policy.train.check(t), "train.candidate-moved"), nil)
  expect_equal(policy.train.plan(t).void, { "kata-ci" })
  t.ancestry[1].behind = 1
  expect_true(find(policy.train.check(t), "train.candidate-moved").why:find("not on the line", 1, true))
  t = train({ freeze = { project = "Kata", baseCommit = C, mode = "lock" } })
  t.projects[1].head = D
  expect_equal(find(policy.train.check(t), "train.frozen").why, "its main branch is locked, and its head moved")
  t.freeze.mode = "commit"
  expect_equal(find(policy.train.check(t), "train.frozen"), nil)
end)

test("a lock has a window, to the second and in any zone", function()
  local function bumped(now)
    local t = train({ now = now, bump = "Trustee",
      freeze = { project = "Kata", baseCommit = C, mode = "lock", since = "2026-11-20T00:30:00+02:00", ["until"] = "2026-11-22" } })
    local answer = policy.train.check(t)
    return find(answer, "train.frozen") ~= nil, find(answer, "train.freeze-stale") ~= nil, find(answer, "train.locked") ~= nil
  end
  expect_equal({ bumped("2026-11-19T22:29:59Z") }, { false, false, false })
  expect_equal({ bumped("2026-11-19T22:30:00Z") }, { true, false, true })
  expect_equal({ bumped("2026-11-22T23:59:59Z") }, { true, false, true })
  expect_equal({ bumped("2026-11-23T00:59:59+01:00") }, { true, false, true })
  expect_equal({ bumped("2026-11-23T00:00:00Z") }, { false, true, false })
  local t = train({ freeze = { project = "Kata", baseCommit = C, since = "soon", ["until"] = "2026-02-30" } })
  local places = {}
  for _, f in ipairs(policy.train.check(t).findings) do
    if f.id == "train.schema" then places[#places + 1] = f.evidence end
  end
  expect_equal(places, { "train: freeze.since", "train: freeze.until" })
  t.freeze.since, t.freeze["until"] = "2026-11-25", "2026-11-24"
  expect_equal(find(policy.train.check(t), "train.schema").why, "it ends 2026-11-24, before it begins 2026-11-25")
  t.freeze["until"] = "2026-11-25"
  expect_true(find(policy.train.check(t), "train.schema") == nil)
end)

test("an unknown name is reported with the nearest known one", function()
  local function unknown(t)
    local list = {}
    for _, f in ipairs(policy.train.plan(t).findings) do
      if f.id == "train.unknown-name" then list[#list + 1] = f.severity .. " " .. f.evidence:gsub("^train: ", "") .. " " .. (f.to or "?") end
    end
    table.sort(list)
    return table.concat(list, "; ")
  end
  expect_equal(unknown(train({ freeze = { project = "kata", baseCommit = C } })), "error freeze.project Kata")
  expect_equal(unknown(train({ freeze = { project = "something", baseCommit = C } })), "error freeze.project ?")
  expect_equal(unknown(train({ bump = "Trusteee" })), "error bump Trustee")
  expect_equal(unknown(train({ steps = { { id = "gc-tagg", state = "done" } } })), "error steps[gc-tagg].id gc-tag")
  expect_equal(unknown(train({ steps = { { id = "notes", needs = { "bundel-pr" } } } })), "error steps[notes].needs bundle-pr")
  expect_equal(unknown(train({ suites = { { id = "ci", project = "Katta", result = "failed" } } })), "error suites[ci].project Kata")
  expect_equal(unknown(train({ suites = { { id = "pair:guest-component+Trustee", result = "passed" } } })),
    "error suites[pair:guest-component+Trustee].id guest-components")
  expect_equal(unknown(train({ edges = { { from = "Trustee", to = "operater", kind = "strong" } } })), "error edges[Trustee->operater].to operator")
  expect_equal(find(policy.train.plan(train({ order = "befor" })), "train.schema").to, "before")
  expect_equal(unknown(pin(train(), "mine", "Kata", "version", "3.23.0")), "warn pins[mine/Kata.version].holder ?")
  local t = pin(train(), "mine", "Kata", "version", "3.23.0")
  t.projects[4] = { name = "mine" }
  expect_equal(unknown(t), "")
  -- A project of the document's own that is nearly called as a known one, unless an edge says what it is.
  for _, case in ipairs({ { "Truste", "Trustee" }, { "guest_component", "guest-components" }, { "Katta", "Kata" }, { "KATA", "Kata" },
    { "enclave-c", "enclave-cc" }, { "Meta" }, { "Beta" }, { "mine" }, { "trustee-operator" } }) do
    t = train()
    t.projects[4] = { name = case[1], candidate = D }
    expect_equal(unknown(t), case[2] and "error projects[" .. case[1] .. "].name " .. case[2] or "")
    t.edges = { { from = case[1], to = "mine-too", kind = "strong" } }
    expect_true(not unknown(t):find("projects[", 1, true))
  end
  t = train()
  t.projects[4] = { name = "Truste" }
  expect_true(find(policy.train.check(t), "train.unknown-name").clears:find("draw an edge of Truste", 1, true))
  expect_true(find(policy.train.plan(train({ steps = { { id = "gc-tagg", state = "done" } } })), "train.unknown-name").clears:find("`needs`", 1, true))
  local answer = policy.train.check(train({ phaze = "candidate", phase = "candidat" }))
  expect_true(find(answer, "train.unknown-field").why:find("is it 'phase'?", 1, true))
  expect_true(find(answer, "train.schema").why:find("is it 'candidate'?", 1, true))
end)

test("guesses end where they cost too much", function()
  local guess = require("names").guess(100)
  local known = { abcdefgh = true, xyz = true }
  expect_equal({ guess("abcdefgi", known) }, { "; is it 'abcdefgh'?", "abcdefgh" })
  expect_equal({ guess("abcdefgi", known) }, { "" })
  expect_equal({ guess("xy", known) }, { "" })
end)

test("a list is a list, and a mapping a mapping", function()
  local function places(more)
    local list = {}
    for _, f in ipairs(policy.train.check(train(more)).findings) do
      if f.id == "train.schema" then list[#list + 1] = f.evidence:gsub("^train: ", "") end
    end
    return list
  end
  expect_equal(places({ projects = { Kata = { release = "3.23.0" } } }), { "projects" })
  expect_equal(places({ pins = { Kata = "3.23.0" } }), { "pins" })
  expect_equal(places({ freeze = { { project = "Kata" } } }), { "freeze" })
  expect_equal(places({ steps = { { id = "notes", needs = "gc-tag" } } }), { "steps[1].needs" })
  expect_equal(places({ steps = { { id = "notes", needs = { "" } } } }), { "steps[1].needs" })
  expect_equal(places({ train = { "v1" } }), { "train" })
  expect_equal(places({ present = { a = "b" } }), { "present" })
end)

test("a pin that is given twice has one value, whichever comes first", function()
  local function twice(value, swap)
    local t = train()
    table.insert(t.pins, swap and 1 or #t.pins + 1, { holder = "Kata", project = "Trustee", field = "version", value = value })
    return policy.train.check(t)
  end
  expect_equal(find(twice(B), "train.schema"), nil)
  local found = find(twice(D), "train.schema")
  expect_equal({ found.evidence, found.severity }, { "train: pins[Kata/Trustee.version]", "error" })
  expect_true(find(twice(D, true), "train.schema"))
  -- What only one of them says counts.
  local t = train()
  t.pins[#t.pins + 1] = { holder = "Kata", project = "Trustee", field = "version", value = B, was = D }
  expect_true(find(policy.train.check(t), "train.pair-moved-alone"))
end)

test("a document's edges add to the stock ones unless it says only", function()
  local function order(edges) return policy.train.plan(train({ edges = edges })).order end
  expect_true(#order({ { from = "td-shim", to = "Kata", kind = "strong" } }) > 5)
  expect_equal(order({ only = { { from = "td-shim", to = "Kata", kind = "strong" } } }), { "td-shim", "Kata" })
  -- Of an edge that both have the document's counts; a pair puts nothing in order.
  local t = train({ edges = { { from = "operator", to = "Kata", kind = "strong" } } })
  expect_true(find(policy.train.plan(t), "train.cycle"))
  t.edges[2] = { from = "Kata", to = "operator", kind = "weak" }
  expect_equal(find(policy.train.plan(t), "train.cycle"), nil)
  t.edges = { only = { { from = "Trustee", to = "guest-components", kind = "pair" }, { from = "guest-components", to = "Trustee", kind = "pair" } } }
  expect_equal(find(policy.train.plan(t), "train.cycle"), nil)
end)

test("a document's own steps stand behind what they need", function()
  local t = train({ steps = { { id = "blog", needs = { "kata-pick" }, state = "done", pr = "pull/9" }, { id = "kata-pick", state = "done", evidence = "3.23.0" },
    { id = "bundle-pr", needs = { "blog" } } } })
  local s = states(policy.train.plan(t))
  expect_equal({ s.blog.state, s["bundle-pr"].needs }, { "done", { "nydus-check", "blog" } })
  t.steps[1].needs = { "notes" }
  expect_true(find(policy.train.plan(t), "step.cycle").why:find("blog", 1, true))
end)

test("upstream's names of a pin are known", function()
  for _, field in ipairs({ "kbs_protocol", "kms", "client-tool" }) do
    local t = pin(train(), "Trustee", "guest-components", field, D)
    expect_equal(find(policy.train.check(t), "train.weak-stale").subject, "pin/Trustee/guest-components." .. field)
  end
end)

test("the trains of two passes have their steps", function()
  local answer = policy.train.plan(train({ order = "two-pass" }))
  expect_equal({ #answer.steps, answer.steps[1].state, answer.steps[#answer.steps].id }, { 23, "ready", "hub" })
end)

test("tables that mean something else than they say are refused with the line", function()
  local text = file("tables.lua")
  local function wrong(change)
    local t = copy(require("tables"))
    change(t)
    return table.concat(problems(t, text), "; ")
  end
  expect_equal(wrong(function() end), "")
  local function expect(part, change) expect_true(wrong(change):find(part, 1, true), wrong(change)) end
  expect("steps.after[nydus-check].needs: there is no step 'kata-pik'; is it 'kata-pick'?", function(t) t.steps.after[2].needs = { "kata-pik" } end)
  expect("edges[1].kind: there is no kind of an edge 'waek'; is it 'weak'?", function(t) t.edges[1].kind = "waek" end)
  expect("edges[1].from: there is no project 'Trusteee'", function(t) t.edges[1].from = "Trusteee" end)
  expect("severities[train.skew]: there is no severity 'eror'; is it 'error'?", function(t) t.severities["train.skew"] = "eror" end)
  expect("nothing proves it", function(t) t.steps.after[1].proof = nil end)
  expect("there is no proof 'lnk'; is it 'link'?", function(t) t.steps.after[1].proof = "lnk" end)
  expect("two checks nydus", function(t) t.same_version[2].name = "nydus" end)
  expect("a check has a name", function(t) t.mirrors[1].name = nil end)
  expect("two steps kata-pick", function(t) t.steps.after[2].id = "kata-pick" end)
  expect("there is no check 'nydsu'", function(t) t.steps.after[2].check = { "nydsu" } end)
  expect("there is no field of a step 'need'", function(t) t.steps.after[2].need = {} end)
  expect("has no {} for the version", function(t) t.in_sync[1].forms = { "x" } end)
  expect("it has no architectures", function(t) t.promote[1].arches = {} end)
  expect("to has no {}", function(t) t.promote[1].to = "x" end)
  expect("is about a project, and none is named", function(t) t.steps.after[6].project = nil end)
  -- The line is that of the word.
  local lines, at = 0, nil
  local misspelt = text:gsub('kind = "weak"', 'kind = "waek"')
  for line in misspelt:gmatch("(.-)\n") do
    lines = lines + 1
    if line:find("waek", 1, true) then at = lines end
  end
  local t = copy(require("tables"))
  for _, edge in ipairs(t.edges) do
    if edge.kind == "weak" then edge.kind = "waek" end
  end
  expect_equal(problems(t, misspelt)[1]:match("^tables.lua:%d+"), "tables.lua:" .. at)
end)
