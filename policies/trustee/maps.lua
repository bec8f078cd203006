-- The ConfigMaps of an instance: what each is to say, what of it is kept, and whether it fits the release in force.
local catalogue = require("catalogue")
local images = require("images")
local layouts = require("layouts")
local plain = require("plain")
local templates = require("templates")
local tls = require("tls")

local maps = {}

local mark = { version = images.annotation .. "template-version", file = images.annotation .. "template-file",
  digest = images.annotation .. "content-digest" }
maps.mark = mark

-- The ConfigMaps of an instance in the order in which they are made: {suffix, role, field of the KbsConfig}.
function maps.wanted(restricted, ibm)
  local resource = ibm and "resource-ibm" or restricted and "resource-restricted" or "resource-permissive"
  local list = {
    { suffix = "kbs-config", role = restricted and "kbs-restricted" or "kbs-permissive", field = "kbsConfigMapName" },
    { suffix = "resource-policy", role = resource, field = "kbsResourcePolicyConfigMapName" },
    { suffix = "rvps-reference-values", role = "reference-values", field = "kbsRvpsRefValuesConfigMapName" },
  }
  if not ibm then
    list[#list + 1] = { suffix = "attestation-policy-cpu", role = "cpu-policy", field = "kbsAttestationPolicyConfigMapName" }
    list[#list + 1] = { suffix = "attestation-policy-gpu", role = "gpu-policy", field = "kbsGpuAttestationPolicyConfigMapName" }
  end
  list[#list + 1] = { suffix = "tdx-config", role = "tdx-config", field = "kbsTdxConfigMapName" }
  return list
end

-- The data of a new ConfigMap. A file without a key of its own is a JSON object whose members are the keys.
local function fresh(role, row, text)
  local key = layouts.key(role, row)
  if key then return { [key] = text }, key end
  local data, ok, read = {}, pcall(json.decode, text)
  for name, v in pairs(ok and type(read) == "table" and read or {}) do
    data[name] = type(v) == "string" and v or json.encode(v)
  end
  return data, nil
end

-- What a marked text was when we wrote it: of one key, or of all.
local function digest_of(data, key)
  if key then return data[key] and digest.of(data[key]) or "" end
  return digest.of(json.encode(data))
end

local function body(name, data, annotations)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, annotations = annotations }, data = data }
end

-- The release whose file an unmarked text is: the one in force first, then the newest.
local function adopted(files, made, version, role, data)
  local tried = { version }
  for i = #made.versions, 1, -1 do
    if made.versions[i] ~= version then tried[#tried + 1] = made.versions[i] end
  end
  for _, v in ipairs(tried) do
    local row = made.rows[v]
    local key = layouts.key(role, row)
    if key and data[key] then
      local found = templates.resolve(files, made, v, role)
      -- The text of a role with placeholders depends on more than its file.
      if found.text and role ~= "kbs-restricted" and found.text == data[key] then return v, found.path end
    end
  end
  return nil
end

-- plan(context, one, existing): what becomes of one ConfigMap.
--   context   files, made (catalogue), row, policy ("Preserve", "ReplaceIfUnmodified"), config (tlsConfig)
--   child     for the answer; nil: the release has none
--   mismatch  it was made for another grammar, layout or profile
--   replaced, kept   by the policy ReplaceIfUnmodified
--   problem   how, why: no file
--   how       where the file is from
function maps.plan(context, one, name, existing)
  local row, role = context.row, one.role
  local found = templates.resolve(context.files, context.made, row.version, role)
  if found.how == "absent" then return { how = "absent" } end
  if not found.text then return { how = found.how, problem = found.why } end
  local text, why = templates.render(found, role, row, context.config)
  if not text then return { how = "broken", problem = why } end
  local data, key = fresh(role, row, text)
  local out = { how = found.how, role = role, path = found.path, name = name, text = text }
  local function marks(at) return { [mark.version] = row.version, [mark.file] = found.path, [mark.digest] = digest_of(at, key) } end
  if not existing then
    out.child = { way = "create", object = body(name, data, marks(data)) }
    out.made = true
    return out
  end

  local there = plain.copy(existing.data or {})
  local noted = existing.annotations
  local version, file, written = noted[mark.version], noted[mark.file], noted[mark.digest]
  local annotations = {}
  for _, one_mark in pairs(mark) do annotations[one_mark] = noted[one_mark] end
  if not version then
    local as, path = adopted(context.files, context.made, row.version, role, there)
    if as then
      version, file = as, path
      written = digest_of(there, layouts.key(role, context.made.rows[as]))
      annotations = { [mark.version] = version, [mark.file] = file, [mark.digest] = written }
    end
  end
  local from = version and (context.made.rows[version] or catalogue.facts(version))
  local old_key = from and layouts.key(role, from)
  local unmodified = from ~= nil and written == digest_of(there, old_key)
  local other_role = file and templates.role_of(file) ~= role
  local differs = from and version ~= row.version and templates.difference(role, from, row) or nil
  out.mismatch = differs ~= nil or (other_role or false)
  out.why = differs and "made for " .. version or out.mismatch and "made for another profile" or nil

  local result = plain.copy(there)
  if context.policy == "ReplaceIfUnmodified" and (out.mismatch or (unmodified and version ~= row.version)) then
    local added_is_theirs = key and key ~= old_key and there[key] ~= nil and there[key] ~= text
    if unmodified and not added_is_theirs then
      local same = key and old_key == key and there[key] == text
      if not same then
        for k, v in pairs(data) do result[k] = v end
        if old_key and there[old_key] then
          result[old_key .. ".previous"] = there[old_key]
          if old_key ~= key then result[old_key] = nil end
        end
        out.replaced = true
      end
      annotations = marks(result)
      out.mismatch, out.why = false, nil
    else
      out.kept = true
    end
  end
  if key and result[key] == nil then result[key] = text end
  -- The one exception to keeping: TLS follows the spec, in files that were made for it.
  if role == "kbs-restricted" and not other_role and not out.replaced and row.features.tls_profiles
    and (not from or from.features.tls_profiles) and result[key] then
    local merged, odd = tls.merge(result[key], text)
    if not merged then
      out.odd = name .. " is left alone: " .. odd
    elseif merged ~= result[key] then
      result[key] = merged
      if unmodified then annotations[mark.digest] = digest.of(merged) end
    end
  end
  local unchanged = plain.same(result, there)
  for _, one_mark in pairs(mark) do unchanged = unchanged and annotations[one_mark] == noted[one_mark] end
  out.child = { way = unchanged and "create" or "own", object = body(name, result, annotations) }
  return out
end

return maps
