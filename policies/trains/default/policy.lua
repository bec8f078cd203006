-- trains/default: whether what is released together fits together, what to do next, and what need not be tested twice.
--
-- The projects, edges, checks, steps and images are lines of tables.lua.
local consistency = require("consistency")
local facts = require("facts")
local freeze = require("freeze")
local match = require("match")
local promotion = require("promote")
local reading = require("reading")
local steps = require("steps")

local mistakes = require("validate")(require("tables"), file("tables.lua"))
if #mistakes > 0 then error(table.concat(mistakes, "\n"), 0) end

-- All hooks are asked about a train document as it was read: train, phase, projects, pins, edges, steps, suites, freeze, and
-- what is known of foreign projects: tags, ancestry, images, releases, present. See facts.lua for the fields.

-- What every hook that judges a train looks at: the findings, how to add one, the train and the comparisons.
local function judged(document)
  local list, add = facts.findings()
  local train = facts.read(document, add)
  train.void = freeze.void(train)
  local results = consistency.check(train, add)
  freeze.check(train, add)
  local next_release, earliest = freeze.cadence(train, add)
  return { list = list, add = add, train = train, results = results, next = next_release, earliest = earliest }
end

-- check(train): { findings, rules (every id that a finding may have), checks (name, result, saw: what was compared), hash (what suites
-- and waivers are bound to) }
local function check(document)
  local j = judged(document)
  return { checks = j.results, hash = j.train.hash, findings = j.list, rules = facts.rules }
end

-- plan(train): check, and { steps (id, state, why, needs, …), void (suites), order and edges of projects, next (release of the bundle), earliest (the day
-- from which a train may ride on it) }
local function plan(document)
  local j = judged(document)
  return { checks = j.results, steps = steps.plan(j.train, j.results, j.add), void = j.train.void, next = j.next, earliest = j.earliest,
    hash = j.train.hash, findings = j.list, rules = facts.rules, edges = steps.edges(j.train), order = consistency.order(j.train.edges, function() end, j.train.file) }
end

-- promote(train): check, with project and tag to give; { retag (from, to, arch, digest), indexes (to, parts: from, digest, architecture),
-- retest, hash, findings }
local function promote(document)
  local j = judged(document)
  local wanted = j.train.promote or {}
  local out = promotion.plan(j.train, wanted.project, wanted.tag, j.add)
  out.checks, out.findings, out.rules = j.results, j.list, facts.rules
  return out
end

-- match(train): with match (client, server, bundle or train) and trains (what was released together); { matches (train, bundle,
-- client, server, how), findings }
local function fitting(document)
  local list, add = facts.findings()
  local train = facts.read(document, add)
  return { matches = match.find(train, add), findings = list }
end

-- sources(question: project, files: texts by name): { known: whether sources.lua has the project, near: the one that may be meant, files: which are read, pins, protocol,
-- absent: what none of them has }
local function read(question) return reading.read(question.project, question.files or {}) end

return {
  name = "trains/default",
  version = "1", api = 2,
  order = 1000,
  train = { check = check, plan = plan, promote = promote, match = fitting, sources = read },
}
