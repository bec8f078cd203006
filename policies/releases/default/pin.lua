-- Holds an item at a version: which request in which file says so.
local image = require("image")

local pin = {}

-- Ranges that say the same in other words: commas for blanks, a v in front of a version.
local function plain(range)
  return (range:gsub(",", " "):gsub("v(%d)", "%1"):gsub("([=<>!]) +", "%1"):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

-- The Releases that a pin is for: this one alone, or all from its minor on to the first that is free again.
local function range_of(question, add)
  local v = semver.parse(image.without_v(question.release))
  local subject = "release/" .. question.release
  if not v then
    add("bump.version", subject, "'" .. question.release .. "' is no version of three numbers")
    return nil
  end
  if question.up_to == "" then return image.without_v(question.release) end
  local free = image.without_v(question.up_to)
  if not semver.parse(free) then
    add("pin.bad-until", subject, "until: '" .. question.up_to .. "' is no version of three numbers", { to = question.up_to })
    return nil
  end
  if semver.compare(free, image.without_v(question.release)) <= 0 then
    add("pin.bad-until", subject, "until " .. free .. " is not above " .. image.without_v(question.release)
      .. ", so it would hold nothing", { from = question.release, to = free })
    return nil
  end
  return string.format(">= %d.%d.0 < %s", v.major, v.minor, free)
end

-- Where a request names something else of the same Releases.
local function conflicts(question, file, range, add)
  for i, block in ipairs(file.blocks) do
    if not semver.problem(block.range) and semver.overlap(block.range, range) then
      for j, request in ipairs(block.requests) do
        if request.name == question.name and not semver.problem(request.version)
          and not semver.overlap(request.version, question.version) then
          add("request.conflict", "requests/" .. file.file, "no version of " .. question.name .. " is in both '" .. request.version
            .. "' and '" .. question.version .. "'", { from = request.version, to = question.version, rule = block.range,
            evidence = file.file .. ": releases[" .. i .. "].requests[" .. j .. "]" })
        end
      end
    end
  end
end

-- plan(question, add): a row for each folder.
function pin.plan(question, add)
  local range = range_of(question, add)
  local subject = "app/" .. question.name
  local wrong, at = semver.problem(question.version)
  if wrong then
    add("request.syntax", subject, "'" .. question.version .. "', character " .. at .. ": " .. wrong, { from = question.version })
  end
  if not range or wrong then return {} end
  local rows, without, with = {}, {}, 0
  for i, file in ipairs(question.folders) do
    local row = { folder = file.folder, file = file.file, range = range, edit = "new", block = 1, why = "on top" }
    if not file.has then
      row.edit, row.block, row.why = "none", 0, "it has no " .. question.name
      without[#without + 1] = file.folder
    else
      with = with + 1
      conflicts(question, file, range, add)
      for j, block in ipairs(file.blocks) do
        if row.edit == "new" and plain(block.range) == plain(range) then
          row.edit, row.block, row.why = "extended", j, "there are requests for these Releases already"
          for _, request in ipairs(block.requests) do
            if request.name == question.name and plain(request.version) == plain(question.version) then
              row.edit, row.why = "same", "it is asked for already"
            end
          end
        end
      end
    end
    rows[i] = row
  end
  if with == 0 then
    add("pin.unknown-item", subject, "no provider that was named has " .. question.name, { to = question.version })
  elseif #without > 0 then
    add("pin.partly", subject, "it is not in " .. table.concat(without, ", "), { to = question.version })
  end
  return rows
end

return pin
