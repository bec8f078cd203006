-- How two versions differ, and which of them comes later.
local tables = require("tables")
local image = require("image")

local versions = {}

local function level_between(a, b)
  if not a or not b then return "unknown" end
  if a.major ~= b.major then return "major" end
  -- Below 1.0.0 the second number is the one that breaks.
  if a.minor ~= b.minor then return a.major == 0 and "major" or "minor" end
  if a.patch ~= b.patch then return "patch" end
  if a.prerelease ~= b.prerelease then return "prerelease" end
  return "none"
end

-- "major", "minor", "patch", "prerelease" or "none". Texts that are no versions: "unknown".
function versions.level(from, to) return level_between(semver.parse(from), semver.parse(to)) end

-- What a Release must at least be for a change of this level: a pre-release counts as a patch.
versions.weight = { none = 0, unknown = 0, prerelease = 1, patch = 1, minor = 2, major = 3 }

-- -1, 0, 1 by SemVer; nil where one is no version.
function versions.strict(a, b)
  if not semver.parse(a) or not semver.parse(b) then return nil end
  return semver.compare(a, b)
end

local function revision(prerelease, suffix)
  if prerelease == "" then return 0 end
  if prerelease:sub(1, #suffix) ~= suffix then return nil end
  local digits = prerelease:sub(#suffix + 1)
  return digits:match("^%d+$") and tonumber(digits) or nil
end

-- By what is written as a pre-release and means a revision (tables.lua, revisions); nil where nothing is.
local function by_revision(name, x, y)
  if x.prerelease == y.prerelease or x.major ~= y.major or x.minor ~= y.minor or x.patch ~= y.patch then return nil end
  for _, row in ipairs(tables.revisions) do
    if row.name == nil or row.name == name then
      local m, n = revision(x.prerelease, row.suffix), revision(y.prerelease, row.suffix)
      if m and n and m ~= n then return m < n and -1 or 1 end
    end
  end
end

-- The same, with revisions.
function versions.order(name, a, b)
  local x, y = semver.parse(a), semver.parse(b)
  if not x or not y then return nil end
  return by_revision(name, x, y) or semver.compare(a, b)
end

local words = { [-1] = "up", [0] = "same", [1] = "down" }

-- level, direction and strict direction of a change, each version looked at once: "up", "down" or "same" as configured and by
-- SemVer alone; "unknown" for what is no version.
function versions.change(name, a, b)
  a, b = image.without_v(a), image.without_v(b)
  local x, y = semver.parse(a), semver.parse(b)
  if not x or not y then return "unknown", "unknown", "unknown" end
  local strict = words[semver.compare(a, b)]
  return level_between(x, y), words[by_revision(name, x, y)] or strict, strict
end

-- The direction alone.
function versions.direction(name, a, b)
  local _, direction, strict = versions.change(name, a, b)
  return direction, strict
end

return versions
