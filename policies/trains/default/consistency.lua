-- What must agree before a train is released.
local facts = require("facts")
local tables = require("tables")

local consistency = {}

local function text_of(value) return value == nil and "unknown" or value end

-- The pin by which the train has a project, and its commit.
local function pinned(train, project, add)
  if project == tables.bundle then
    local bundle = train.by_name[project]
    local release = bundle and (bundle.release or bundle.candidate)
    return release and { holder = "train", project = project, field = "release", value = release }, release
      and facts.commit(train, project, release, add)
  end
  local pin = facts.pin(train, tables.pinned_by, project, "version")
  return pin, pin and facts.commit(train, project, pin.value, add)
end
consistency.pinned = pinned

local function pair_tested(train, a, b) return facts.passed(train, "pair:" .. a .. "+" .. b) end

local function speak(train, add, results)
  for _, pair in ipairs(tables.pairs) do
    local a, b = train.by_name[pair[1]], train.by_name[pair[2]]
    if a and b then
      local pin_a, pin_b = pinned(train, pair[1], add), pinned(train, pair[2], add)
      local at = { rule = pair.name, evidence = train.file .. ": projects",
        from = text_of(a.protocol), to = text_of(b.protocol) }
      local names = pair[1] .. " " .. (pin_a and pin_a.value or "?") .. " and " .. pair[2] .. " " .. (pin_b and pin_b.value or "?")
      if a.protocol and b.protocol then
        results[#results + 1] = { name = pair.name, result = a.protocol == b.protocol and "equal" or "SKEW" }
        if a.protocol ~= b.protocol then
          add("train.skew", "edge/" .. pair[2] .. "->" .. pair[1], names .. " speak " .. a.protocol .. " and " .. b.protocol
            .. ": the server takes its own and no other", at)
        end
      else
        at.rule = "train.skew"
        add("check.not-evaluated", "edge/" .. pair[2] .. "->" .. pair[1], "nobody says which protocol " .. names .. " speak", at)
      end
      local tested = pair_tested(train, pair[1], pair[2])
      local seen = { rule = "evidence", from = text_of(a.evidence), to = text_of(b.evidence), evidence = train.file .. ": projects" }
      if a.evidence and b.evidence then
        if a.evidence ~= b.evidence then
          seen.severity = "error"
          add("train.evidence-skew", "edge/" .. pair[2] .. "->" .. pair[1], names .. " use evidence " .. a.evidence .. " and "
            .. b.evidence, seen)
        end
      elseif not tested then
        add("train.evidence-skew", "edge/" .. pair[2] .. "->" .. pair[1], "nobody says which evidence " .. names
          .. " use, and they were not tested together", seen)
      end
      local moved_a = pin_a and pin_a.was and pin_a.was ~= pin_a.value
      local moved_b = pin_b and pin_b.was and pin_b.was ~= pin_b.value
      if (moved_a or false) ~= (moved_b or false) and not tested then
        local moved, stayed = moved_a and pin_a or pin_b, moved_a and pair[2] or pair[1]
        add("train.pair-moved-alone", facts.subject(moved), moved.project .. " moved and " .. stayed
          .. " did not, and they were not tested together", { from = moved.was, to = moved.value, rule = pair.name,
          evidence = train.file .. ": pins" })
      end
    end
  end
end

-- Everything by which `holder` has `project`, by field.
local function pins_of(train, holder, project)
  local list = {}
  for _, pin in ipairs(train.pins) do
    if pin.holder == holder and pin.project == project then list[#list + 1] = pin end
  end
  table.sort(list, function(a, b) return a.field < b.field end)
  return list
end

-- The pins that a row of in_sync is about.
local function pins_in(train, row)
  local list = {}
  for _, pin in ipairs(pins_of(train, row.holder, row.project)) do
    if facts.follows(pin, row) then list[#list + 1] = pin end
  end
  return list
end

-- Why a pin does not belong to a version; nil when it does.
local function out_of_sync(row, pin, version)
  local image = pin.image
  -- "registry/staged-images/kbs": a repository, and nothing of a tag or digest behind it.
  local bare = row.untagged and pin.value:find("/", 1, true) and not pin.value:match("[^/]*$"):find("[:@]")
  if bare then image = pin.value end
  local fits = bare
  for _, form in ipairs(row.forms) do
    local before, after = form:match("^(.-){}(.*)$")
    if pin.value == before .. version.value .. after then fits = true end
  end
  if not fits then return pin.field .. " is " .. pin.value .. ", " .. version.field .. " is " .. version.value end
  if row.staged and image then
    -- What was staged is called by its commit, what was released by its tag.
    local staged = image:find(row.staged, 1, true) ~= nil
    if staged ~= facts.is_commit(version.value) then
      return image .. (staged and " is staged, and " or " is released, and ") .. version.value
        .. (staged and " is a tag" or " is a commit")
    end
  end
end

local function in_sync(train, add, results)
  for _, row in ipairs(tables.in_sync) do
    local list, version = pins_in(train, row), facts.pin(train, row.holder, row.project, row.to)
    local all = true
    for _, pin in ipairs(version and list or {}) do
      local why = out_of_sync(row, pin, version)
      if why then
        all = false
        add("train.pin-in-sync", facts.subject(pin), why, { from = pin.value, to = version.value, rule = row.name,
          evidence = train.file .. ": pins" })
      end
    end
    if version and #list > 0 then results[#results + 1] = { name = row.name, result = all and "sync" or "MISMATCH" } end
  end
end

-- Every pin that is about `word`: "reqs-payload" as a project, as a field, or as an end of one ("s390x/reqs-payload").
local function pins_about(train, word)
  local list = {}
  for _, pin in ipairs(train.pins) do
    local field = pin.field
    if pin.project == word or field == word or (field:sub(1, #word) == word and field:find("^[^%w-]", #word + 1))
      or (field:sub(-#word) == word and field:find("[^%w-]", -#word - 1) == #field - #word) then
      list[#list + 1] = pin
    end
  end
  table.sort(list, function(a, b)
    if a.holder ~= b.holder then return a.holder < b.holder end
    if a.project ~= b.project then return a.project < b.project end
    return a.field < b.field
  end)
  return list
end

local function same_version(train, add, results)
  for _, row in ipairs(tables.same_version) do
    local list = row.every and pins_about(train, row.every) or {}
    for _, where in ipairs(row.places or {}) do list[#list + 1] = facts.pin(train, where[1], row.project, where[2]) end
    local first, differs = list[1], nil
    for _, pin in ipairs(list) do
      if pin.value ~= first.value then differs = differs or pin end
    end
    if #list > 1 then
      results[#results + 1] = { name = row.name, result = differs and "MISMATCH" or "equal" }
      if differs then
        add("train.same-version", facts.subject(differs), first.holder .. " " .. first.field .. " is " .. first.value .. ", "
          .. differs.holder .. " " .. differs.field .. " is " .. differs.value .. "; put it right in " .. row.fix,
          { from = differs.value, to = first.value, rule = row.name, evidence = train.file .. ": pins" })
      end
    end
  end
end

local function mirrors(train, add, results)
  for _, row in ipairs(tables.mirrors) do
    local ours, commit = pinned(train, row.project, add)
    local list = ours and pins_of(train, row.holder, row.project) or {}
    local all_same = true
    for _, theirs in ipairs(list) do
      local other = facts.commit(train, row.project, theirs.value, add)
      if theirs.value ~= ours.value and (commit == nil or commit ~= other) then
        all_same = false
        local far = facts.distance(train, row.project, ours.value, theirs.value)
          or (commit and other and facts.distance(train, row.project, commit, other))
        local ahead, behind = far and tonumber(far.ahead) or nil, far and tonumber(far.behind) or nil
        local how, severity = "nobody knows how far they are apart", "error"
        if ahead and ahead > 0 and (behind or 0) == 0 then
          how, severity = "ahead " .. ahead, "warn"
        elseif behind and behind > 0 and (ahead or 0) == 0 then
          how = "behind " .. behind
        elseif far then
          how = "diverged"
        end
        add("train.pin-mismatch", facts.subject(theirs), row.holder .. " pins " .. theirs.value .. ", the train "
          .. ours.value .. ": " .. how, { from = theirs.value, to = ours.value, rule = row.name, severity = severity,
          evidence = train.file .. ": pins" })
      end
    end
    if #list > 0 then results[#results + 1] = { name = row.name, result = all_same and "equal" or "MISMATCH" } end
  end
end

local function floats(value)
  for _, pattern in ipairs(tables.floating) do
    if value == pattern or (pattern:match("[%^%$]") and value:match(pattern)) then return true end
  end
  return false
end

local function each_pin(train, add)
  local released = train.phase == "released" or train.phase == "post"
  for _, pin in ipairs(train.pins) do
    local at = { from = pin.value, evidence = train.file .. ": pins" }
    if pin.kind == "floating" or floats(pin.value) then
      at.severity = not released and "info" or nil
      add("train.floating-pin", facts.subject(pin), pin.value .. " names something else tomorrow", at)
    elseif pin.comment then
      local tag = pin.comment:match("(v?%d+%.%d+%.%d+[%w.-]*)")
      local commit, tagged = facts.commit(train, pin.project, pin.value, add), tag and facts.commit(train, pin.project, tag, add)
      if tag and commit and tagged and commit ~= tagged then
        at.to = tag
        add("train.comment-mismatch", facts.subject(pin), "the comment says " .. tag .. ", which is another commit", at)
      end
    end
  end
  if released then
    for _, name in ipairs({ "guest-components", "Trustee" }) do
      local pin = facts.pin(train, tables.pinned_by, name, "version")
      if pin and facts.is_commit(pin.value) then
        local tagged = false
        for _, t in ipairs(train.tags) do tagged = tagged or (t.project == name and t.commit == pin.value) end
        if not tagged then
          add("train.unreleased-dep", facts.subject(pin), "no tag of " .. name .. " is at the commit that is pinned",
            { from = pin.value, evidence = train.file .. ": tags" })
        end
      end
    end
  end
end

-- A name that is another thing by now: nothing that was tested under it counts.
function consistency.moved(train, add)
  for _, t in ipairs(train.tags) do
    local is = t.digest or t.commit
    if t.was and is and t.was ~= is then
      add("train.digest-moved", "project/" .. t.project, "tag " .. t.tag .. " is another " .. (t.digest and "digest" or "commit")
        .. " than it was", { from = t.was, to = is, evidence = train.file .. ": tags" })
    end
  end
  for _, image in ipairs(train.images) do
    if image.was and image.digest and image.was ~= image.digest then
      add("train.digest-moved", "image/" .. image.ref, "it is another digest than it was", { from = image.was, to = image.digest,
        evidence = train.file .. ": images" })
    end
  end
end

local function bundle(train, add)
  local bundle = train.by_name[tables.bundle]
  if not bundle then return end
  local released = train.phase == "released" or train.phase == "post"
  local release = bundle.release
  if released and not (release and release:match("^%d+%.%d+%.%d+$")) then
    add("train.bundle-kind", "project/" .. tables.bundle, "the bundle is " .. (release or bundle.candidate or "unknown")
      .. ", which is no release of " .. tables.bundle, { from = release or bundle.candidate, evidence = train.file .. ": projects" })
  end
  for _, pin in ipairs(pins_about(train, tables.reqs_payload)) do
    if train.reqs_payload_commit and pin.value ~= train.reqs_payload_commit then
      add("train.reqs-stale", facts.subject(pin), "the pre-install folder has changed since", { from = pin.value,
        to = train.reqs_payload_commit, evidence = train.file .. ": reqs_payload_commit" })
    end
  end
end

-- Weak edges are dropped before anything is put in order; what is left must have no circle.
function consistency.order(edges, add, file)
  local after, names, seen = {}, {}, {}
  local function meet(name)
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
      after[name] = {}
    end
  end
  for _, edge in ipairs(edges) do
    meet(edge.from)
    meet(edge.to)
    if edge.kind ~= "weak" then
      local list = after[edge.to]
      list[#list + 1] = edge.from
    end
  end
  table.sort(names)
  local state, order, path = {}, {}, {}
  local function visit(name)
    state[name] = "open"
    path[#path + 1] = name
    table.sort(after[name])
    for _, before in ipairs(after[name]) do
      if state[before] == "open" then
        local circle, on = { before }, false
        for _, step in ipairs(path) do
          if on then circle[#circle + 1] = step end
          on = on or step == before
        end
        circle[#circle + 1] = before
        local forward = {}
        for i = #circle, 1, -1 do forward[#forward + 1] = circle[i] end
        add("train.cycle", "edge/" .. forward[1] .. "->" .. forward[2], "projects wait for each other: "
          .. table.concat(forward, " -> "), { evidence = file .. ": edges" })
      elseif not state[before] then
        visit(before)
      end
    end
    path[#path] = nil
    state[name] = "done"
    order[#order + 1] = name
  end
  for _, name in ipairs(names) do
    if not state[name] then visit(name) end
  end
  return order
end

-- The edges of a train: its own, else those of tables.lua.
function consistency.edges(train) return #train.edges > 0 and train.edges or tables.edges end

-- What may lag: said by how much, where the one that holds it says anything of its pins.
local function weak(train, add)
  for _, edge in ipairs(consistency.edges(train)) do
    if edge.kind == "weak" and edge.field then
      local holds = false
      for _, pin in ipairs(train.pins) do holds = holds or pin.holder == edge.to end
      local pin = facts.pin(train, edge.to, edge.from, edge.field)
      if pin then
        local _, commit = pinned(train, edge.from, add)
        local its = facts.commit(train, edge.from, pin.value, add)
        if commit and its ~= commit then
          local far = its and facts.distance(train, edge.from, its, commit)
          add("train.weak-stale", facts.subject(pin), edge.field .. " of " .. edge.to .. " uses another " .. edge.from
            .. (far and far.ahead and ", " .. far.ahead .. " commits back" or ""), { from = pin.value, to = commit, rule = "weak",
            evidence = train.file .. ": pins" })
        end
      elseif holds then
        add("train.weak-stale", "edge/" .. edge.from .. "->" .. edge.to, "nothing pins " .. edge.from .. " for " .. edge.field .. " of "
          .. edge.to, { rule = "weak", evidence = train.file .. ": pins" })
      end
    end
  end
end

-- check(train, add): a row for each comparison that was made.
function consistency.check(train, add)
  local results = {}
  consistency.order(consistency.edges(train), add, train.file)
  speak(train, add, results)
  in_sync(train, add, results)
  same_version(train, add, results)
  mirrors(train, add, results)
  each_pin(train, add)
  consistency.moved(train, add)
  weak(train, add)
  bundle(train, add)
  return results
end

return consistency
