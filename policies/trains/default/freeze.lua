-- What must not move while a project is frozen, and on which release of the bundle a train rides.
local days = require("days")
local facts = require("facts")
local tables = require("tables")

local freeze = {}

-- What is built from a project or must speak with it, itself included.
local function downstream(edges, project)
  local reached, more = { [project] = true }, true
  while more do
    more = false
    for _, edge in ipairs(edges) do
      if (edge.kind == "strong" or edge.kind == "pair") and reached[edge.from] and not reached[edge.to] then
        reached[edge.to] = true
        more = true
      end
    end
  end
  return reached
end

-- Whether `to` is on the line that begins at `from`: the same commit or one that has it as an ancestor. Nil where no ancestry says it.
local function on_line(train, project, from, to)
  if facts.same(train, project, from, to) then return true end
  local far = facts.distance(train, project, from, to)
  if far == nil or far.ahead == nil then return nil end
  return tonumber(far.ahead) > 0 and tonumber(far.behind or 0) == 0
end

-- What moved of the frozen project: { what = "candidate", "head" or "pin", from, to, pin }.
local function moves(train)
  local frozen, list = train.freeze, {}
  local name, base = frozen.project, frozen.baseCommit
  local project = train.by_name[name]
  local function is_other(value) return base ~= nil and value ~= nil and not facts.same(train, name, base, value) end
  if project and is_other(project.candidate) then list[#list + 1] = { what = "candidate", from = base, to = project.candidate } end
  if project and frozen.mode == "lock" and is_other(project.head) then list[#list + 1] = { what = "head", from = base, to = project.head } end
  for _, pin in ipairs(train.pins) do
    local moved = pin.was ~= nil and not facts.same(train, pin.project, pin.was, pin.value)
    if pin.project == name and is_other(pin.value) and name ~= tables.bundle
      and (moved or (pin.holder == tables.pinned_by and pin.field == "version")) then
      list[#list + 1] = { what = "pin", from = pin.was or base, to = pin.value, pin = pin }
    elseif pin.holder == name and moved then
      list[#list + 1] = { what = "pin", from = pin.was, to = pin.value, pin = pin }
    end
  end
  return list
end

-- void(train): the ids of the suites that no longer count, since what they tested was frozen and moved.
function freeze.void(train)
  if not train.freeze or #moves(train) == 0 then return {} end
  local reached, void, seen = downstream(train.edges, train.freeze.project), {}, {}
  for _, suite in ipairs(train.suites) do
    local about = facts.projects_of(suite)
    local hit = #about == 0
    for _, name in ipairs(about) do hit = hit or reached[name] or not train.known[name] end
    if hit and not seen[suite.id] then
      seen[suite.id] = true
      void[#void + 1] = suite.id
    end
  end
  table.sort(void)
  return void
end

local function timed(train, add)
  local frozen = train.freeze
  local function check(place, text)
    if text ~= nil and text ~= "" and not days.moment(text) then
      add("train.schema", "train/" .. (train.train or "?"), "expected a day or a time with its zone, such as 2026-11-22 or 2026-11-22T10:00:00Z, got '"
        .. text .. "'", { evidence = train.file .. ": " .. place })
    end
  end
  check("now", train.now)
  if frozen then
    check("freeze.since", frozen.since)
    check("freeze.until", frozen["until"])
    local since, ends = days.moment(frozen.since), days.moment(frozen["until"], "end")
    if since and ends and ends < since then
      add("train.schema", "train/" .. (train.train or "?"), "it ends " .. frozen["until"] .. ", before it begins " .. frozen.since,
        { from = frozen["until"], to = frozen.since, evidence = train.file .. ": freeze.until" })
    end
  end
  local before
  for _, release in ipairs(train.releases) do
    local place = "releases[" .. release.tag .. "]"
    check(place .. ".date", release.date)
    -- The latest is the last, by the dates, else by the versions: the next one is counted from there.
    local day, former = days.moment(release.date), before and days.moment(before.date)
    local backwards = day and former and day < former
    if before and not (day and former) then
      backwards = semver.valid(release.tag) and semver.valid(before.tag) and semver.compare(release.tag, before.tag) < 0
    end
    if backwards then
      add("train.schema", "train/" .. (train.train or "?"), release.tag .. " stands behind " .. before.tag .. ", which is later: the latest release is the last",
        { from = release.tag, to = before.tag, evidence = train.file .. ": " .. place })
    end
    before = release
  end
end

-- check(train, add): what a freeze forbids.
function freeze.check(train, add)
  timed(train, add)
  local frozen = train.freeze
  if not frozen or frozen.mode == "none" then return end
  local name, mode = frozen.project, frozen.mode or "commit"
  local subject, evidence = "project/" .. name, train.file .. ": freeze"
  local fixed = frozen.fixup ~= nil and frozen.fixup ~= ""
  if not frozen.baseCommit or frozen.baseCommit == "" then
    add("check.not-evaluated", subject, "it is frozen and freeze.baseCommit does not say at which commit: what moved cannot be seen",
      { rule = "train.frozen", evidence = evidence })
  end
  for _, move in ipairs(moves(train)) do
    local at = { from = move.from, to = move.to, rule = mode, evidence = evidence }
    if move.what == "candidate" then
      local line = mode == "branch" and on_line(train, name, move.from, move.to)
      if line ~= true and not fixed then
        add("train.candidate-moved", subject, mode ~= "branch" and "it is frozen and another candidate took its place"
          or line == nil and "no ancestry says whether the new candidate is on the line of the frozen one: `train facts --range` does"
          or "the new candidate is not on the line of the frozen one", at)
      end
    elseif move.what == "head" then
      add("train.frozen", subject, "its main branch is locked, and its head moved", at)
    elseif not fixed and not (mode == "branch" and on_line(train, name, frozen.baseCommit or "", move.to)) then
      at.evidence = facts.place(train, move.pin)
      add("train.frozen", facts.subject(move.pin), name .. " is frozen" .. (frozen.baseCommit and " at " .. frozen.baseCommit or "")
        .. ", and this pin moved" .. (move.pin.was and " from " .. move.pin.was or "") .. " to " .. move.to, at)
    end
  end
  local now, since, ends = days.moment(train.now), days.moment(frozen.since), days.moment(frozen["until"], "end")
  local locked = mode == "lock" and not (now and since and now < since) and not (now and ends and now > ends)
  if train.bump == name then
    add("train.frozen", subject, "it is frozen: nothing moves its pins by itself", { rule = mode, evidence = evidence })
  elseif locked and train.bump and facts.pin(train, name, train.bump) then
    add("train.frozen", subject, "it is locked" .. (ends and " until " .. frozen["until"] or "") .. ", and its pin of " .. train.bump
      .. " would move: send it before or after", { rule = mode, evidence = evidence })
  end
  if locked and ends then
    add("train.locked", subject, "its main branch is read-only until " .. frozen["until"] .. ": its pins move before or after, tags may be set",
      { rule = mode, evidence = evidence })
  elseif mode == "lock" and now and ends and now > ends then
    add("train.freeze-stale", subject, "its lock ended " .. frozen["until"] .. ", and the freeze stands", { from = frozen["until"], rule = mode,
      evidence = evidence })
  end
  local first, today = days.of(frozen.since), days.of(train.now)
  if first and today and today - first > tables.freeze_days then
    add("train.freeze-stale", subject, "it is frozen for " .. (today - first) .. " days", { from = frozen.since, rule = mode, evidence = evidence })
  end
end

-- cadence(train, add): the next release of the bundle that a train may ride on, and the day from which it may: that of the release,
-- or of the last one and as many rounds later as are to come; "" where the releases do not tell.
function freeze.cadence(train, add)
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
  if train.since and not position[train.since] then
    add("train.schema", "train/" .. (train.train or "?"), "since: " .. train.since .. " is none of the listed releases",
      { evidence = train.file .. ": since" })
  end
  local bundle = train.by_name[tables.bundle]
  local ridden = bundle and bundle.release
  local from = train.since and position[train.since] or 1
  local at = ridden and position[ridden]
  local last = #train.releases
  -- odd and even are about the minor, whichever release the list begins with; each release to come has one more.
  local function minor(i)
    local v = semver.parse(train.releases[math.min(i, last)].tag)
    return v and v.minor + math.max(0, i - last)
  end
  local function fits(i)
    if mode ~= "odd" and mode ~= "even" then return (i - from) % every == 0 and i >= from end
    return minor(i) == nil or minor(i) % 2 == (mode == "odd" and 1 or 0)
  end
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
  if i <= last then return train.releases[i].tag, days.months_later(train.releases[i].date, 0) end
  -- Not released yet: a minor more for each that is still to come.
  local v = semver.parse(train.releases[last].tag)
  return v and string.format("%d.%d.0", v.major, v.minor + i - last) or "",
    days.months_later(train.releases[last].date, (i - last) * tables.bundle_months)
end

return freeze
