-- What must agree before a train is released.
local facts = require("facts")
local suites = require("suites")
local tables = require("tables")

local consistency = {}

local function text_of(value) return value == nil and "unknown" or value end

-- What was compared, as a person reads it: "Kata nydus-snapshotter.version v0.15.2".
local function seen(pin) return pin.holder .. " " .. pin.project .. "." .. pin.field .. " " .. pin.value end
local function all_seen(list)
  local texts = {}
  for i, pin in ipairs(list) do texts[i] = seen(pin) end
  return texts
end

-- A row of the answer: a comparison that was made, and of what.
local function row(results, name, good, bad, differs, list)
  results[#results + 1] = { name = name, result = differs and bad or good, saw = list }
end

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

local function not_evaluated(add, subject, rule, why, evidence)
  add("check.not-evaluated", subject, why, { rule = rule, evidence = evidence })
end

-- What a pin was before: as the document says it, else as the former train has it.
local function before(pin) return pin and (pin.was or pin.former) end

local function speak(train, add, results)
  for _, pair in ipairs(tables.pairs) do
    local a, b = train.by_name[pair[1]], train.by_name[pair[2]]
    local edge, evidence = "edge/" .. pair[2] .. "->" .. pair[1], train.file .. ": projects"
    if not a or not b then
      not_evaluated(add, edge, "train.skew", (a and pair[2] or pair[1]) .. " is no project of this train: whether they speak with each other was not looked at",
        evidence)
    else
      local pin_a, pin_b = pinned(train, pair[1], add), pinned(train, pair[2], add)
      local names = pair[1] .. " " .. (pin_a and pin_a.value or "?") .. " and " .. pair[2] .. " " .. (pin_b and pin_b.value or "?")
      if a.protocol and b.protocol then
        row(results, pair.name, "equal", "SKEW", a.protocol ~= b.protocol, { pair[1] .. " " .. a.protocol, pair[2] .. " " .. b.protocol })
        if a.protocol ~= b.protocol then
          add("train.skew", edge, names .. " speak " .. a.protocol .. " and " .. b.protocol .. ": the server takes its own and no other",
            { rule = pair.name, evidence = evidence, from = a.protocol, to = b.protocol })
        end
      else
        not_evaluated(add, edge, "train.skew", "the document does not say which protocol " .. names .. " speak", evidence)
      end
      local tested = suites.pair_passed(train, pair[1], pair[2])
      local at = { rule = "evidence", from = text_of(a.evidence), to = text_of(b.evidence), evidence = evidence }
      if a.evidence and b.evidence then
        if a.evidence ~= b.evidence then
          at.severity = "error"
          add("train.evidence-skew", edge, names .. " use evidence " .. a.evidence .. " and " .. b.evidence, at)
        end
      elseif not tested then
        add("train.evidence-skew", edge, "the document does not say which evidence " .. names .. " use, and no suite of the pair passed", at)
      end
      local function moved(pin) return before(pin) ~= nil and not facts.same(train, pin.project, before(pin), pin.value) end
      local moved_a, moved_b = pin_a ~= nil and moved(pin_a), pin_b ~= nil and moved(pin_b)
      if moved_a ~= moved_b and not suites.pair_passed(train, pair[1], pair[2], "for this content") then
        local pin, stayed = moved_a and pin_a or pin_b, moved_a and pair[2] or pair[1]
        add("train.pair-moved-alone", facts.subject(pin), pin.project .. " moved and " .. stayed
          .. " did not, and no suite of the pair passed for this content", { from = before(pin), to = pin.value, rule = pair.name,
          evidence = facts.place(train, pin) })
      end
    end
  end
end

-- A project's candidate is the commit that the train pins, and the one that its release names: a train that was tested with one commit and
-- tags another one is no train.
local function candidates(train, add)
  for _, project in ipairs(train.projects) do
    local is = project.candidate
    local pin = project.name ~= tables.bundle and facts.pin(train, tables.pinned_by, project.name, "version")
    if is and pin and pin.kind ~= "floating" then
      local commit = facts.commit(train, project.name, pin.value, add)
      if commit == nil and pin.value ~= is then
        not_evaluated(add, facts.subject(pin), "train.candidate-mismatch", "no tag says which commit " .. pin.value
          .. " is, so it was not compared with the candidate " .. is .. ": `train facts --clone` reads tags", facts.place(train, pin))
      elseif commit ~= is and pin.value ~= is then
        add("train.candidate-mismatch", "project/" .. project.name, pin.holder .. " pins " .. pin.value .. (commit ~= pin.value and " (" .. commit .. ")" or "")
          .. ", the candidate is " .. is, { from = is, to = commit, rule = "candidate", evidence = facts.place(train, pin) })
      end
    end
    local tagged = project.release and facts.commit(train, project.name, project.release, facts.ignore)
    if is and tagged and tagged ~= is then
      add("train.candidate-mismatch", "project/" .. project.name, "its release " .. project.release .. " is at " .. tagged .. ", the candidate is " .. is,
        { from = is, to = tagged, rule = "release", evidence = train.file .. ": projects[" .. project.name .. "].release" })
    end
  end
end

-- What must be pinned (required of tables.lua).
local function missing(train, add)
  train.missing = {} -- which checks lack what they compare, for the steps
  if not train.by_name[tables.bundle] then
    not_evaluated(add, "project/" .. tables.bundle, "train.bundle-kind", "it is no project of this train: what rides on it was not looked at",
      train.file .. ": projects")
  end
  for _, need in ipairs(tables.required) do
    if facts.takes_part(train, need.holder) and not facts.pin(train, need.holder, need.project, need.field) then
      local why = "nothing says which " .. need.project .. " " .. need.holder .. " pins" .. (need.field and " in " .. need.field or "")
      table.insert(train.missing, { check = need.check, why = why })
      add("train.pin-missing", "pin/" .. need.holder .. "/" .. need.project .. (need.field and "." .. need.field or ""), why, { rule = "required", evidence = train.file .. ": pins", severity = facts.is_planned(train) and "warn" or need.severity })
    end
  end
end

-- The pins that a row of in_sync is about.
local function pins_in(train, row)
  local list = {}
  for _, pin in ipairs(facts.pins_of(train, row.holder, row.project)) do
    if facts.follows(pin, row) then list[#list + 1] = pin end
  end
  return list
end

-- Why a pin does not belong to a version; nil when it does.
local function out_of_sync(row, pin, version)
  local image, is = pin.image, pin.value
  if row.names_image and is:find("/", 1, true) then
    -- The name of an image: its tag, or none where the version is added when it is used.
    image, is = is, is:match(":([^:/]+)$")
  end
  local fits = is == nil
  for _, form in ipairs(row.forms) do
    local before, after = form:match("^(.-){}(.*)$")
    if is == before .. version.value .. after then fits = true end
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
  for _, what in ipairs(tables.in_sync) do
    local list, version = pins_in(train, what), facts.pin(train, what.holder, what.project, what.to)
    local all = true
    for _, pin in ipairs(version and list or {}) do
      local why = out_of_sync(what, pin, version)
      if why then
        all = false
        add("train.pin-in-sync", facts.subject(pin), why, { from = pin.value, to = version.value, rule = what.name,
          evidence = facts.place(train, pin) })
      end
    end
    if version and #list > 0 then row(results, what.name, "sync", "MISMATCH", not all, all_seen(list)) end
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

-- The version in a name: {} of the first form that it has; itself else.
local function version_in(value, forms)
  for _, form in ipairs(forms or {}) do
    local head, tail = form:match("^(.-){}(.*)$")
    if form ~= "{}" and #value > #head + #tail and value:sub(1, #head) == head and value:sub(#value - #tail + 1) == tail then
      return value:sub(#head + 1, #value - #tail)
    end
  end
  return value
end

-- The pins of a row of same_version.
local function pins_of_row(train, what)
  if what.every then return pins_about(train, what.every) end
  if what.holder then return facts.pins_of(train, what.holder, what.project) end
  local list = {}
  for _, where in ipairs(what.places) do list[#list + 1] = facts.pin(train, where[1], what.project, where[2]) end
  return list
end

local function same_version(train, add, results)
  train.alone = {} -- the only pin of a comparison that was not made for want of another one, for the steps
  for _, what in ipairs(tables.same_version) do
    local list = pins_of_row(train, what)
    local about = train.by_name[what.release_of or (what.bundle and tables.bundle) or ""]
    local release = about and about.release
    local first, among, differs = list[1], false, {}
    for _, pin in ipairs(list) do
      local is = version_in(pin.value, what.forms)
      among = among or is ~= version_in(first.value, what.forms)
      if release and is ~= release then differs[#differs + 1] = pin end
      if not release and is ~= version_in(first.value, what.forms) then differs[#differs + 1] = pin end
    end
    if #list > 1 or (#list == 1 and release) then
      local texts = all_seen(list)
      if release then texts[#texts + 1] = about.name .. " " .. release end
      row(results, what.name, "equal", "MISMATCH", #differs > 0, texts)
    end
    if #list == 1 and not release then train.alone[what.name] = seen(list[1]) end
    for _, pin in ipairs(differs) do
      local to = release or first.value
      add("train.same-version", facts.subject(pin), (release and about.name .. " of this train is " or first.holder .. " " .. first.field .. " is ") .. to
        .. ", " .. pin.holder .. " " .. pin.field .. " is " .. pin.value .. "; put it right in " .. what.fix,
        -- Before the release they may all be at the bundle before: that is a step to be done. They are never two.
        { from = pin.value, to = to, rule = what.name, severity = not among and not facts.is_released(train) and "warn" or nil,
          evidence = facts.place(train, pin) })
    end
  end
end

-- The pins of a row of mirrors.
local function mirrored(train, what)
  if what.field then return { facts.pin(train, what.holder, what.project, what.field) } end
  local apart, list = {}, {}
  for _, row in ipairs(tables.mirrors) do
    if row.field and row.holder == what.holder and row.project == what.project then apart[row.field] = true end
  end
  for _, pin in ipairs(facts.pins_of(train, what.holder, what.project)) do
    if not apart[pin.field] then list[#list + 1] = pin end
  end
  return list
end

local function mirrors(train, add, results)
  for _, what in ipairs(tables.mirrors) do
    local list = mirrored(train, what)
    local ours, commit
    if #list > 0 then ours, commit = pinned(train, what.project, add) end
    if #list > 0 and not ours then
      not_evaluated(add, facts.subject(list[1]), "train.pin-mismatch", "the train pins no " .. what.project .. ": there is nothing to compare with",
        facts.place(train, list[1]))
      list = {}
    end
    local all_same = true
    for _, theirs in ipairs(list) do
      local other = facts.commit(train, what.project, theirs.value, add)
      if theirs.value ~= ours.value and (commit == nil or commit ~= other) then
        all_same = false
        local far = facts.distance(train, what.project, ours.value, theirs.value)
          or (commit and other and facts.distance(train, what.project, commit, other))
        local ahead, behind = far and tonumber(far.ahead) or nil, far and tonumber(far.behind) or nil
        local how, severity = "distance unknown", "error"
        if ahead and ahead > 0 and (behind or 0) == 0 then
          how, severity = "ahead " .. ahead, "warn"
        elseif behind and behind > 0 and (ahead or 0) == 0 then
          how = "behind " .. behind
        elseif far then
          how = "diverged"
        end
        add("train.pin-mismatch", facts.subject(theirs), what.holder .. " pins " .. theirs.value .. ", the train "
          .. ours.value .. ": " .. how, { from = theirs.value, to = ours.value, rule = what.name, severity = severity,
          clears = not far and "let `train facts --clone " .. what.project .. "=… --range " .. what.project .. "=" .. ours.value .. ".." .. theirs.value
            .. "` count the commits between them, or pin {to}" or nil, evidence = facts.place(train, theirs) })
      end
    end
    if #list > 0 then
      local texts = all_seen(list)
      texts[#texts + 1] = "the train " .. ours.value
      row(results, what.name, "equal", "MISMATCH", not all_same, texts)
    end
  end
end

local function each_pin(train, add)
  local released = facts.is_released(train)
  for _, pin in ipairs(train.pins) do
    local at = { from = pin.value, evidence = facts.place(train, pin) }
    if pin.kind == "floating" or facts.floats(pin.value) then
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

local function is_release(version) return version ~= nil and version:match("^%d+%.%d+%.%d+$") ~= nil end

local function bundle(train, add)
  local about = train.by_name[tables.bundle]
  local release = about and about.release
  if about and not release and not about.candidate and not facts.is_planned(train) then
    not_evaluated(add, "project/" .. tables.bundle, "train.bundle-kind", "neither its release nor its candidate is named: what rides on it was not compared",
      train.file .. ": projects[" .. tables.bundle .. "]")
  end
  if about and not is_release(release) and (facts.is_released(train) or (release and not facts.is_planned(train))) then
    add("train.bundle-kind", "project/" .. tables.bundle, "the bundle is " .. (release or about.candidate or "unknown")
      .. ", which is no release of " .. tables.bundle, { from = release or about.candidate,
      evidence = train.file .. ": projects[" .. tables.bundle .. "]" })
  end
  -- Those who ship it name a release, and an image of releases.
  for _, holder in ipairs(facts.is_planned(train) and {} or tables.packagers) do
    for _, pin in ipairs(facts.pins_of(train, holder, tables.bundle)) do
      local ci = pin.image ~= nil and pin.image:match("%-ci$") ~= nil
      if ci or not is_release(pin.value) then
        add("train.bundle-kind", facts.subject(pin), holder .. " ships " .. (ci and pin.image .. ":" or "") .. pin.value .. ", which is no release of "
          .. tables.bundle, { from = pin.value, rule = "packagers", evidence = facts.place(train, pin) })
      end
    end
  end
  for _, pin in ipairs(pins_about(train, tables.reqs_payload)) do
    if train.reqs_payload_commit and pin.value ~= train.reqs_payload_commit then
      add("train.reqs-stale", facts.subject(pin), "the pre-install folder has changed since", { from = pin.value,
        to = train.reqs_payload_commit, evidence = train.file .. ": reqs_payload_commit" })
    end
  end
end

-- Only strong edges put projects in order, and they must have no circle.
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
    if edge.kind == "strong" then
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

-- What may lag: said by how much, where the one that holds it says anything of its pins.
local function weak(train, add)
  for _, edge in ipairs(train.edges) do
    local found = false
    for _, field in ipairs(edge.kind == "weak" and edge.fields or {}) do
      local pin = facts.pin(train, edge.to, edge.from, field)
      found = found or pin ~= nil
      local _, commit = pinned(train, edge.from, add)
      local its = pin and facts.commit(train, edge.from, pin.value, add)
      if pin and commit and its ~= commit then
        local far = its and facts.distance(train, edge.from, its, commit)
        add("train.weak-stale", facts.subject(pin), field .. " of " .. edge.to .. " uses another " .. edge.from
          .. (far and far.ahead and ", " .. far.ahead .. " commits back" or ""), { from = pin.value, to = commit, rule = "weak",
          evidence = facts.place(train, pin) })
      end
    end
    if edge.kind == "weak" and edge.fields and not found and train.holds[edge.to] then
      add("train.weak-stale", "edge/" .. edge.from .. "->" .. edge.to, "nothing pins " .. edge.from .. " for " .. edge.fields[1] .. " of "
        .. edge.to, { rule = "weak", evidence = train.file .. ": pins" })
    end
  end
end

-- check(train, add): a row for each comparison that was made: { name, result, saw }.
function consistency.check(train, add)
  local results = {}
  consistency.order(train.edges, add, train.file)
  missing(train, add)
  candidates(train, add)
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
