-- The steps of a train: done by evidence, started by somebody who wrote down with what, ready when what they need is done, blocked
-- else.
local consistency = require("consistency")
local facts = require("facts")
local tables = require("tables")

local steps = {}

-- Days since 1970 of "2026-11-22…"; nil for anything else.
local function day_of(text)
  local y, m, d = (text or ""):match("^(%d%d%d%d)-(%d%d)-(%d%d)")
  if not y then return nil end
  y, m, d = tonumber(y), tonumber(m), tonumber(d)
  if m <= 2 then y = y - 1 end
  local era = math.floor(y / 400)
  local of_era = y - era * 400
  local of_year = math.floor((153 * (m + (m > 2 and -3 or 9)) + 2) / 5) + d - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end
steps.day_of = day_of

-- What a step takes from the train: { project, value } of each of its inputs that something names, in the order of the table.
local function inputs_now(train, step)
  local list = {}
  for _, project in ipairs(step.inputs or { step.pin }) do
    local pin = consistency.pinned(train, project, facts.ignore)
    if pin then list[#list + 1] = { project = project, value = pin.value } end
  end
  return list
end

-- What a step works with: what it was started with, once it is, whatever the train pins since; else what the train pins.
local function inputs_of(train, step, tick, add)
  local now = inputs_now(train, step)
  local begun = tick.state == "started" and "started" or tick.state == "done" and "done"
  if not begun then return now end
  local subject, place = "step/" .. step.id, train.file .. ": steps[" .. step.id .. "].inputs"
  if not tick.inputs then
    if begun == "started" and #now > 0 then
      add("step.inputs-unknown", subject, "it is started and nobody wrote down with what: it may move under whoever is at it",
        { rule = step.id, evidence = place })
    end
    return now
  end
  local list, seen = {}, {}
  local function keep(project, value, is)
    seen[project] = true
    list[#list + 1] = { project = project, value = value }
    if is and facts.same(train, project, is, value) then return end
    add("step.inputs-moved", subject, "it was " .. begun .. " with " .. project .. " " .. value .. (is
      and ", and the train has " .. is .. " since" or ", which the train does not name any more") .. ": it stays with what it has",
      { from = value, to = is, rule = step.id, evidence = place })
  end
  for _, input in ipairs(now) do
    local fixed = tick.inputs[input.project]
    if fixed then keep(input.project, fixed, input.value) else list[#list + 1] = input end
  end
  local gone = {}
  for project in pairs(tick.inputs) do
    if not seen[project] then gone[#gone + 1] = project end
  end
  table.sort(gone)
  for _, project in ipairs(gone) do
    local pin = consistency.pinned(train, project, facts.ignore)
    keep(project, tick.inputs[project], pin and pin.value)
  end
  return list
end

-- The commit at which the tag of a step must be: that of what it was started with.
local function pinned_for(train, step, inputs, add)
  for _, input in ipairs(inputs) do
    if input.project == step.pin then return input.value, facts.commit(train, step.pin, input.value, add) end
  end
end

-- Whether a step is proven: true, or false and why.
local function proven(train, step, ticked, inputs, results, add)
  if step.check then
    for _, row in ipairs(results) do
      if row.name == step.check and row.result ~= "equal" then return false, "check " .. step.check .. " fails" end
    end
    return true
  end
  if step.pin then
    local pinned, commit = pinned_for(train, step, inputs, add)
    if not pinned then return false, "nothing pins " .. step.pin end
    if not ticked.evidence then return false, "no tag of " .. step.pin .. " is named" end
    local at = train.tag_commit[step.pin .. " " .. ticked.evidence]
    if not at then return false, "tag " .. ticked.evidence .. " of " .. step.pin .. " is not there" end
    if at ~= commit then return false, "tag " .. ticked.evidence .. " is at " .. at:sub(1, 12) .. ", the train pins "
      .. (commit and commit:sub(1, 12) or pinned) end
    return true
  end
  if not ticked.evidence or ticked.evidence == "" then return false, "there is no evidence" end
  if train.present then
    for _, name in ipairs(train.present) do
      if name == ticked.evidence then return true end
    end
    return false, "its evidence " .. ticked.evidence .. " is not there", true
  end
  return true
end

-- When something was seen; nothing where that is no time, which is said.
local function time_of(entry, place, train, add)
  local at = entry and entry.at
  if at == nil or at == "" then return nil end
  if type(at) == "string" and day_of(at) then return at end
  add("train.schema", "train/" .. (train.train or "?"), "at: expected a time such as 2026-11-22T10:00:00Z, got '" .. tostring(at) .. "'",
    { evidence = train.file .. ": " .. place .. ".at" })
end

-- The latest of what a step needs; "" where it needs nothing or nobody knows of one.
local function latest(row, rows)
  local since = ""
  for _, need in ipairs(row.needs) do
    if rows[need].since == "" then return "" end
    if rows[need].since > since then since = rows[need].since end
  end
  return since
end

-- Since when a step has its state: a done one since its evidence was seen, a started one since somebody said so, a ready one since all that it needs is done, a blocked
-- one since the first thing that it waits for could have been done. "" where nobody says when.
local function since_when(row, step, tick, rows, train, add)
  if row.state == "done" then
    local at = time_of(tick, "steps[" .. row.id .. "]", train, add)
    for _, tag in ipairs(not at and step.pin and train.tags or {}) do
      if tag.project == step.pin and tag.tag == tick.evidence then
        at = time_of(tag, "tags[" .. tag.project .. " " .. tag.tag .. "]", train, add)
      end
    end
    return at or (step.check and latest(row, rows) or "")
  end
  if row.state == "started" then
    local at = time_of(tick, "steps[" .. row.id .. "]", train, add)
    if at then return at end
  end
  local since, waits = "", false
  for _, need in ipairs(row.needs) do
    local other = rows[need]
    if other.state ~= "done" then
      waits = true
      if other.since ~= "" and (since == "" or other.since < since) then since = other.since end
    end
  end
  return waits and since or latest(row, rows)
end

-- plan(train, results, add): rows in the order of the table: id, state ("done", "started", "ready", "blocked"), why, needs, since, days,
-- inputs.
function steps.plan(train, results, add)
  local list = tables.steps[train.order or "after"]
  if not list then
    add("train.schema", "train/" .. train.train, "there is no order of steps '" .. tostring(train.order) .. "'",
      { evidence = train.file .. ": order" })
    return {}
  end
  local ticked = {}
  for _, step in ipairs(train.steps) do ticked[step.id] = step end
  local rows, done, by_id = {}, {}, {}
  for _, step in ipairs(list) do
    local row = { id = step.id, needs = step.needs or {}, state = "blocked", why = "" }
    local waits = {}
    for _, need in ipairs(row.needs) do
      if not done[need] then waits[#waits + 1] = need end
    end
    local tick = ticked[step.id] or {}
    local says_done = tick.state == "done"
    row.inputs = inputs_of(train, step, tick, add)
    if says_done or step.check then
      local good, why, vanished = proven(train, step, tick, row.inputs, results, add)
      if good and #waits == 0 then
        row.state = "done"
      elseif not good then
        row.why = why
        if says_done then
          add(vanished and "step.regressed" or "step.unproven", "step/" .. step.id, "it is said to be done, and " .. why,
            { from = tick.evidence, rule = step.id, evidence = train.file .. ": steps" })
        end
      end
    end
    if row.state ~= "done" then
      if #waits > 0 then
        row.why = "waits for " .. table.concat(waits, ", ")
      elseif row.why == "" then
        row.state = tick.state == "started" and "started" or "ready"
      elseif says_done and not step.check then
        row.state = "ready" -- it is to be done, or done again
      end
    end
    done[step.id], by_id[step.id] = row.state == "done", row
    row.since = since_when(row, step, tick, by_id, train, add)
    local begin, now = day_of(row.since), day_of(train.now)
    if begin and now then row.days = math.max(0, now - begin) end
    rows[#rows + 1] = row
  end
  return rows
end

-- What stands downstream of a project, itself included.
local function downstream(edges, project)
  local reached, more = { [project] = true }, true
  while more do
    more = false
    for _, edge in ipairs(edges) do
      if edge.kind ~= "weak" and reached[edge.from] and not reached[edge.to] then
        reached[edge.to] = true
        more = true
      end
    end
  end
  return reached
end

-- freeze(train, add): the ids of the suites that no longer count.
function steps.freeze(train, add)
  local frozen = train.freeze
  if not frozen then return {} end
  local subject = "project/" .. frozen.project
  local evidence = train.file .. ": freeze"
  local void = {}
  local project = train.by_name[frozen.project]
  local candidate = project and project.candidate
  if candidate and frozen.baseCommit and candidate ~= frozen.baseCommit then
    if frozen.mode ~= "none" and (not frozen.fixup or frozen.fixup == "") then
      add("train.candidate-moved", subject, "it is frozen and another candidate took its place", { from = frozen.baseCommit,
        to = candidate, evidence = evidence })
    end
    local reached = downstream(consistency.edges(train), frozen.project)
    for _, suite in ipairs(train.suites) do
      if suite.project == nil or reached[suite.project] then void[#void + 1] = suite.id end
    end
    table.sort(void)
  end
  if train.bump == frozen.project then
    add("train.frozen", subject, "it is frozen: nothing moves its pins by itself", { evidence = evidence })
  end
  local since, now = day_of(frozen.since), day_of(train.now)
  if since and now and now - since > tables.freeze_days then
    add("train.freeze-stale", subject, "it is frozen for " .. (now - since) .. " days", { from = frozen.since, evidence = evidence })
  end
  return void
end

local function days_in(year, month)
  local function first_of(y, m) return day_of(string.format("%04d-%02d-01", y, m)) end
  return first_of(year + math.floor(month / 12), month % 12 + 1) - first_of(year, month)
end

-- The same day of a later month, its last one where it is shorter: "2026-01-31" and 1 are "2026-02-28". "" for what is no day.
local function months_later(text, months)
  if not day_of(text) then return "" end
  local y, m, d = text:match("^(%d%d%d%d)-(%d%d)-(%d%d)")
  local at = tonumber(y) * 12 + tonumber(m) - 1 + months
  local year, month = math.floor(at / 12), at % 12 + 1
  return string.format("%04d-%02d-%02d", year, month, math.min(tonumber(d), days_in(year, month)))
end

-- cadence(train, add): the next release of the bundle that a train may ride on, and the day from which it may: that of the release,
-- or of the last one and as many rounds later as are to come; "" where nobody knows.
function steps.cadence(train, add)
  if #train.releases == 0 then return "", "" end
  local mode = train.cadence or tables.cadence
  local every = mode == "every" and 1 or (mode == "odd" or mode == "even") and 2 or tonumber(mode:match("^every%-([1-9]%d?)$"))
  if not every then
    add("train.schema", "train/" .. (train.train or "?"), "cadence: expected every, odd, even or every-2, got '" .. mode .. "'",
      { evidence = train.file .. ": cadence" })
    return "", ""
  end
  local position = {}
  for i, release in ipairs(train.releases) do position[release.tag] = i end
  local bundle = train.by_name[tables.bundle]
  local ridden = bundle and bundle.release
  local from = train.since and position[train.since] or (mode == "odd" and 1) or (mode == "even" and 2) or 1
  local function fits(i) return (i - from) % every == 0 and i >= from end
  local at = ridden and position[ridden]
  local last = #train.releases
  if ridden and not at then
    add("train.off-cadence", "project/" .. tables.bundle, ridden .. " is none of the listed releases", { from = ridden,
      rule = mode, evidence = train.file .. ": releases" })
  elseif at and not fits(at) then
    add("train.off-cadence", "project/" .. tables.bundle, "a train rides on " .. mode .. " of its releases, and " .. ridden
      .. " is between two", { from = ridden, rule = mode, evidence = train.file .. ": releases" })
  end
  if at and at < last then
    add("train.behind", "project/" .. tables.bundle, (last - at) .. " released since " .. ridden, { from = ridden,
      to = train.releases[last].tag, rule = mode, evidence = train.file .. ": releases" })
  end
  local i = (at or (train.since and position[train.since]) or last) + 1
  while not fits(i) do i = i + 1 end
  if i <= last then return train.releases[i].tag, months_later(train.releases[i].date, 0) end
  -- Not released yet: a minor more for each that is still to come.
  local v = semver.parse(train.releases[last].tag)
  return v and string.format("%d.%d.0", v.major, v.minor + i - last) or "",
    months_later(train.releases[last].date, (i - last) * tables.bundle_months)
end

return steps
