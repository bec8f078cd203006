-- versions.json: which releases there are, their images, and what their files are like.
local json_text = require("json_text")
local releases = require("releases")
local roles = require("roles")

local catalogue = { file = "versions.json" }

local known_schema = 1
local image_keys = { "kbs_image", "as_image", "rvps_image", "kbs_all_in_one_image" }

-- An image with its registry; what a registry takes in detail is the registry's.
local function is_image(text) return text:match("^[%w][%w.:_-]*/[%w._/:@-]+$") ~= nil end

-- Findings: {line, key, why, level}, level "error" or "warning".
local function checker(lines)
  local list = {}
  local function add(level, key, why)
    list[#list + 1] = { level = level, line = lines[key] or lines[""] or 1, key = key, why = why }
  end
  return list, add
end

local function check_kind(v, wanted, key, add)
  if type(v) == "table" and not getmetatable(v) and (wanted == "object" or wanted == "list") then
    -- Read by the host: what is empty may be either.
    if empty(v) then add("unclear", key, "it is empty") end
    if empty(v) or (v[1] ~= nil) == (wanted == "list") then return true end
  elseif v == nil or json_text.kind(v) == wanted then
    return v ~= nil
  end
  local article = wanted == "object" and "an " or "a "
  add("error", key, "expected " .. article .. wanted .. ", found a " .. json_text.kind(v))
  return false
end

local function read_versions(given, add)
  local listed = {}
  local all = given.supported_versions
  if all == nil then
    add("error", "supported_versions", "it is missing")
    return listed
  end
  if not check_kind(all, "list", "supported_versions", add) then return listed end
  if #all == 0 then add("error", "supported_versions", "it is empty") end
  for i, v in ipairs(all) do
    local key = "supported_versions[" .. i .. "]"
    if check_kind(v, "text", key, add) then
      if not releases.is_version(v) then
        add("error", key, "'" .. v .. "' is no version: expected v1.2.3 or latest")
      elseif listed[v] then
        add("error", key, "'" .. v .. "' is there twice")
      end
      listed[v] = true
    end
  end
  if #all > 0 and not listed.latest then add("error", "supported_versions", "'latest' is missing") end
  return listed
end

local function read_default(given, listed, add)
  local v = given.default_version
  if v == nil then return add("error", "default_version", "it is missing") end
  if check_kind(v, "text", "default_version", add) and not listed[v] then
    add("error", "default_version", "'" .. v .. "' is not in supported_versions")
  end
end

local function read_mapping(version, m, listed, add)
  local at = "version_mappings." .. version
  if not check_kind(m, "object", at, add) then return {} end
  local row = { images = {}, features = {}, omit = {} }
  for _, key in ipairs(image_keys) do
    local path = at .. "." .. key
    if check_kind(m[key], "text", path, add) and m[key] ~= "" then
      if not is_image(m[key]) then add("error", path, "'" .. m[key] .. "' is no full reference of an image") end
      row.images[key] = m[key]
    end
  end
  if check_kind(m.extends, "text", at .. ".extends", add) then
    if not listed[m.extends] then
      add("error", at .. ".extends", "'" .. m.extends .. "' is not in supported_versions")
    else
      row.extends = m.extends
    end
  end
  if check_kind(m.omit, "list", at .. ".omit", add) then
    for i, role in ipairs(m.omit) do
      local path = at .. ".omit[" .. i .. "]"
      if check_kind(role, "text", path, add) then
        if not roles[role] then add("error", path, "there is no template role '" .. role .. "'") end
        row.omit[role] = true
      end
    end
  end
  for key, names in pairs({ layout = releases.layouts, grammar = releases.grammars }) do
    if check_kind(m[key], "text", at .. "." .. key, add) then
      if not names[m[key]] then add("error", at .. "." .. key, "there is no " .. key .. " '" .. m[key] .. "'") end
      row[key] = m[key]
    end
  end
  if check_kind(m.features, "object", at .. ".features", add) then
    for name, on in pairs(m.features) do
      if check_kind(on, "boolean", at .. ".features." .. name, add) then row.features[name] = on end
    end
  end
  if check_kind(m.kbs_protocol, "text", at .. ".kbs_protocol", add) then row.protocol = m.kbs_protocol end
  if check_kind(m.deprecated, "boolean", at .. ".deprecated", add) then row.deprecated = m.deprecated end
  return row
end

-- Every way along `extends` ends; a circle is told once, from the version that comes first in it.
local function check_circles(rows, add)
  local told = {}
  for version in pairs(rows) do
    local way, seen, at = {}, {}, version
    while at and not seen[at] do
      seen[at] = #way + 1
      way[#way + 1] = at
      at = rows[at] and rows[at].extends
    end
    if at and not told[at] then
      local names = {}
      for i = seen[at], #way do
        told[way[i]] = true
        names[#names + 1] = way[i]
      end
      add("error", "version_mappings." .. at .. ".extends", "a circle: " .. table.concat(names, " -> ") .. " -> " .. at)
    end
  end
end

-- The row of a version with what it inherits and what is known by its number.
local function complete(version, rows)
  local own = rows[version] or { images = {}, features = {}, omit = {} }
  local known = releases.of(version)
  local row = { version = version, images = own.images, omit = own.omit, extends = own.extends, protocol = own.protocol,
    deprecated = own.deprecated or false, dialect = known.dialect, token = known.token, file_id = known.file_id,
    policies = known.policies or "policies/opa",
    mapped = rows[version] ~= nil, features = {} }
  local function inherited(read)
    local at = version
    while at do
      local there = rows[at]
      local v = there and read(there)
      if v ~= nil then return v end
      at = there and there.extends
    end
  end
  row.layout = inherited(function(r) return r.layout end) or known.layout
  row.grammar = inherited(function(r) return r.grammar end) or known.grammar
  for _, name in ipairs(releases.features) do
    local on = inherited(function(r) return r.features[name] end)
    if on == nil then on = known[name] or false end
    row.features[name] = on
  end
  return row
end

-- A row is completed when it is asked for: a question is about one or two.
local function build(listed, default, rows)
  local made = { default = default, versions = {} }
  for v in pairs(listed) do made.versions[#made.versions + 1] = v end
  table.sort(made.versions, releases.less)
  made.rows = setmetatable({}, { __index = function(known, v)
    if not listed[v] then return nil end
    known[v] = complete(v, rows)
    return known[v]
  end })
  return made
end

-- What is known of a release by its number alone.
function catalogue.facts(version)
  return complete(releases.is_version(version) and version or "latest", {})
end

local function latest_alone() return build({ latest = true }, "latest", {}) end

-- What is in force when there is nothing else: `latest` with the images that are constants (`bare`).
function catalogue.built_in()
  local made = latest_alone()
  made.rows.latest.bare = true
  return made
end

local function judge(given, lines)
  local findings, add = checker(lines)
  if not check_kind(given, "object", "", add) then return nil, findings end
  local schema = given.schema_version
  if check_kind(schema, "number", "schema_version", add) and (schema < 1 or schema ~= math.floor(schema)) then
    add("error", "schema_version", "expected a whole number from 1 on")
  elseif type(schema) == "number" and schema > known_schema then
    add("error", "schema_version", schema .. " is newer than " .. known_schema .. ", which is known here")
  end
  local listed, rows = read_versions(given, add), {}
  read_default(given, listed, add)
  if check_kind(given.version_mappings, "object", "version_mappings", add) then
    for version, m in pairs(given.version_mappings) do
      if listed[version] then
        rows[version] = read_mapping(version, m, listed, add)
      else
        add("warning", "version_mappings." .. version, "it is not in supported_versions, so it is ignored")
      end
    end
    check_circles(rows, add)
  end
  for _, f in ipairs(findings) do
    if f.level == "error" then return nil, findings end
  end
  return build(listed, given.default_version, rows), findings
end

-- read(text): the catalogue, or nil, and findings. The host reads faster; for the lines of findings, and for who wants to be
-- `careful` (a name that is there twice), it is read here.
function catalogue.read(text, careful)
  local ok, given = pcall(json.decode, text)
  if ok and not careful then
    local made, findings = judge(given, {})
    if made and #findings == 0 then return made, findings end
  end
  local lines
  given, lines = json_text.read(text)
  if given == nil then return nil, { { level = "error", line = lines.line, key = "", why = lines.why } } end
  return judge(given, lines)
end

local function text_of(f, file)
  return file .. ": line " .. f.line .. (f.key ~= "" and ": " .. f.key or "") .. ": " .. f.why
end

-- of(files): the catalogue in force among files by their paths, findings, and what to say of it: {ok, reason, message}.
local most_told = 5

-- The first sentences of findings of a level.
local function sentences(findings, level)
  local out = {}
  for _, f in ipairs(findings) do
    if f.level == level and #out < most_told then out[#out + 1] = text_of(f, catalogue.file) end
  end
  return out
end

-- warnings(files): what a catalogue says without effect, as sentences.
function catalogue.warnings(files)
  local _, findings = catalogue.of(files)
  return sentences(findings, "warning")
end

-- Files that lie flat, without versions.json, are `latest`.
function catalogue.of(files)
  local text = files[catalogue.file]
  if text == nil then
    for path in pairs(files) do
      if not path:find("/", 1, true) then
        local flat = latest_alone()
        flat.flat = true
        return flat, {}, { ok = true, reason = "Flat", message = "there is no versions.json: its folder is release latest" }
      end
    end
    return catalogue.built_in(), {}, { ok = false, reason = "CatalogueInvalid", message = catalogue.file .. ": it is missing" }
  end
  local made, findings = catalogue.read(text)
  if made then
    local message = { #made.versions .. " releases, " .. made.default .. " without a version" }
    for _, warning in ipairs(sentences(findings, "warning")) do message[#message + 1] = warning end
    return made, findings, { ok = true, reason = "Loaded", message = table.concat(message, "; ") }
  end
  return catalogue.built_in(), findings, { ok = false, reason = "CatalogueInvalid", message = table.concat(sentences(findings, "error"), "; ") }
end

-- Why files are no catalogue, or nil: what is refused never takes the place of one.
function catalogue.problem(files)
  local _, _, loaded = catalogue.of(files)
  return not loaded.ok and loaded.message or nil
end

catalogue.text_of = text_of

-- resolve(made, wanted, running, strict): what an instance runs that asks for `wanted` and is known to run `running` (or "").
--   version   nil: nothing may be done
--   ok, reason, message   of the condition VersionResolved
function catalogue.resolve(made, wanted, running, strict)
  wanted, running = wanted or "", running or ""
  if wanted == "" then
    return { version = made.default, ok = true, reason = "DefaultUsed", message = "no version is asked for: " .. made.default }
  end
  if made.rows[wanted] then return { version = wanted, ok = true, reason = "Resolved", message = wanted } end
  local function unknown(version, message)
    return { version = version, ok = false, reason = "UnknownVersion", message = message }
  end
  if not releases.is_version(wanted) then return unknown(nil, "expected v1.2.3 or latest, and nothing else") end
  local missing = wanted .. " is not in the catalogue: "
  if running == "" and strict then return unknown(nil, missing .. "nothing is made until it is") end
  -- An instance that is new runs latest from its first pass on, and its second pass says the same.
  if running == "" or running == "latest" then return unknown("latest", missing .. "latest is used until it is") end
  return unknown(made.rows[running] and running or nil, missing .. running .. " stays until it is")
end

return catalogue
