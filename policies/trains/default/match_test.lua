-- Which server fits a client, and what a document may say.
local policy = require("policy")

local function ids(answer)
  local all = {}
  for i, f in ipairs(answer.findings) do all[i] = f.id end
  return table.concat(all, " ")
end

local trains = {
  { train = "v0.16.0", bundle = "3.22.0", client = "v0.15.0", server = "v0.15.0", client_protocol = "0.2.0", server_protocol = "0.2.0" },
  { train = "v0.17.0", bundle = "3.23.0", client = "v0.16.0", client_commit = ("a"):rep(40), server = "v0.17.0",
    client_protocol = "0.4.0", server_protocol = "0.4.0" },
  { train = "v0.18.0", bundle = "3.24.0", client = "v0.16.1", server = "v0.17.0", server_protocol = "0.4.0" },
}

local function match(wanted, known)
  local answer = policy.train.match({ train = "?", trains = known or trains, match = wanted })
  local rows = {}
  for i, row in ipairs(answer.matches) do rows[i] = row.train .. " " .. row.server .. " " .. row.how end
  return rows, ids(answer), answer.findings[1] and answer.findings[1].why
end

test("what was released together fits together", function()
  expect_equal({ match({ client = "0.16.0" }) }, { { "v0.17.0 v0.17.0 released together" }, "" })
  expect_equal(match({ client = "AAAAAAA" }), { "v0.17.0 v0.17.0 released together" })
  expect_equal(match({ client = "aaaaaaa" }), { "v0.17.0 v0.17.0 released together" })
  expect_equal(match({ bundle = "3.22.0" }), { "v0.16.0 v0.15.0 released together" })
  expect_equal(match({ train = "v0.18.0" }), { "v0.18.0 v0.17.0 released together" })
  expect_equal(#match({ server = "v0.17.0" }), 2)
end)

test("an equal protocol is a hint and no proof", function()
  expect_equal({ match({ client = "0.99.0", protocol = "0.4.0" }) }, { { "v0.17.0 v0.17.0 speaks 0.4.0, not tested together" },
    "train.match-untested", "no train has it; protocols are equal, which does not prove that evidence is" })
end)

test("why none is known is said", function()
  expect_equal({ match({ client = "0.99.0" }) }, { {}, "train.match-none",
    "none of 3 trains has it, the last is v0.18.0, and no protocol is named (--protocol)" })
  expect_equal(select(3, match({ server = "0.99.0", protocol = "9" })),
    "none of 3 trains has it, the last is v0.18.0, and no client speaks 9")
  expect_equal(select(3, match({ bundle = "9" })), "none of 3 trains has it, the last is v0.18.0")
  expect_equal(select(3, match({ bundle = "9" }, {})), "no train is known")
end)

test("one question is asked at a time", function()
  expect_equal(select(3, match({})), "match: expected train, bundle, client or server")
  expect_equal(select(3, match({ client = "1", bundle = "2" })), "match: bundle and client: one of them is enough")
end)

test("each field is what it is said to be, and the others are named", function()
  local answer = policy.train.check({ train = "v1", phase = "late", colour = "red", freeze = { mode = "soft" }, promote = 7,
    present = "all", edges = { { from = "a", to = "b", kind = "firm" } }, ancestry = { { project = "a", from = "b", to = "c",
    ahead = "some" } }, releases = { { tag = "1", source = "git", at = "2026-11-22", size = "1" } } })
  local seen = {}
  for _, f in ipairs(answer.findings) do
    if f.id ~= "check.not-evaluated" then seen[#seen + 1] = f.severity .. " " .. f.evidence .. ": " .. f.why end
  end
  expect_equal(seen, {
    "error train: phase: phase: expected planning, candidate, frozen, released or post, got 'late'",
    "info train: colour: no document of this form has the field 'colour'",
    "error train: freeze.mode: mode: expected commit, branch, lock or none, got 'soft'",
    "error train: freeze.project: project is missing",
    "error train: promote: promote: expected a mapping",
    "error train: present: present: expected a list",
    "error train: ancestry[1].ahead: ahead: expected a number, got 'some'",
    "error train: edges[1].kind: kind: expected strong, weak, pair or same-version, got 'firm'",
    "info train: releases[1].size: no document of this form has the field 'size'",
  })
end)

local A, B, C = ("a"):rep(40), ("b"):rep(40), ("c"):rep(40)

local function lagging(value, more)
  local t = { train = "v1", projects = { { name = "guest-components", candidate = A } }, pins = {
    { holder = "Kata", project = "guest-components", field = "version", value = A },
    { holder = "Trustee", project = "guest-components", field = value and "client-tool" or "other", value = value or B } },
    ancestry = { { project = "guest-components", from = B, to = A, ahead = "4", behind = "0" } } }
  for key, v in pairs(more or {}) do t[key] = v end
  local answer = policy.train.check(t)
  for _, f in ipairs(answer.findings) do
    if f.id == "train.weak-stale" then return f.why end
  end
end

test("what may lag is told by how much", function()
  expect_equal(lagging(A), nil)
  expect_equal(lagging(B), "client-tool of Trustee uses another guest-components, 4 commits back")
  expect_equal(lagging(C), "client-tool of Trustee uses another guest-components")
  expect_equal(lagging(nil), "nothing pins guest-components for client-tool of Trustee")
end)

test("a tag stays where it is", function()
  local function promote(commit)
    return ids(policy.train.promote({ train = "v1", projects = { { name = "Trustee", candidate = A } }, promote = { project = "Trustee",
      tag = "v1.0.0" }, tags = { { project = "Trustee", tag = "v1.0.0", commit = commit } } }))
  end
  expect_true(promote(B):find("train.tag-exists", 1, true))
  expect_equal(promote(A):find("train.tag-exists", 1, true), nil)
end)

test("a freeze that tests what is released does not mind the candidate", function()
  local function frozen(mode)
    return ids(policy.train.check({ train = "v1", projects = { { name = "Kata", candidate = B } },
      freeze = { project = "Kata", baseCommit = A, mode = mode } })):find("train.candidate-moved", 1, true) ~= nil
  end
  expect_equal({ frozen("none"), frozen("commit") }, { false, true })
end)

test("what is said twice is said, where both cannot be true", function()
  local function places(more)
    local t, seen = { train = "v1" }, {}
    for key, value in pairs(more) do t[key] = value end
    for _, f in ipairs(policy.train.check(t).findings) do
      if f.id == "train.schema" then seen[#seen + 1] = f.evidence end
    end
    return seen
  end
  expect_equal(places({ projects = { { name = "Kata" }, { name = "Kata" } }, steps = { { id = "notes" }, { id = "notes" } } }),
    { "train: projects[Kata]", "train: steps[notes]" })
  expect_equal(places({ tags = { { project = "Kata", tag = "1", commit = A }, { project = "Kata", tag = "1", commit = A } },
    images = { { ref = "a", digest = "1" }, { ref = "a", digest = "1" } } }), {})
  expect_equal(places({ tags = { { project = "Kata", tag = "1", commit = A }, { project = "Kata", tag = "1", commit = B } },
    images = { { ref = "a", digest = "1" }, { ref = "a", digest = "2" } } }), { "train: images[a]", "train: tags[Kata 1]" })
end)
