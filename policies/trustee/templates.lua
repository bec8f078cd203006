-- Which file a release has for a role, and what it becomes.
local placeholders = require("placeholders")
local releases = require("releases")
local roles = require("roles")
local tls = require("tls")

local templates = {}

-- What two releases must have in common for one's file to serve the other.
local needs = {
  ["kbs-permissive"] = { "grammar", "layout" },
  ["kbs-restricted"] = { "grammar", "layout" },
  ["cpu-policy"] = { "layout", "dialect" },
  ["gpu-policy"] = { "layout", "dialect" },
  ["resource-permissive"] = { "layout" },
  ["resource-restricted"] = { "layout" },
  ["resource-ibm"] = { "layout", "token" },
  ["reference-values"] = { "layout" },
  ["tdx-config"] = {},
}

-- What differs, or nil: a file of `from` serves `to`.
function templates.difference(role, from, to)
  for _, fact in ipairs(needs[role]) do
    if from[fact] ~= to[fact] then return fact end
  end
  -- A token that says nothing of its client cannot be judged.
  if role == "resource-restricted" and (from.token == "none") ~= (to.token == "none") then return "token" end
  return nil
end

local role_of_file = {}
for role, names in pairs(roles) do
  for _, name in ipairs(names) do role_of_file[name] = role end
end

-- The role of a path such as "v0.18.0/kbs-config-restricted.toml"; nil: of none.
function templates.role_of(path) return role_of_file[path:match("[^/]*$")] end

local function folder(version, made)
  if made.flat then return "" end
  return version .. "/"
end

local function find_in(files, made, role, version)
  if not releases.is_version(version) then return nil end
  for _, name in ipairs(roles[role]) do
    local path = folder(version, made) .. name
    if files[path] then return path end
  end
  return nil
end

-- resolve(files, made, version, role):
--   how    "own", "inherited", "latest" (with a warning), "absent" (it has none), "missing", "incompatible"
--   path, text, from   of the file
--   searched   folders
--   why    of missing and incompatible
function templates.resolve(files, made, version, role)
  local row, searched, at = made.rows[version], {}, version
  if role == "tdx-config" and row.features.dcap_verifier then return { how = "absent", searched = searched } end
  while at do
    local there = made.rows[at]
    searched[#searched + 1] = made.flat and "." or at
    local path = find_in(files, made, role, at)
    if path then
      local differs = templates.difference(role, there, row)
      if differs then
        return { how = "incompatible", searched = searched,
          why = role .. ": the file of " .. at .. " has another " .. differs .. " than " .. version }
      end
      return { how = at == version and "own" or "inherited", path = path, text = files[path], from = at, searched = searched }
    end
    if there.omit[role] then return { how = "absent", searched = searched } end
    at = there.extends
  end
  if searched[#searched] ~= "latest" and not made.flat then
    searched[#searched + 1] = "latest"
    local path = find_in(files, made, role, "latest")
    local differs = templates.difference(role, made.rows.latest, row)
    if path and differs then
      return { how = "incompatible", searched = searched,
        why = role .. ": " .. version .. " has no file, and that of latest has another " .. differs }
    end
    if path then return { how = "latest", path = path, text = files[path], from = "latest", searched = searched } end
  end
  return { how = "missing", searched = searched,
    why = role .. " of " .. version .. ": no file in " .. table.concat(searched, ", ") }
end

-- render(found, role, row, config): what a file becomes for a release; config is spec.tlsConfig.
-- Only one role has placeholders: everything else is delivered as it is.
function templates.render(found, role, row, config)
  if role ~= "kbs-restricted" then return found.text end
  return placeholders.render(found.text, tls.values(row.features.tls_profiles and (config or {}) or nil), found.path)
end

return templates
