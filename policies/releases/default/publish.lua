-- Under which name the chart of a Release is published.
local image = require("image")
local tables = require("tables")

local publish = {}

-- plan(release, commit, add): from, to, value, text: the chart again, under the name and version of the Release, with a value
-- that says which one it is. A preview of a commit has the commit in its own version and the plain one inside.
function publish.plan(release, commit, add)
  local provider, version = image.identified(release, add)
  if not provider then return {} end
  local chart = image.chart_of(provider)
  local entry = image.components(release)[chart]
  if not entry or not semver.parse(image.without_v(entry.version)) then
    add("component.missing", "component/" .. chart, "there is no chart to be published", { rule = "published",
      evidence = release.file .. ": spec.components" })
    return {}
  end
  if commit ~= "" and not (commit:match("^%x+$") and #commit >= 7) then
    add("bump.version", "release/" .. release.name, "'" .. commit .. "' is no commit", { from = commit })
    return {}
  end
  local name = tables.published.chart:gsub("{provider}", provider)
  return { { from = chart .. ":" .. image.without_v(entry.version), to = name .. ":" .. version .. (commit ~= "" and "-" .. commit or ""),
    value = tables.published.value, text = version } }
end

return publish
