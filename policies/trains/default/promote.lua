-- From candidate to release: the digests that were tested get the names of a release.
local facts = require("facts")
local tables = require("tables")

local promote = {}

-- What suites, waivers and approvals are bound to.
function promote.hash(train)
  local lines = {}
  for _, p in ipairs(train.projects) do lines[#lines + 1] = p.name .. "=" .. (p.digest or p.candidate or "") .. "\n" end
  table.sort(lines)
  return sha256(table.concat(lines))
end

-- A name of tables.lua; what stands in a pattern of Lua stands for itself here.
local function filled(name, with)
  return (name:gsub("{}", function() return with end))
end

-- The first pin that is another thing by now than when the suites passed (`tested`): a tag of the same commit is only another name.
-- What follows from another pin (in_sync of tables.lua) is judged with that.
local function moved_pin(train, add)
  local first
  for _, pin in ipairs(train.pins) do
    local follows = false
    for _, row in ipairs(tables.in_sync) do follows = follows or facts.follows(pin, row) end
    if pin.tested and pin.tested ~= pin.value and not follows then
      local before, now = facts.commit(train, pin.project, pin.tested, add), facts.commit(train, pin.project, pin.value, add)
      if (before == nil or before ~= now) and (not first or facts.subject(pin) < facts.subject(first)) then first = pin end
    end
  end
  return first
end

-- plan(train, project, tag, add): { retag = { from, to, arch, digest }, indexes = { to, parts = { from, digest, architecture } }, retest =
-- "skipped" or "required", hash }.
function promote.plan(train, project, tag, void, add)
  project, tag = project or "", tag or ""
  local about = train.by_name[project]
  local subject = "project/" .. project
  if not about or not about.candidate then
    add("train.schema", subject, "there is no candidate of it", { evidence = train.file .. ": projects" })
    return { retag = {}, indexes = {}, retest = "required" }
  end
  local taken = train.tag_commit[project .. " " .. tag]
  if taken and taken ~= about.candidate then
    add("train.tag-exists", subject, "tag " .. tag .. " is at another commit; tags stay where they are, the next patch repairs it",
      { from = taken, to = about.candidate, rule = "tags", evidence = train.file .. ": tags" })
  end
  local digests = {}
  for _, image in ipairs(train.images) do digests[image.ref] = image.digest or "" end
  local hash = promote.hash(train)
  local retag, indexes, missing, differs, equal = {}, {}, {}, nil, nil
  for _, row in ipairs(tables.promote) do
    local parts = {}
    for _, arch in ipairs(row.arches) do
      local from = filled(row.from, about.candidate) .. "-" .. arch
      local to = filled(row.to, tag) .. "-" .. arch
      local tested, there = digests[from], digests[to]
      if not tested or tested == "" then
        missing[#missing + 1] = from
      elseif there and there ~= tested then
        differs = differs or { from = from, to = to, tested = tested, there = there }
      else
        equal = equal or { from = from, to = to, digest = tested }
        if not there then retag[#retag + 1] = { from = from, to = to, arch = arch, digest = tested } end
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

  local voided, untested = {}, {}
  for _, id in ipairs(void) do voided[id] = true end
  for _, suite in ipairs(train.suites) do
    if suite.result ~= "passed" or voided[suite.id] or (suite.contentHash and suite.contentHash ~= hash) then
      untested[#untested + 1] = suite.id
    end
  end
  local moved = moved_pin(train, add)
  if #train.suites == 0 then untested[1] = "any suite" end
  table.sort(untested)
  if differs then
    add("train.retest-required", "image/" .. differs.to, "it is " .. differs.there .. ", what was tested is " .. differs.tested,
      { from = differs.tested, to = differs.there, rule = "digest", evidence = train.file .. ": images" })
  elseif #missing > 0 then
    add("train.retest-required", "image/" .. missing[1], "nobody knows its digest", { rule = "digest", evidence = train.file .. ": images" })
  elseif moved then
    add("train.retest-required", facts.subject(moved), "it is " .. moved.value .. ", what was tested had " .. moved.tested,
      { from = moved.tested, to = moved.value, rule = "pins", evidence = train.file .. ": pins" })
  elseif #untested > 0 then
    add("train.retest-required", "suite/" .. untested[1], "it has not passed for the candidate", { to = hash, rule = "suites",
      evidence = train.file .. ": suites" })
  else
    add("train.retest-skipped", subject, equal.from .. " and " .. equal.to .. " are one digest, as are all others", { from = equal.from,
      to = equal.to, rule = "digest", evidence = equal.digest })
    return { retag = retag, indexes = indexes, retest = "skipped", hash = hash }
  end
  return { retag = retag, indexes = indexes, retest = "required", hash = hash }
end

return promote
