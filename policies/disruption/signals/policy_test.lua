local policy = require("policy")
local settings = require("signals")

local now = { unix = 1795428000 }

-- The settings are those of the pack, and may be an operator's own: each test brings its signals.
local function admit(signals, seen, more)
  local kept = { settings.signals, settings.soak_seconds }
  settings.signals, settings.soak_seconds = signals, 600
  local fleet = { signals = seen, updated = 1 }
  for key, value in pairs(more and more.fleet or {}) do fleet[key] = value end
  local answer = policy.disruption.admit({ name = "w1" }, more and more.peers or {}, fleet, now)
  settings.signals, settings.soak_seconds = kept[1], kept[2]
  return answer
end
local errors = { { name = "errors", at_most = 0.01 } }
local function value(v, more)
  local seen = { value = v, lowest = v, highest = v, covers = 600, age = 3 }
  for key, other in pairs(more or {}) do seen[key] = other end
  return { errors = seen }
end

test("inside of its bounds for the soak it goes on", function()
  expect_equal(admit(errors, value(0.01)), { admit = true })
  expect_equal(admit({ { name = "errors", at_least = 1 } }, value(1)), { admit = true })
end)

test("outside it is held with value and bound, and halts what has begun", function()
  local answer = admit(errors, value(0.2))
  expect_equal(answer.code, "signal-bad")
  expect_equal(answer.reason, "errors is 0.2, at most 0.01 is allowed (seen 3 s ago)")
  expect_equal(answer.halt, true)
  expect_equal(admit({ { name = "errors", at_least = 1 } }, value(0.5)).reason,
    "errors is 0.5, at least 1 is needed (seen 3 s ago)")
end)

test("before a unit has moved nothing halts", function()
  local answer = admit(errors, value(0.2), { fleet = { updated = 0 } })
  expect_equal(answer.code, "signal-bad")
  expect_equal(answer.halt, false)
end)

test("unknown is never a yes, and halts nothing", function()
  local answer = admit(errors, { errors = { unknown = "the query finds nothing" } })
  expect_equal(answer.code, "signal-unknown")
  expect_equal(answer.reason, "errors is unknown: the query finds nothing")
  expect_equal(answer.halt, nil)
  expect_equal(admit(errors, {}).code, "signal-unknown")
  expect_equal(admit({}, {}).code, "signal-unknown")
end)

test("a bad signal counts more than an unknown one before it", function()
  local two = { { name = "latency", at_most = 1 }, errors[1] }
  expect_equal(admit(two, value(0.2)).code, "signal-bad")
  expect_equal(admit(two, value(0)).code, "signal-unknown")
end)

test("what was outside within the soak waits, and halts no more", function()
  local answer = admit(errors, value(0, { highest = 0.3 }))
  expect_equal(answer.code, "SignalSoak")
  expect_equal(answer.reason, "errors was 0.3, at most 0.01 is allowed, within the last 600 s")
  expect_equal(answer.halt, nil)
end)

test("it is watched for the whole soak first", function()
  expect_equal(admit(errors, value(0, { covers = 60 })).reason, "errors has been watched for 60 of 600 s")
end)

test("after a unit has moved the soak begins", function()
  local peers = { { name = "w0", state = "UpToDate", since = now.unix - 200 }, { name = "w2", state = "UpToDate", since = now.unix - 900 } }
  expect_equal(admit(errors, value(0), { peers = peers }).reason, "w0 has moved and is watched for another 400 s")
  peers[1].since = now.unix - 600
  expect_equal(admit(errors, value(0), { peers = peers }).admit, true)
end)

local function revision(clusters, signals)
  local kept = { settings.signals, settings.soak_seconds }
  settings.signals, settings.soak_seconds = signals or errors, 600
  local answer = policy.fleet.revision({ digest = "new" }, clusters, now)
  settings.signals, settings.soak_seconds = kept[1], kept[2]
  return answer
end
local function cluster(name, has, state, signals, since)
  return { name = name, has = has, state = state, since = since or 0, signals = signals }
end

test("a wave goes on while the clusters that have the revision are fine for the soak", function()
  local first = cluster("c1", "new", "Ready", value(0), now.unix - 600)
  expect_equal(revision({ first, cluster("c2", "old", "Waiting", value(0)) }), { holds = {} })
  first.since = now.unix - 100
  local answer = revision({ first, cluster("c2", "old", "Waiting", value(0)) })
  expect_equal(answer.holds.c2, { code = "SignalSoak", reason = "c1: it has the revision and is watched for another 500 s" })
end)

test("one bad cluster that has the revision holds all others, and says which", function()
  local answer = revision({ cluster("c1", "new", "Ready", { errors = { unknown = "no answer" } }), cluster("c2", "new", "Moving", value(0.2)),
    cluster("c3", "old", "Waiting", value(0)), cluster("c4", "", "Waiting", {}) })
  local bad = { code = "signal-bad", reason = "c2: errors is 0.2, at most 0.01 is allowed (seen 3 s ago)" }
  expect_equal(answer.holds, { c3 = bad, c4 = bad })
  expect_equal(answer.look_again, settings.look_again)
end)

test("a cluster waits for its own signals, unless it has nothing yet", function()
  local answer = revision({ cluster("c1", "old", "Waiting", value(0.2)), cluster("c2", "old", "Waiting", {}), cluster("c3", "", "Waiting", {}) })
  expect_equal(answer.holds.c1.code, "signal-bad")
  expect_equal(answer.holds.c2.code, "signal-unknown")
  expect_equal(answer.holds.c3, nil)
end)

test("a cluster that is away says nothing", function()
  expect_equal(revision({ cluster("c1", "new", "Away", {}), cluster("c2", "old", "Waiting", value(0)) }).holds, {})
end)

test("the way back is not held up", function()
  expect_equal(admit(errors, value(0.2), { fleet = { returning = true } }), { admit = true })
end)
