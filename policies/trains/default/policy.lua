-- trains/default: whether what is released together fits together, what to do next, and what need not be tested twice.
--
-- The projects, edges, checks, steps and images are lines of tables.lua.
local consistency = require("consistency")
local facts = require("facts")
local match = require("match")
local promotion = require("promote")
local steps = require("steps")

-- All hooks are asked about a train document as it was read: train, phase, projects, pins, edges, steps, suites, freeze, and
-- what is known of foreign projects: tags, ancestry, images, releases, present. See facts.lua for the fields.

-- check(train): { findings, checks (name, result), hash (what suites and waivers are bound to) }
local function check(document)
  local list, add = facts.findings()
  local train = facts.read(document, add)
  local results = consistency.check(train, add)
  steps.freeze(train, add)
  steps.cadence(train, add)
  return { checks = results, hash = promotion.hash(train), findings = list }
end

-- plan(train): check, and { steps (id, state, why, needs), void (suites), order (projects), next (release of the bundle), earliest (the day
-- from which a train may ride on it) }
local function plan(document)
  local list, add = facts.findings()
  local train = facts.read(document, add)
  local results = consistency.check(train, add)
  local next_release, earliest = steps.cadence(train, add)
  return { checks = results, steps = steps.plan(train, results, add), void = steps.freeze(train, add),
    next = next_release, earliest = earliest, hash = promotion.hash(train), findings = list,
    order = consistency.order(consistency.edges(train), function() end, train.file) }
end

-- promote(train): check, with project and tag to give; { retag (from, to, arch, digest), indexes (to, parts: from, digest, architecture),
-- retest, hash, findings }
local function promote(document)
  local list, add = facts.findings()
  local train = facts.read(document, add)
  local wanted = train.promote or {}
  consistency.check(train, add)
  steps.cadence(train, add)
  local out = promotion.plan(train, wanted.project, wanted.tag, steps.freeze(train, add), add)
  out.findings = list
  return out
end

-- match(train): with match (client, server, bundle or train) and trains (what was released together); { matches (train, bundle,
-- client, server, how), findings }
local function fitting(document)
  local list, add = facts.findings()
  local train = facts.read(document, add)
  return { matches = match.find(train, add), findings = list }
end

return {
  name = "trains/default",
  version = "1",
  order = 1000,
  train = { check = check, plan = plan, promote = promote, match = fitting },
}
