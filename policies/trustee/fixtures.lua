-- For the tests of this pack: its files, and a namespace in which answers come true as the core makes them.
local catalogue = require("catalogue")
local plain = require("plain")
local templates = require("templates")
local roles = require("roles")

local fixtures = { A = "trustee-operator.confidentialcontainers.org/" }

local folders = { "latest", "v0.10.0", "v0.11.0", "v0.14.0", "v0.15.0", "v0.16.0", "v0.17.0", "v0.18.0", "v0.19.0", "v0.20.0" }

-- The files as a call gets them; `changed`: other texts by path, false for none.
function fixtures.files(changed)
  local text = { ["versions.json"] = file("data/versions.json"),
    ["settings.json"] = '{"environment": {"OPERATOR_IMAGE_NAME": "registry.example.com/windlass:1"}}' }
  for _, folder in ipairs(folders) do
    for _, names in pairs(roles) do
      for _, name in ipairs(names) do
        local path = folder .. "/" .. name
        local ok, content = pcall(file, "data/" .. path)
        if ok and content then text[path] = content end
      end
    end
  end
  for path, content in pairs(changed or {}) do text[path] = content or nil end
  return { text = text, digest = "", problem = "", refused = "" }
end

-- A catalogue of these versions and mappings, as text.
function fixtures.catalogue(versions, mappings, more)
  local all = { supported_versions = versions, default_version = "latest", version_mappings = mappings }
  for key, value in pairs(more or {}) do all[key] = value end
  return json.encode(all)
end

function fixtures.made(files)
  local made = catalogue.of(files.text)
  return made
end

-- The text of a role of a release.
function fixtures.rendered(files, version, role, config)
  local made = fixtures.made(files)
  local found = templates.resolve(files.text, made, version, role)
  if not found.text then return nil, found end
  return templates.render(found, role, made.rows[version], config), found
end

local function digests(data)
  local out = {}
  for key, value in pairs(data or {}) do
    -- A generated value differs each time it is made; here its name will do.
    out[key] = digest.of(type(value) == "string" and value or json.encode(value))
  end
  return out
end

local function fill_in(object, fields)
  for key, value in pairs(fields) do
    if object[key] == nil then object[key] = value end
  end
  return object
end

-- An object as a hook sees it.
function fixtures.object(fields)
  local object = plain.copy(fields)
  fill_in(object, { labels = {}, annotations = {}, namespace = "ns", uid = "u-" .. fields.name, generation = 1, rest = {}, edited = {},
    deleting = false, ready = true, created = 1, digests = digests(fields.data) })
  object.digests = digests(object.data)
  if object.kind == "Secret" then object.data = nil end
  return object
end

-- What the pack may say; docs/reference is made from it.
local says = json.decode(file("says.json"))
local words = {}
for _, c in ipairs(says.conditions) do words[c.kind .. " " .. c.type .. " " .. c.status .. " " .. c.reason] = true end
for _, e in ipairs(says.events) do words[e.kind .. " " .. e.type .. " " .. e.reason] = true end

-- Every word of an answer stands in that table; Ready of an instance has the reason of whatever fails.
local function check_words(kind, answer)
  local told = {}
  for _, c in ipairs(answer.conditions or {}) do
    if not (c.type == "Ready" and c.status == "False" and kind == "TrusteeConfig") then
      told[#told + 1] = kind .. " " .. c.type .. " " .. c.status .. " " .. c.reason
    end
  end
  for _, e in ipairs(answer.events or {}) do told[#told + 1] = kind .. " " .. e.type .. " " .. e.reason end
  for _, child in ipairs(answer.children) do
    for how, reason in pairs(child.events or {}) do told[#told + 1] = kind .. (how:find("failed") and " Warning " or " Normal ") .. reason end
  end
  for _, one in ipairs(told) do
    if not words[one] then error("says.json lacks: " .. one) end
  end
end

local overlay
function overlay(there, asked, before)
  if type(asked) ~= "table" or type(there) ~= "table" or asked[1] ~= nil then return plain.copy(asked) end
  local out = plain.copy(there)
  -- What we asked for and no longer do goes, where no other has changed it meanwhile.
  for key, value in pairs(type(before) == "table" and before or {}) do
    if asked[key] == nil and type(value) == "table" and value[1] == nil and type(out[key]) == "table" then
      out[key] = overlay(out[key], {}, value)
      if empty(out[key]) then out[key] = nil end
    elseif asked[key] == nil and plain.same(out[key], value) then
      out[key] = nil
    end
  end
  for key, value in pairs(asked) do out[key] = overlay(out[key], value, type(before) == "table" and before[key] or nil) end
  return out
end

-- A namespace with one parent. `pass` asks once and makes the answer true, `settle` until nothing changes.
function fixtures.world(parent, files, sync)
  local world = { parent = fixtures.object(parent), files = files, children = {}, related = {}, asked = {}, writes = {}, secrets = 0 }

  function world.put(object)
    world.related[object.kind .. "/" .. object.name] = fixtures.object(object)
  end

  local function make(key, object)
    world.writes[#world.writes + 1] = "create " .. key
    local made = { apiVersion = object.apiVersion, kind = object.kind, name = object.metadata.name, labels = object.metadata.labels,
      annotations = plain.copy(object.metadata.annotations or {}), spec = object.spec, data = object.data, rest = { type = object.type } }
    made.annotations["windlass.dev/composed-by"] = "windlass-trustee"
    world.children[key] = fixtures.object(made)
    if object.kind == "Secret" then
      for name, value in pairs(object.data or {}) do
        if type(value) == "table" and value.generate then
          world.secrets = world.secrets + 1
          world.children[key].digests[name] = digest.of("generated " .. world.secrets)
        elseif type(value) == "table" and value.copy then
          world.children[key].digests[name] = world.related["Secret/" .. value.copy.secret].digests[value.copy.key]
        end
      end
    end
  end

  local function change(key, object)
    local there = world.children[key]
    local asked = { labels = object.metadata.labels, annotations = object.metadata.annotations, spec = object.spec }
    if object.kind ~= "Secret" then asked.data = object.data end
    local before = world.asked[key] or {}
    local new = plain.copy(there)
    for _, part in ipairs({ "labels", "annotations", "spec", "data" }) do
      if asked[part] ~= nil or before[part] ~= nil then new[part] = overlay(there[part], asked[part] or {}, before[part]) end
    end
    if object.kind == "Secret" then
      for name, value in pairs(object.data or {}) do
        if type(value) == "table" and value.copy then
          new.digests[name] = world.related["Secret/" .. value.copy.secret].digests[value.copy.key]
        elseif type(value) == "table" and value.generate and not new.digests[name] then
          world.secrets = world.secrets + 1
          new.digests[name] = digest.of("generated " .. world.secrets)
        end
      end
    elseif new.data then
      new.digests = digests(new.data)
    end
    world.asked[key] = plain.copy(asked)
    if plain.same(new, there) then return end
    if not plain.same(new.spec, there.spec) then new.generation = there.generation + 1 end
    world.children[key] = new
    world.writes[#world.writes + 1] = "change " .. key
  end

  -- With `most`, the process dies after that many writes.
  function world.pass(most)
    local answer = sync(world.parent, world.related, world.children, world.files)
    check_words(world.parent.kind, answer)
    local asked, before = {}, #world.writes
    for _, child in ipairs(answer.children) do
      if most and #world.writes - before >= most then return nil end
      local object = child.object
      local key = object.kind .. "/" .. object.metadata.name
      if asked[key] then error(key .. " is asked for twice") end
      asked[key] = true
      if not world.children[key] then
        make(key, object)
        if object.kind ~= "Secret" or (child.way or "own") == "own" then
          world.asked[key] = { labels = plain.copy(object.metadata.labels), annotations = plain.copy(object.metadata.annotations),
            spec = plain.copy(object.spec), data = object.kind ~= "Secret" and plain.copy(object.data) or nil }
        end
      elseif (child.way or "own") == "own" then
        change(key, object)
      end
    end
    local gone = {}
    for key, there in pairs(world.children) do
      if not asked[key] and there.annotations["windlass.dev/composed-by"] then gone[#gone + 1] = key end
    end
    for _, key in ipairs(gone) do
      world.children[key] = nil
      world.writes[#world.writes + 1] = "delete " .. key
    end
    world.parent.status = plain.copy(answer.status)
    world.parent.status.conditions = plain.copy(answer.conditions)
    world.answer = answer
    return answer
  end

  -- The events and writes of all passes until the last, which writes nothing.
  function world.settle()
    world.writes, world.events = {}, {}
    for _ = 1, 6 do
      local before = #world.writes
      world.pass()
      for _, event in ipairs(world.answer.events) do world.events[event.reason] = event.message end
      if #world.writes == before then return world end
    end
    error("it does not settle: " .. table.concat(world.writes, ", "))
  end

  function world.condition(type)
    for _, c in ipairs(world.answer.conditions) do
      if c.type == type then return c end
    end
    return nil
  end
  function world.reason(type)
    local c = world.condition(type)
    return c and c.status .. "/" .. c.reason or "none"
  end
  function world.map(suffix) return world.children["ConfigMap/" .. world.parent.name .. "-" .. suffix] end
  function world.kbs() return world.children["KbsConfig/" .. world.parent.name .. "-kbs-config"] end
  function world.edit(object, key, text_now)
    object.data[key] = text_now
    object.digests = digests(object.data)
  end
  return world
end

-- A Secret of type kubernetes.io/tls.
function fixtures.tls_secret(name, text_of)
  return { apiVersion = "v1", kind = "Secret", name = name, rest = { type = "kubernetes.io/tls" },
    data = { ["tls.key"] = "key " .. (text_of or name), ["tls.crt"] = "crt " .. (text_of or name) } }
end

function fixtures.trustee(spec, name)
  return { apiVersion = "confidentialcontainers.org/v1alpha1", kind = "TrusteeConfig", name = name or "t", spec = spec or {} }
end

fixtures.restricted = { profileType = "Restricted", httpsSpec = { tlsSecretName = "https" },
  attestationTokenVerificationSpec = { tlsSecretName = "token" } }

-- A settled instance; Restricted ones have their Secrets.
function fixtures.instance(spec, files, sync, name)
  local world = fixtures.world(fixtures.trustee(spec, name), files or fixtures.files(), sync)
  world.put(fixtures.tls_secret("https"))
  world.put(fixtures.tls_secret("token"))
  return world
end

return fixtures
