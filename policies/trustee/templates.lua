-- Which file a release has for a role, and what it becomes.
local placeholders = require("placeholders")
local releases = require("releases")
local roles = require("roles")
local shipped = require("shipped")
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
  -- Submodules have a status of their own; tcb-status has none.
  if role == "resource-restricted" and (from.token == "tcb-status") ~= (to.token == "tcb-status") then return "token" end
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

-- Roles that a folder with seven files has none for: what is shipped stands in.
local beyond_seven = { ["gpu-policy"] = true, ["resource-ibm"] = true }
-- Roles without which no server starts or no client is judged: a release that omits one cannot be made.
local needed = { ["kbs-permissive"] = true, ["kbs-restricted"] = true, ["resource-permissive"] = true,
  ["resource-restricted"] = true, ["resource-ibm"] = true }

local function resolve_in(files, made, version, role)
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
    if there.omit[role] then
      if needed[role] then
        return { how = "missing", searched = searched, why = role .. " of " .. version .. ": " .. at .. " omits it, and no instance can do without" }
      end
      return { how = "absent", searched = searched }
    end
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

-- The shipped file of the nearest release that is like this one, or nil.
local function from_shipped(row, role)
  local files, made = shipped.files()
  local nearest = shipped.nearest(made, row.version)
  local found = resolve_in(files, made, nearest, role)
  if found.how == "absent" then return found end
  if not found.text or templates.difference(role, made.rows[nearest], row) then return nil end
  return { how = "shipped", path = "shipped/" .. found.path, text = found.text, from = found.from, searched = found.searched }
end

-- resolve(files, made, version, role):
--   how    "own", "inherited", "latest" (with a warning), "shipped" (beyond the seven files of a folder), "absent" (it has none),
--          "missing", "incompatible"
--   path, text, from   of the file
--   searched   folders
--   why    of missing and incompatible
function templates.resolve(files, made, version, role)
  local found = resolve_in(files, made, version, role)
  if found.text or found.how == "absent" or not beyond_seven[role] then return found end
  return from_shipped(made.rows[version], role) or found
end

local readers = { ["kbs-permissive"] = "TOML", ["kbs-restricted"] = "TOML", ["reference-values"] = "JSON", ["tdx-config"] = "JSON" }

-- What is wrong with a text that a server would be given, or nil.
local function flaw(role, text, path)
  local form = readers[role]
  if not form then return nil end
  local ok, why = pcall(form == "TOML" and toml.decode or json.decode, text)
  if ok then return nil end
  return path .. ": it is no " .. form .. ": " .. tostring(why):gsub("^.-:%d+: ", "")
end

-- render(found, role, row, config): what a file becomes for a release, or nil and what is wrong with it; config is spec.tlsConfig.
-- Only one role has placeholders: everything else is delivered as it is.
function templates.render(found, role, row, config)
  local text, why = found.text, nil
  if role == "kbs-restricted" then
    text, why = placeholders.render(text, tls.values(row.features.tls_profiles and (config or {}) or nil), found.path)
  end
  why = why or flaw(role, text, found.path)
  if why then return nil, why end
  return text
end

-- problem(files, made): what is wrong with the files of the releases of a catalogue, or nil.
function templates.problem(files, made)
  local paths = {}
  for path in pairs(files) do paths[#paths + 1] = path end
  table.sort(paths)
  for _, path in ipairs(paths) do
    local role, where = templates.role_of(path), path:match("^(.*)/[^/]*$")
    local row = made.rows[where or (made.flat and "latest") or ""]
    if role and row then
      local _, why = templates.render({ text = files[path], path = path }, role, row)
      if why then return why end
    end
  end
  return nil
end

return templates
