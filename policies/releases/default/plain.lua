-- A Release as plain tables: what is looked at again and again is copied once, since each look into a view costs as much as ten
-- instructions.
local plain = {}

local none = {}

-- Its head and its components; `component` has them by name, the last one of a name counting, as it does for those who deploy it.
function plain.head(release)
  local out = { name = release.name, file = release.file, folder = release.folder, state = release.state,
    components = {}, component = {} }
  local list = release.components
  for i = 1, #list do
    local entry = list[i]
    local one = { name = entry.name, version = entry.version }
    out.components[i], out.component[one.name] = one, one
  end
  return out
end

-- All of it; `app` as `component`.
function plain.whole(release)
  local out = plain.head(release)
  out.stored_as, out.archived, out.hash, out.problems = release.stored_as, release.archived, release.hash, release.problems
  local list = release.components
  for i = 1, #list do
    local entry, one = list[i], out.components[i]
    one.catalog, one.reference = entry.catalog, entry.reference
  end
  out.apps, out.app = {}, {}
  list = release.apps
  for i = 1, #list do
    local entry = list[i]
    local needs, names = none, entry.depends_on
    if names and #names > 0 then
      needs = {}
      for j, name in ipairs(names) do needs[j] = name end
    end
    local one = { name = entry.name, version = entry.version, catalog = entry.catalog, depends_on = needs }
    out.apps[i], out.app[one.name] = one, one
  end
  return out
end

return plain
