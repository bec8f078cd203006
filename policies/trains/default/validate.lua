-- Refuses a tables.lua that means something else than it says: a pack with an error in its tables is not loaded.
local names = require("names")

-- problems(tables, text): sentences, each with the line of `text` (the content of tables.lua) and the nearest known name.
local function problems(tables, text)
  local found = {}
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end

  -- The first line that says the word, behind the one that says where; else the first at all.
  local function line_of(word, where)
    local first, behind, passed = nil, nil, where == nil
    for i, line in ipairs(lines) do
      passed = passed or line:find(where, 1, true) ~= nil
      if line:find('"' .. word .. '"', 1, true) or line:find(word .. " =", 1, true) then
        first = first or i
        if passed then behind = behind or i end
      end
    end
    return behind or first
  end
  local function wrong(place, word, why, where)
    local line = line_of(word, where)
    found[#found + 1] = "tables.lua" .. (line and ":" .. line or "") .. ": " .. place .. ": " .. why
  end
  local guess = names.guess(50000)
  local function one_of(place, word, known, what, where)
    if word ~= nil and not known[word] then
      local near = guess(tostring(word), known)
      wrong(place, tostring(word), "there is no " .. what .. " '" .. tostring(word) .. "'" .. near, where)
    end
  end
  local set, projects = names.set, names.set(tables.projects)
  -- A project that a line brings with it is a new one; one that is nearly called as another is a mistake.
  local function project(place, name, where)
    if name == nil or projects[name] then return end
    local near, which = guess(tostring(name), projects)
    if which or name == "" then wrong(place, tostring(name), "there is no project '" .. tostring(name) .. "'" .. near, where) end
  end
  project("bundle", tables.bundle, "bundle =")
  project("pinned_by", tables.pinned_by, "pinned_by =")
  for _, name in ipairs(tables.packagers) do project("packagers", name, "packagers = {") end
  local kinds = set({ "strong", "pair", "weak", "same-version" })
  for i, edge in ipairs(tables.edges) do
    local place = "edges[" .. i .. "]"
    one_of(place .. ".kind", edge.kind, kinds, "kind of an edge", "edges = {")
    project(place .. ".from", edge.from, "edges = {")
    project(place .. ".to", edge.to, "edges = {")
    if edge.from == nil or edge.to == nil or edge.kind == nil then wrong(place, "edges", "an edge has from, to and kind") end
  end

  local levels = set({ "info", "warn", "error", "approval" })
  for _, id in ipairs(names.sorted(tables.severities)) do
    one_of("severities[" .. id .. "]", tables.severities[id], levels, "severity", '["' .. id .. '"]')
  end
  for i, row in ipairs(tables.required) do
    local place = "required[" .. i .. "]"
    project(place .. ".holder", row.holder, "required = {")
    project(place .. ".project", row.project, "required = {")
    one_of(place .. ".severity", row.severity, levels, "severity", "required = {")
  end

  local checks = {}
  for _, list in ipairs({ "pairs", "in_sync", "same_version", "mirrors" }) do
    for i, row in ipairs(tables[list]) do
      local place = list .. "[" .. i .. "]"
      if row.name == nil then
        wrong(place, list, "a check has a name")
      elseif checks[row.name] then
        wrong(place, row.name, "there are two checks " .. row.name, list .. " = {")
      else
        checks[row.name] = true
      end
      project(place .. ".holder", row.holder, list .. " = {")
      project(place .. ".project", row.project, list .. " = {")
      for _, where in ipairs(row.places or {}) do project(place .. ".places", where[1], list .. " = {") end
      for _, form in ipairs(row.forms or {}) do
        if not form:find("{}", 1, true) then wrong(place .. ".forms", form, "'" .. form .. "' has no {} for the version", list .. " = {") end
      end
    end
  end
  for i, pair in ipairs(tables.pairs) do
    for side = 1, 2 do project("pairs[" .. i .. "][" .. side .. "]", pair[side] or "", "pairs = {") end
  end

  local proofs = set({ "bundle-release", "digest", "tags", "release", "images", "link" })
  local fields = set({ "id", "title", "needs", "inputs", "check", "looks_at", "suites", "tested", "pin", "proof", "project", "names", "with",
    "owner", "approval" })
  for _, order in ipairs(names.sorted(tables.steps)) do
    local ids, list = {}, tables.steps[order]
    local where = list == tables.steps["two-pass"] and '["two-pass"] = {' or order .. " = {"
    for i, step in ipairs(list) do
      if step.id == nil then wrong("steps." .. order .. "[" .. i .. "]", order, "a step has an id") end
      if ids[step.id or ""] then wrong("steps." .. order, step.id, "there are two steps " .. step.id, where) end
      ids[step.id or ""] = true
    end
    for _, step in ipairs(list) do
      local place = "steps." .. order .. "[" .. tostring(step.id) .. "]"
      for _, field in ipairs(names.sorted(step)) do one_of(place, field, fields, "field of a step", where) end
      for _, need in ipairs(step.needs or {}) do one_of(place .. ".needs", need, ids, "step", where) end
      for _, name in ipairs(step.check or {}) do one_of(place .. ".check", name, checks, "check", where) end
      for _, list_name in ipairs({ "inputs", "suites", "looks_at" }) do
        for _, name in ipairs(step[list_name] or {}) do project(place .. "." .. list_name, name, where) end
      end
      for _, field in ipairs({ "pin", "project", "with" }) do project(place .. "." .. field, step[field], where) end
      one_of(place .. ".proof", step.proof, proofs, "proof", where)
      if not step.proof and not step.pin and not step.check then wrong(place, step.id, "nothing proves it: it has neither proof, pin nor check", where) end
      if (step.proof == "tags" or step.proof == "release" or step.proof == "images") and not step.project then
        wrong(place, step.id, "proof '" .. step.proof .. "' is about a project, and none is named", where)
      end
    end
  end

  for i, row in ipairs(tables.promote) do
    local place = "promote[" .. i .. "]"
    project(place .. ".project", row.project or "", "promote = {")
    for _, side in ipairs({ "from", "to" }) do
      if not (row[side] or ""):find("{}", 1, true) then wrong(place, row[side] or "promote", side .. " has no {}", "promote = {") end
    end
    if #(row.arches or {}) == 0 then wrong(place, row.from or "promote", "it has no architectures", "promote = {") end
  end
  return found
end

return problems
