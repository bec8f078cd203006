-- The steps of a train: done by evidence, started with inputs that are written down, ready when what they need is done, blocked else.
local consistency = require("consistency")
local days = require("days")
local facts = require("facts")
local suites = require("suites")
local tables = require("tables")

local steps = {}

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
      add("step.inputs-unknown", subject, "it is started, and its `inputs` do not say with what: what it works with may move",
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

local function is_present(train, evidence)
  for _, name in ipairs(train.present or {}) do
    if name == evidence then return true end
  end
  return false
end

local function digest_of(train, name)
  for _, image in ipairs(train.images) do
    if image.ref == name and image.digest and image.digest ~= "" then return image.digest end
  end
  for _, tag in ipairs(train.tags) do
    if tag.tag == name and tag.digest and tag.digest ~= "" then return tag.digest end
  end
  return name:match("^sha256:%x+$")
end

-- What proves a step, by its `proof`: true, or false and why. `evidence` is a text.
local proofs = {
  ["bundle-release"] = function(train, _, evidence)
    local bundle = train.by_name[tables.bundle]
    local known = train.tag_commit[tables.bundle .. " " .. evidence] ~= nil or (bundle and bundle.release == evidence)
    for _, release in ipairs(train.releases) do known = known or release.tag == evidence end
    if known then return true end
    return false, "the document has no release " .. evidence .. " of " .. tables.bundle
  end,
  digest = function(train, _, evidence)
    if digest_of(train, evidence) then return true end
    return false, "the document has no digest of " .. evidence
  end,
  tags = function(train, step, evidence)
    for _, name in ipairs(step.names) do
      local tag = name:gsub("{}", function() return evidence end)
      local there = false
      for _, t in ipairs(train.tags) do there = there or (t.project == step.project and t.tag == tag and (t.commit or t.digest) ~= nil) end
      if not there then return false, "the document has no tag " .. tag .. " of " .. step.project end
    end
    return true
  end,
  release = function(train, step, evidence)
    local pin, commit = consistency.pinned(train, step.project, facts.ignore)
    for _, t in ipairs(train.tags) do
      if t.project == step.project and t.commit and t.commit == commit
        and (evidence == t.tag or evidence:sub(-#t.tag - 1) == "/" .. t.tag) then
        return true
      end
    end
    return false, evidence .. " is no release of " .. step.project .. " " .. (pin and pin.value or "that the train pins")
  end,
  images = function(train, step, evidence)
    local looked = 0
    for _, row in ipairs(tables.promote) do
      for _, arch in ipairs(row.project == step.project and row.arches or {}) do
        local name = row.to:gsub("{}", function() return evidence end) .. "-" .. arch
        looked = looked + 1
        if not digest_of(train, name) then return false, "the document has no digest of image " .. name end
      end
    end
    if looked == 0 then return false, "tables.lua promotes no image of " .. step.project end
    return true
  end,
  link = function(_, _, evidence)
    if evidence:match("^https?://%S+$") or evidence:match("^[%w._/-]*#?%d+$") or facts.is_commit(evidence) then return true end
    return false, evidence .. " is neither a page, a pull request nor a commit"
  end,
}

-- Whether the suites of a step passed.
local function suites_pass(train, step)
  local about, passed, seen = {}, false, {}
  for _, name in ipairs(step.suites or {}) do about[name] = true end
  for _, suite in ipairs(suites.look(train, train.void)) do
    local hit = false
    for _, name in ipairs(suite.about) do hit = hit or about[name] end
    if hit or (step.tested and #suite.about == 0) then
      if suite.state == "failed" or suite.state == "void" or suite.state == "stale" then return false, "suite " .. suites.text(suite) end
      passed = passed or suite.state == "passed" or suite.state == "unbound"
      seen[#seen + 1] = suite.id
    end
  end
  if step.tested and not passed then return false, "no suite of " .. table.concat(step.suites, ", ") .. " passed" end
  return true, nil, seen
end

-- Whether the comparisons of a step came out well; nil when there was nothing to compare.
local function checks_pass(train, step, results)
  for _, name in ipairs(step.check or {}) do
    for _, row in ipairs(results) do
      if row.name == name and row.result ~= "equal" and row.result ~= "sync" then
        return false, "check " .. name .. " fails: " .. table.concat(row.saw, ", ")
      end
    end
  end
  for _, found in ipairs(train.missing or {}) do
    for _, name in ipairs(step.check or {}) do
      if found.check == name then return false, "check " .. name .. " has nothing to look at: " .. found.why end
    end
  end
  if step.looks_at then
    local any = false
    for _, holder in ipairs(step.looks_at) do any = any or facts.pin(train, holder, tables.bundle) ~= nil end
    if not any then return false, "nothing says which " .. tables.bundle .. " " .. table.concat(step.looks_at, " or ") .. " pins" end
  end
  return true
end

-- Whether a step is proven: true, or false, why and whether its evidence vanished.
local function proven(train, step, tick, inputs, results, add)
  local good, why = checks_pass(train, step, results)
  if not good then return false, why end
  good, why = suites_pass(train, step)
  if not good then return false, why end
  if step.pin then
    local pinned, commit = pinned_for(train, step, inputs, add)
    if not pinned then return false, "nothing pins " .. step.pin end
    if not tick.evidence then return false, "no tag of " .. step.pin .. " is named" end
    local at = train.tag_commit[step.pin .. " " .. tick.evidence]
    if not at then return false, "tag " .. tick.evidence .. " of " .. step.pin .. " is not there" end
    if at ~= commit then return false, "tag " .. tick.evidence .. " is at " .. at:sub(1, 12) .. ", the train pins "
      .. (commit and commit:sub(1, 12) or pinned) end
    return true
  end
  if not step.proof then
    -- A step that is a comparison: what was not compared proves nothing, unless there is only one to compare.
    for _, name in ipairs(step.check) do
      local compared = train.alone[name] ~= nil
      for _, row in ipairs(results) do compared = compared or row.name == name end
      if not compared then return false, "check " .. name .. " has nothing to look at" end
      if train.alone[name] then return true, "nothing else names what " .. train.alone[name] .. " does" end
    end
    return true
  end
  local evidence = tick.evidence or (step.proof == "link" and tick.pr) or ""
  if evidence == "" then return false, "there is no evidence" end
  if is_present(train, evidence) then return true end
  -- A list of what is there, and this is not: it was there when the step was ticked off.
  if train.present then return false, "its evidence " .. evidence .. " is not there", true end
  return proofs[step.proof](train, step, evidence)
end

-- When something was seen; nothing where that is no time, which is said.
local function time_of(entry, place, train, add)
  local at = entry and entry.at
  if at == nil or at == "" then return nil end
  if days.of(at) then return at end
  add("train.schema", "train/" .. (train.train or "?"), "at: expected a time such as 2026-11-22T10:00:00Z, got '" .. tostring(at) .. "'",
    { evidence = train.file .. ": " .. place .. ".at" })
end

-- The latest of what a step needs; "" where it needs nothing or one of them has no time.
local function latest(row, rows)
  local since = ""
  for _, need in ipairs(row.needs) do
    if rows[need].since == "" then return "" end
    if since == "" or (days.moment(rows[need].since) or 0) > (days.moment(since) or 0) then since = rows[need].since end
  end
  return since
end

-- Since when a step has its state: a done one since its evidence was seen, a started one since the document says so, a ready one since all that it needs is done, a blocked
-- one since the first thing that it waits for could have been done. "" where no time is known.
local function since_when(row, step, tick, rows, train, add)
  if row.state == "done" then
    local at = time_of(tick, "steps[" .. row.id .. "]", train, add)
    for _, tag in ipairs(not at and step.pin and train.tags or {}) do
      if tag.project == step.pin and tag.tag == tick.evidence then
        at = time_of(tag, "tags[" .. tag.project .. " " .. tag.tag .. "]", train, add)
      end
    end
    return at or (step.proof == nil and step.pin == nil and latest(row, rows) or "")
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
      if other.since ~= "" and (since == "" or (days.moment(other.since) or 0) < (days.moment(since) or 0)) then since = other.since end
    end
  end
  return waits and since or latest(row, rows)
end

-- The steps of tables.lua that are steps of this train, and its own; each behind what it needs.
local function steps_of(train, ticked, add)
  local list, by_id = {}, {}
  local function take(step)
    list[#list + 1] = step
    by_id[step.id] = step
  end
  for _, step in ipairs(tables.steps[train.order or "after"] or {}) do
    if not step.with or facts.takes_part(train, step.with) then
      local own = ticked[step.id]
      local needs = {}
      for _, need in ipairs(step.needs or {}) do needs[#needs + 1] = need end
      for _, need in ipairs(own and own.needs or {}) do
        local there = false
        for _, old in ipairs(needs) do there = there or old == need end
        if not there then needs[#needs + 1] = need end
      end
      local whole = copy(step)
      whole.needs = needs
      take(whole)
    end
  end
  for _, tick in ipairs(train.steps) do
    if not by_id[tick.id] and tick.needs then take({ id = tick.id, title = tick.title, needs = copy(tick.needs), proof = "link" }) end
  end
  local out, state = {}, {}
  local function visit(step, path)
    state[step.id] = "open"
    local needs = {}
    for _, id in ipairs(step.needs) do
      local need = by_id[id]
      if need and state[id] == "open" then
        add("step.cycle", "step/" .. step.id, "steps wait for each other: " .. path .. " -> " .. id, { rule = step.id,
          evidence = train.file .. ": steps[" .. step.id .. "].needs" })
      elseif need then
        if not state[id] then visit(need, path .. " -> " .. id) end
        needs[#needs + 1] = id
      end
    end
    step.needs = needs
    state[step.id] = "done"
    out[#out + 1] = step
  end
  for _, step in ipairs(list) do
    if not state[step.id] then visit(step, step.id) end
  end
  return out
end

-- plan(train, results, add): rows, each behind what it needs: id, title, state ("done", "started", "ready", "blocked"), why, needs, since,
-- days, inputs, owner, pr, approval, evidence.
function steps.plan(train, results, add)
  local ticked = {}
  for _, step in ipairs(train.steps) do ticked[step.id] = step end
  local rows, done, by_id = {}, {}, {}
  for _, step in ipairs(steps_of(train, ticked, add)) do
    local tick = ticked[step.id] or {}
    local row = { id = step.id, title = tick.title or step.title or step.id, needs = step.needs, state = "blocked", why = "",
      owner = tick.owner or step.owner or "", pr = tick.pr or "", approval = tick.approval or step.approval or "", evidence = tick.evidence or "" }
    local waits = {}
    for _, need in ipairs(row.needs) do
      if not done[need] then waits[#waits + 1] = need end
    end
    local says_done = tick.state == "done"
    local by_check = step.proof == nil and step.pin == nil
    row.inputs = inputs_of(train, step, tick, add)
    if says_done or by_check then
      local good, why, vanished = proven(train, step, tick, row.inputs, results, add)
      if good and row.approval == "needed" then good, why, vanished = false, "its approval is outstanding", nil end
      if good and #waits == 0 then
        row.state, row.why = "done", why or ""
      elseif not good then
        row.why = why
        if says_done then
          add(vanished and "step.regressed" or "step.unproven", "step/" .. step.id, "it is said to be done, and " .. why,
            { from = tick.evidence, rule = step.id, evidence = train.file .. ": steps[" .. step.id .. "]" })
        end
      end
    end
    if row.state ~= "done" then
      -- What failed before its evidence is there, is told as well.
      if not says_done and not by_check then
        local good, why = suites_pass(train, step)
        if not good and why:match("^suite ") then row.why = why end
      end
      if #waits > 0 then
        row.why = "waits for " .. table.concat(waits, ", ")
      elseif row.why == "" or (not says_done and not by_check) then
        row.state = tick.state == "started" and "started" or "ready"
      elseif says_done and not by_check then
        row.state = "ready" -- it is to be done, or done again
      end
    end
    done[step.id], by_id[step.id] = row.state == "done", row
    row.since = since_when(row, step, tick, by_id, train, add)
    local begin, now = days.of(row.since), days.of(train.now)
    if begin and now then row.days = math.max(0, now - begin) end
    rows[#rows + 1] = row
  end
  return rows
end

-- edges(train): { from, to, kind } of those projects that take part, in the order of their names.
function steps.edges(train)
  local list = {}
  local pinned = {}
  for _, pin in ipairs(train.pins) do pinned[pin.project] = true end
  local function here(name) return pinned[name] or facts.takes_part(train, name) end
  for _, edge in ipairs(train.edges) do
    if here(edge.from) and here(edge.to) then list[#list + 1] = { from = edge.from, to = edge.to, kind = edge.kind } end
  end
  table.sort(list, function(a, b)
    if a.to ~= b.to then return a.to < b.to end
    if a.from ~= b.from then return a.from < b.from end
    return a.kind < b.kind
  end)
  return list
end

return steps
