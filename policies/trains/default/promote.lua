-- From candidate to release: the digests that were tested get the names of a release.
local facts = require("facts")
local suites = require("suites")
local tables = require("tables")

local promote = {}

-- A name of tables.lua; what stands in a pattern of Lua stands for itself here.
local function filled(name, with)
  return (name:gsub("{}", function() return with end))
end

-- The first pin that is another thing by now than when the suites passed (`tested`): a tag of the same commit is only another name.
-- What follows from another pin (in_sync of tables.lua) is judged with that.
local function moved_pin(train, add)
  local first
  for _, pin in ipairs(train.pins) do
    if pin.tested and pin.tested ~= pin.value and not facts.follows_any(pin) then
      local before, now = facts.commit(train, pin.project, pin.tested, add), facts.commit(train, pin.project, pin.value, add)
      if (before == nil or before ~= now) and (not first or facts.subject(pin) < facts.subject(first)) then first = pin end
    end
  end
  return first
end

-- The projects whose suites speak for what is promoted: the project, what is built from it and who must speak with it.
local function concerned(train, project)
  local all = { [project] = true }
  for _, edge in ipairs(train.edges) do
    if edge.kind ~= "weak" and edge.from == project then all[edge.to] = true end
    if edge.kind == "pair" and edge.to == project then all[edge.from] = true end
  end
  return all
end

-- Why suites do not spare the second test: the first one that has not passed for exactly this content, or that there is none.
local function untested(train, project)
  local about, passed, first = concerned(train, project), false, nil
  for _, suite in ipairs(suites.look(train, train.void)) do
    local hit = #suite.about == 0
    for _, name in ipairs(suite.about) do hit = hit or about[name] end
    if hit and suite.state == "passed" then passed = true end
    if hit and suite.state ~= "passed" and not first then first = suite end
  end
  if first then return "suite/" .. first.id, suites.text(first) end
  if not passed then return "suite/any suite", "no suite of " .. project .. " or of what is built from it has passed for this content" end
end

-- plan(train, project, tag, add): { retag = { from, to, arch, digest }, indexes = { to, parts = { from, digest, architecture } }, retest =
-- "skipped" or "required", hash }.
function promote.plan(train, project, tag, add)
  project, tag = project or "", tag or ""
  local about = train.by_name[project]
  local subject = "project/" .. project
  local none = { retag = {}, indexes = {}, retest = "required", hash = train.hash }
  if not about or not about.candidate then
    add("train.schema", subject, "there is no candidate of it", { evidence = train.file .. ": projects" })
    return none
  end
  local no_tag = tag == "" and "no tag is named" or facts.floats(tag) and tag .. " names something else tomorrow: a release has a tag of its own"
    or not (tag:match("^[%w_][%w_.-]*$") and #tag <= 100) and "'" .. tag .. "' cannot be part of the tag of an image" or nil
  if no_tag then
    add("train.schema", subject, no_tag, { evidence = train.file .. ": promote.tag", clears = "name a tag such as v1.2.3" })
    return none
  end
  local rows = {}
  for _, row in ipairs(tables.promote) do
    if row.project == project then rows[#rows + 1] = row end
  end
  if #rows == 0 then
    add("train.schema", subject, "tables.lua promotes no image of it: there is nothing to give a name", { rule = "promote",
      evidence = train.file .. ": promote.project" })
    return none
  end
  local taken = train.tag_commit[project .. " " .. tag]
  if taken and taken ~= about.candidate then
    add("train.tag-exists", subject, "tag " .. tag .. " is at another commit; tags stay where they are, the next patch repairs it",
      { from = taken, to = about.candidate, rule = "tags", evidence = train.file .. ": tags[" .. project .. " " .. tag .. "]" })
  end
  local digests = {}
  for _, image in ipairs(train.images) do digests[image.ref] = image.digest or "" end
  local retag, indexes, missing, differs, equal = {}, {}, {}, nil, nil
  for _, row in ipairs(rows) do
    local parts = {}
    for _, arch in ipairs(row.arches) do
      local from = filled(row.from, about.candidate) .. "-" .. arch
      local to = filled(row.to, tag) .. "-" .. arch
      local tested, there = digests[from], digests[to]
      if not tested or tested == "" then
        missing[#missing + 1] = from
      elseif there and there ~= "" and there ~= tested then
        differs = differs or { from = from, to = to, tested = tested, there = there }
      else
        equal = equal or { from = from, to = to, digest = tested }
        if not there or there == "" then retag[#retag + 1] = { from = from, to = to, arch = arch, digest = tested } end
        parts[#parts + 1] = { from = from, digest = tested, architecture = tables.architectures[arch] or arch }
      end
    end
    indexes[#indexes + 1] = { to = filled(row.to, tag), parts = parts }
  end
  for _, ref in ipairs(missing) do
    add("train.partial-promotion", "image/" .. ref, "there is no " .. ref .. ": nothing is promoted without it", { from = ref,
      rule = "promote", evidence = train.file .. ": images" })
  end
  if #missing > 0 then retag, indexes = {}, {} end

  local pin = facts.pin(train, tables.pinned_by, project, "version")
  local unknown = pin and not facts.same(train, project, pin.value, about.candidate)
  local moved = moved_pin(train, add)
  local which, why = untested(train, project)
  if differs then
    add("train.retest-required", "image/" .. differs.to, "it is " .. differs.there .. ", what was tested is " .. differs.tested,
      { from = differs.tested, to = differs.there, rule = "digest", evidence = train.file .. ": images" })
  elseif #missing > 0 then
    add("train.retest-required", "image/" .. missing[1], "the facts have no digest of it", { rule = "digest", evidence = train.file .. ": images" })
  elseif unknown then
    add("train.retest-required", facts.subject(pin), pin.holder .. " was tested with " .. pin.value .. ", and nothing says that this is the candidate "
      .. about.candidate, { from = pin.value, to = about.candidate, rule = "candidate", evidence = facts.place(train, pin) })
  elseif moved then
    add("train.retest-required", facts.subject(moved), "it is " .. moved.value .. ", what was tested had " .. moved.tested,
      { from = moved.tested, to = moved.value, rule = "pins", evidence = facts.place(train, moved) })
  elseif which then
    add("train.retest-required", which, why .. "; a suite that passed for it says so with contentHash", { to = train.hash, rule = "suites",
      evidence = train.file .. ": suites" })
  else
    add("train.retest-skipped", subject, equal.from .. " and " .. equal.to .. " are one digest, as are all others", { from = equal.from,
      to = equal.to, rule = "digest", evidence = equal.digest })
    return { retag = retag, indexes = indexes, retest = "skipped", hash = train.hash }
  end
  return { retag = retag, indexes = indexes, retest = "required", hash = train.hash }
end

return promote
