-- What requests.yaml asks of a Release.
local image = require("image")
local tables = require("tables")

local requests = {}

local function place(file, i, j)
  return file.file .. ": releases[" .. i .. "]" .. (j and ".requests[" .. j .. "]" or "")
end

-- The version by which rules are looked up.
local function judged_as(version)
  return tables.prereleases == "strict" and version or image.base_of(version)
end

-- The lowest of some versions, by their base.
local function lowest_of(offered)
  local lowest
  for _, version in ipairs(offered) do
    local base = image.base_of(version)
    if not lowest or semver.compare(base, lowest) < 0 then lowest = base end
  end
  return lowest
end

-- What asks something of Releases that were given up, all of them: nothing that is offered, and nothing that may still come, is
-- in its range. One about Releases to come is not dead, it waits.
function requests.dead(file, offered, add)
  local lowest = lowest_of(offered)
  if not lowest then return end
  for i, block in ipairs(file.blocks) do
    if not semver.problem(block.range) and not semver.overlap(block.range, ">= " .. lowest) then
      add("request.dead", "requests/" .. file.file, "'" .. block.range .. "' is below " .. lowest
        .. ", the lowest Release that is offered", { from = block.range, evidence = place(file, i) .. ".name" })
    end
  end
end

-- judge(release, version, file, add): a row for each thing asked of it.
function requests.judge(release, version, file, add)
  local rows = {}
  local asked = judged_as(version)
  local items = {}
  for _, entry in ipairs(release.components) do items[entry.name] = { "component", entry.version } end
  for _, entry in ipairs(release.apps) do items[entry.name] = items[entry.name] or { "app", entry.version } end
  -- Only an active Release is held to them; of others it is said.
  local severity = release.state ~= "active" and "info" or nil
  for i, block in ipairs(file.blocks) do
    local wrong, at = semver.problem(block.range)
    if wrong then
      add("request.syntax", "requests/" .. file.file, "'" .. block.range .. "', character " .. at .. ": " .. wrong,
        { from = block.range, evidence = place(file, i) .. ".name" })
    else
      local applies = semver.satisfies(asked, block.range)
      for j, request in ipairs(block.requests) do
        local evidence = place(file, i, j)
        local unreadable, where = semver.problem(request.version)
        if unreadable then
          add("request.syntax", "requests/" .. file.file, "'" .. request.version .. "', character " .. where .. ": "
            .. unreadable, { from = request.version, evidence = evidence .. ".version" })
        end
        local excused = false
        for k, exception in ipairs(request.except) do
          -- It speaks of the Release that it names and of no other.
          if image.without_v(exception.release) == version then excused = true end
          if exception.reason == "" then
            add("request.no-reason", "requests/" .. file.file, "an exception for " .. exception.release .. " gives no reason",
              { from = exception.release, evidence = evidence .. ".except[" .. k .. "]" })
          end
        end
        if applies and not unreadable and not excused then
          local item = items[request.name]
          local actual = item and image.without_v(item[2])
          local result
          if not item then
            result = "missing"
            add("request.missing", "app/" .. request.name, "Releases in '" .. block.range .. "' need " .. request.name .. " "
              .. request.version, { to = request.version, rule = block.range, evidence = evidence, severity = severity })
          elseif semver.parse(actual) and semver.satisfies(actual, request.version) then
            result = "satisfied"
          else
            result = "violated"
            add("request.violated", item[1] .. "/" .. request.name, "Releases in '" .. block.range .. "' need "
              .. request.name .. " " .. request.version .. ", this one has " .. actual,
              { from = actual, to = request.version, rule = block.range, evidence = evidence, severity = severity })
          end
          rows[#rows + 1] = { range = block.range, item = request.name, version_range = request.version,
            actual = item and item[2] or "", result = result }
        end
      end
    end
  end
  return rows
end

return requests
