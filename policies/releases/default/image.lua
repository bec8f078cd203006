-- A Release and a pool to the name of an image, and back: both directions of each rule beside one another, so that they agree.
-- The rules are in providers.lua.
local providers = require("providers")
local tables = require("tables")
local template = require("template")

local image = {}

-- ---------------------------------------------------------------- the tables, checked once

local function check(condition, where, what)
  if not condition then error("providers.lua: " .. where .. ": " .. what, 0) end
end

local function check_version(text, where)
  check(text == nil or (type(text) == "string" and semver.valid(text)), where, "expected a version of three numbers")
end

local known_entries = { folder = 1, chart = 1, channel = 1, limit = 1, least = 1, allowed = 1, ends = 1, rules = 1,
  pools = 1, architectures = 1, replace = 1, copies = 1 }
local known_rule_entries = { id = 1, from = 1, to = 1, name = 1, tags = 1, none = 1, constant = 1, reads = 1,
  version = 1, ref = 1 }

local rules_of = {} -- provider → rules with their templates read
local prefixes = {} -- provider → "provider-"
local forms_of = {} -- provider → what its names look like: patterns of characters

-- What is not allowed, and how a name begins and ends, as patterns.
local function forms(about)
  return { bad = about.allowed and "[^" .. about.allowed .. "]", first = about.ends and "^[" .. about.ends .. "]",
    last = about.ends and "[" .. about.ends .. "]$" }
end
for name, provider in pairs(providers) do
  check(name:match("^[a-z][a-z-]*$"), name, "expected small letters and dashes")
  for key in pairs(provider) do check(known_entries[key], name, "unknown entry '" .. tostring(key) .. "'") end
  check(type(provider.rules) == "table", name, "expected rules = { … }")
  local swap = provider.replace
  check(swap == nil or (type(swap) == "table" and #swap == 2 and #swap[1] == 1 and #swap[2] == 1), name .. ".replace",
    "expected two characters, { \".\", \"-\" }")
  for i, copy in ipairs(provider.copies or {}) do
    check(tables.copies[copy], name .. ".copies[" .. i .. "]", "tables.lua has no copies." .. tostring(copy))
  end
  local list = {}
  for i, row in ipairs(provider.rules) do
    local where = name .. ".rules[" .. i .. "]"
    for key in pairs(row) do check(known_rule_entries[key], where, "unknown entry '" .. tostring(key) .. "'") end
    check(type(row.id) == "string" and row.id ~= "", where, "expected an id")
    check_version(row.from, where .. ".from")
    check_version(row.to, where .. ".to")
    check(not (row.from and row.to) or semver.compare(row.from, row.to) < 0, where, "from is not below to")
    local forms = (row.name and 1 or 0) + (row.tags and 1 or 0) + (row.none and 1 or 0) + (row.constant and 1 or 0)
    check(forms == 1, where, "expected name, tags, none or constant")
    local rule = { id = row.id, from = row.from, to = row.to, none = row.none, constant = row.constant and {} }
    for key, its in pairs(row.constant or {}) do
      if type(its) == "table" then
        for j = 2, #its do
          check_version(its[j], where .. ".constant[" .. tostring(key) .. "][" .. j .. "]")
          rule.constant[its[j]] = its[1]
        end
      else
        check_version(key, where .. ".constant")
        rule.constant[key] = its
      end
    end
    rule.name = row.name and template.parse(row.name, "providers.lua: " .. where .. ".name")
    rule.reads = row.reads and template.parse(row.reads, "providers.lua: " .. where .. ".reads") or rule.name
    rule.version = row.version and template.parse(row.version, "providers.lua: " .. where .. ".version")
    if row.ref then
      rule.ref = template.parse(row.ref, "providers.lua: " .. where .. ".ref")
      local parts = template.names(rule.ref)
      check(parts.image and row.ref:match("^[%w.:-]+/[^%s]+$"), where .. ".ref",
        "expected a reference such as registry.example.com/os/node:{image}")
    end
    if row.tags then
      rule.tags = {}
      for j, tag in ipairs(row.tags) do
        rule.tags[j] = template.parse(tag, "providers.lua: " .. where .. ".tags[" .. j .. "]")
      end
    end
    rule.names = rule.name and template.names(rule.name) or {}
    rule.needs = rule.name and template.names(rule.name, nil, true) or {}
    for _, tag in ipairs(rule.tags or {}) do
      template.names(tag, rule.names)
      template.names(tag, rule.needs, true)
    end
    list[i] = rule
  end
  rules_of[name] = list
  prefixes[name] = name .. "-"
  forms_of[provider] = forms(provider)
  for kind, fixed in pairs(provider.pools or {}) do
    for i, row in ipairs(fixed) do
      check_version(row.from, name .. ".pools." .. kind .. "[" .. i .. "].from")
      check_version(row.to, name .. ".pools." .. kind .. "[" .. i .. "].to")
    end
  end
end

for _, copy in pairs(tables.copies) do forms_of[copy] = forms(copy) end

-- ---------------------------------------------------------------- which Release

local known_providers = {}
for provider in pairs(providers) do known_providers[#known_providers + 1] = provider end
table.sort(known_providers)
known_providers = "known are " .. table.concat(known_providers, ", ")

-- The provider and the version of a Release; nil, why and the finding's id when its name says neither. A name is held against
-- the providers that are known: "cloud-director-34.5.0" is not of a provider "cloud".
function image.identify(release)
  local name = release.name
  -- All that stands before the first number: no provider has a digit in its name, which is checked above.
  local best = name:match("^(%l[%l-]*)%-%d")
  if not providers[best or ""] then best = nil end
  local version = best and name:sub(#best + 2)
  if not best and name:match("^v%d") then
    for provider, about in pairs(providers) do
      if (about.folder or provider) == release.folder then best, version = provider, name:sub(2) end
    end
    -- Outside of a folder its operator tells: an "aws-operator" is in each of aws.
    for _, entry in ipairs(not best and release.folder == "" and release.components or {}) do
      local operated = entry.name:match("^(.*)%-operator$")
      if operated and providers[operated] then best, version = operated, name:sub(2) end
    end
    if not best then
      return nil, "its name says no provider, and '" .. release.folder .. "' is no provider's folder; " .. known_providers,
        "provider.unknown"
    end
  end
  if not best then
    return nil, "'" .. name .. "' begins with no provider that is known; " .. known_providers, "provider.unknown"
  end
  if not semver.valid(version) then return nil, "'" .. name .. "' has no version of three numbers", "release.schema" end
  return best, version
end

-- Whose it is and which version, as identify says; a finding when that cannot be told, and nothing else is said of it. `severity`:
-- of one among many, which are judged all the same.
function image.identified(release, add, severity)
  local provider, version, id = image.identify(release)
  if provider then return provider, version end
  add(id, "release/" .. release.name, version, { from = release.name, evidence = release.file .. ": metadata.name",
    severity = severity })
end

-- The version of a Release of this provider; nil when it is of another one. Cheaper than asking whose it is.
function image.version_in(provider, release)
  local name = release.name
  if name:find(prefixes[provider], 1, true) == 1 and name:find("^%d", #provider + 2) then
    local version = name:sub(#provider + 2)
    return semver.valid(version) and version or nil
  end
  if not name:find("^v%d") then return nil end
  local its, version = image.identify(release)
  return its == provider and version or nil
end

function image.chart_of(provider) return providers[provider].chart or ("cluster-" .. provider) end
function image.folder_of(provider) return providers[provider].folder or provider end
function image.channel_of(provider) return providers[provider].channel or tables.channel end

-- Components by name: the last one of a name counts, as it does for those who deploy it.
function image.components(release)
  local found = {}
  for _, entry in ipairs(release.components) do found[entry.name] = entry end
  return found
end

function image.without_v(text) return text:sub(1, 1) == "v" and text:sub(2) or text end

-- ---------------------------------------------------------------- hashed names

-- What stands in a name for a list of tools (name, version): "h" and ten digits of the SHA-256 of its lines, and those lines; nil
-- and why when it cannot be told. The letter keeps it a text in every format.
function image.hash(tools)
  local lines, seen = {}, {}
  for _, tool in ipairs(tools) do
    if tool.name == "" or tool.name:find("[=%s]") then return nil, "'" .. tool.name .. "' is no name of a tool" end
    if seen[tool.name] then return nil, tool.name .. " is there twice" end
    seen[tool.name] = true
    local version = image.without_v(tool.version)
    if version == "" or version:find("%s") then return nil, "'" .. version .. "' is no version of " .. tool.name end
    lines[#lines + 1] = tool.name .. "=" .. version .. "\n"
  end
  if #lines == 0 then return nil, "the list of tools is empty" end
  table.sort(lines)
  local text = table.concat(lines)
  return "h" .. sha256(text):sub(1, tables.hash_digits), text
end

-- Another list of tools that has the same hash and other content; nil when there is none. `known`: lists (image, tools).
function image.collision(hash, text, known)
  for _, other in ipairs(known) do
    local its, lines = image.hash(other.tools)
    if its == hash and lines ~= text then return other.image end
  end
  return nil
end

-- What is inside of each version of the toolbox for a provider, as a list of tools sorted by name; nil where tables.lua has no
-- row for that version.
function image.inside(provider, version)
  local row = tables.binaries[version or ""]
  if not row then return nil end
  local list = {}
  for name, its in pairs(row) do
    local text = its
    if type(its) == "table" then text = its[provider] end
    if text then list[#list + 1] = { name = name, version = text } end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

for version, row in pairs(tables.binaries) do
  if not semver.valid(version) or version:sub(1, 1) == "v" then
    error("tables.lua: binaries[" .. tostring(version) .. "]: expected a version of " .. tables.toolbox .. ", of three numbers and without a v", 0)
  end
  for name, its in pairs(row) do
    local where = "binaries[" .. version .. "]." .. name
    local function good(text) return type(text) == "string" and text ~= "" end
    local right = good(its)
    if type(its) == "table" then
      right = not empty(its)
      for provider, text in pairs(its) do right = right and providers[provider] ~= nil and good(text) end
    end
    if not right then error("tables.lua: " .. where .. ": expected a version, or one by provider: { aws = \"1.2.3\" }", 0) end
  end
end

-- Components that are no part of an image: a pattern of names, as elsewhere in tables.lua.
local function is_baked(name, chart)
  if name == chart then return false end
  for _, other in ipairs(tables.not_baked) do
    if name == other then return false end
  end
  return true
end

-- Whether the names of a provider's images may have this character.
function image.takes(provider, character)
  local bad = forms_of[providers[provider]].bad
  return bad == nil or not character:find(bad)
end

-- What is baked into the image of a Release, and into others: what the question says, else the components of the Release
-- together with what tables.lua knows to be inside of its toolbox.
function image.baked(provider, tools, known, components, chart)
  if tools and #tools > 0 then return tools, known or {} end
  local list, others = {}, {}
  local entry = components[tables.toolbox]
  local version = entry and image.without_v(entry.version)
  local function add(inside, into)
    for _, tool in ipairs(inside or {}) do into[#into + 1] = tool end
    return into
  end
  for name, component in pairs(components) do
    if is_baked(name, chart) then list[#list + 1] = { name = name, version = image.without_v(component.version) } end
  end
  local rest = {}
  for _, tool in ipairs(list) do
    if tool.name ~= tables.toolbox then rest[#rest + 1] = tool end
  end
  for other in pairs(tables.binaries) do
    if other ~= version then
      others[#others + 1] = { image = "one with " .. tables.toolbox .. " " .. other,
        tools = add(image.inside(provider, other), add(rest, { { name = tables.toolbox, version = other } })) }
    end
  end
  return add(image.inside(provider, version), list), others
end

-- What an image is known by: its name, or the tags that must all match; "" for the provider's own.
function image.called(out) return out.tags and table.concat(out.tags, ",") or out.image or "" end

-- ---------------------------------------------------------------- which rule

local function base_of(version)
  if not version:find("[-+]") then return version end
  local v = semver.parse(version)
  return string.format("%d.%d.%d", v.major, v.minor, v.patch)
end
image.base_of = base_of

local function within(row, version)
  return (not row.from or semver.compare(row.from, version) <= 0) and (not row.to or semver.compare(version, row.to) < 0)
end

-- "[1.3.3, 8.5.0)"
local function bounds(rule)
  return (rule.from and "[" .. rule.from or "(0") .. ", " .. (rule.to and rule.to .. ")" or "…)")
end

-- The rule for a version of the chart: nil, an id and why when there is not one.
local function pick(provider, chart, chart_version)
  local version = tables.chart_builds == "strict" and chart_version or base_of(chart_version)
  local best, second
  for _, rule in ipairs(rules_of[provider]) do
    if within(rule, version) then
      local order = not best and 1 or (rule.from and (not best.from and 1 or semver.compare(rule.from, best.from)))
        or (best.from and -1 or 0)
      if order > 0 then
        best, second = rule, nil
      elseif order == 0 then
        second = rule
      end
    end
  end
  if not best then
    return nil, "image.rule-none", "no rule speaks of " .. chart .. " " .. chart_version
  end
  if second then
    return nil, "image.rule-ambiguous",
      "rules " .. best.id .. " and " .. second.id .. " both speak of " .. chart .. " " .. chart_version
  end
  return best, version
end

-- ---------------------------------------------------------------- one pool

local function fits_of(provider)
  local architectures = {}
  for _, infix in pairs(providers[provider].architectures or {}) do
    if infix then architectures[infix] = true end
  end
  return function(part, text)
    if part.major then return text:match("^%d+$") ~= nil end
    if part.segment == "channel" then return tables.channels[text] ~= nil end
    if part.segment == "architecture" then return architectures[text] == true end
    if part.segment == "hash" then return text:match("^h%x+$") ~= nil and #text == 1 + tables.hash_digits end
    if part.segment == "suffix" or part.segment:match("^values%.") then return text ~= "" end
    return semver.valid(text) and text:sub(1, 1) ~= "v"
  end
end

local function swapped(text, swap, count) return (text:gsub("%" .. swap[1], "%" .. swap[2], count)) end

-- Takes a name apart by a rule of the provider, its own first. Returns the segments and the rule.
function image.read(provider, name, first)
  local fits = fits_of(provider)
  local swap = providers[provider].replace
  -- Where dots became dashes the first two of a version are dots again.
  local back = swap and function(text) return text:match("^%d") and swapped(text, { swap[2], swap[1] }, 2) or text end
  local order = { first }
  for i = #rules_of[provider], 1, -1 do order[#order + 1] = rules_of[provider][i] end
  for _, rule in ipairs(order) do
    local found = rule.reads and template.read(rule.reads, name, fits, back)
    if found then return found, rule end
  end
  return nil
end

local no_pools, no_suffix, no_architecture = {}, { "", "pool.suffix" }, { "", "pool.architecture" }
local usual_channel, usual_facts = {}, {}
for provider in pairs(providers) do
  usual_channel[provider] = { image.channel_of(provider), "config default" }
  usual_facts[provider] = { channel = usual_channel[provider], suffix = no_suffix, architecture = no_architecture }
end

-- What a pool is: its own words, else what the chart fixes for its kind.
local function facts_of(provider, pool, chart_version)
  local about = providers[provider]
  local fixed = about.pools and about.pools[pool.kind]
  if not fixed and pool.channel == "" and pool.suffix == "" and pool.architecture == "" then return usual_facts[provider] end
  local facts = {
    channel = pool.channel == "" and usual_channel[provider] or { pool.channel, "pool.channel" },
    suffix = pool.suffix == "" and no_suffix or { pool.suffix, "pool.suffix" },
    architecture = pool.architecture == "" and no_architecture or { pool.architecture, "pool.architecture" },
  }
  for _, row in ipairs(fixed or no_pools) do
    if within(row, chart_version) then
      for name in pairs(facts) do
        if row[name] ~= nil then facts[name] = { row[name], "fixed for " .. pool.kind .. " pools" } end
      end
    end
  end
  return facts
end

-- What holds for a name at `where`: of a provider, or of a copy of the name in a label.
local function check_form(about, where, rule, name, subject, evidence, add)
  if about.limit and #name > about.limit then
    add("image.too-long", subject, "the name has " .. #name .. " characters, the limit of " .. where .. " is "
      .. about.limit .. ": " .. (#name - about.limit) .. " too many", { to = name, rule = rule.id, evidence = evidence })
  end
  if about.least and #name < about.least then
    add("image.bad-char", subject, "the name has fewer than " .. about.least .. " characters",
      { to = name, rule = rule.id, evidence = evidence })
  end
  local form = forms_of[about]
  local bad = form.bad and name:match(form.bad)
  if bad then
    add("image.bad-char", subject, "the name has the character '" .. bad .. "', which " .. where .. " does not take",
      { to = name, rule = rule.id, evidence = evidence })
  elseif form.first and not (name:find(form.first) and name:find(form.last)) then
    add("image.bad-char", subject, "the name begins or ends with a character that " .. where .. " does not take there",
      { to = name, rule = rule.id, evidence = evidence })
  end
end

local function check_name(provider, rule, name, subject, evidence, add)
  check_form(providers[provider], provider, rule, name, subject, evidence, add)
  for _, copy in ipairs(providers[provider].copies or {}) do
    check_form(tables.copies[copy], copy, rule, name, subject, evidence, add)
  end
  if name:find("--", 1, true) or name:find("N/A", 1, true) then
    add("image.bad-char", subject, "the name has an empty part", { to = name, rule = rule.id, evidence = evidence })
  end
end

local function drift(provider, rule, name, want, subject, evidence, add)
  local have = image.read(provider, name, rule)
  if not have then
    add("image.drift", subject, "what runs is called as no rule of " .. provider .. " would call it",
      { from = name, rule = rule.id, evidence = evidence })
    return
  end
  for _, segment in ipairs(want) do
    local running = have[segment.name]
    if running ~= segment.text then
      add("image.drift", subject, segment.name .. " of the image is " .. (running or "not in its name") .. ", the Release says "
        .. segment.text, { from = running or "", to = segment.text, rule = rule.id, evidence = segment.source })
    end
  end
end

local function subject_of(provider, pool)
  return "image/" .. provider .. (pool.name ~= "" and "/" .. pool.name or "")
end

-- A pool that names its image itself.
function image.own(provider, pool, add)
  add("image.override", subject_of(provider, pool), "the pool names its image itself",
    { to = pool.image, evidence = "pool.image" })
  return { pool = pool.name, rule = "override", image = pool.image, length = #pool.image }
end

-- What a name lacks.
local function complain(context, subject, missing, add)
  local rule, release = context.rule, context.release
  for _, name in ipairs(missing) do
    local value = name:match("^values%.(.+)$")
    if name == "hash" then
      add("image.hash-invalid", subject, context.hashed, { rule = rule.id, evidence = "tools" })
    elseif value then
      add("component.missing", "value/" .. value, "rule " .. rule.id .. " needs providerIntegration." .. value .. " of the chart",
        { rule = rule.id, evidence = "providerIntegration." .. value, clears = "give the value: --value {name}=…" })
    elseif context.components[name] then
      add("component.missing", "component/" .. name, "its version '" .. context.components[name].version
        .. "' cannot be part of a name", { from = context.components[name].version, rule = rule.id,
        clears = "give {name} a version of three numbers",
        evidence = release.file .. ": spec.components[" .. name .. "].version" })
    else
      add("component.missing", "component/" .. name, "rule " .. rule.id .. " for " .. context.explained .. " needs it",
        { rule = rule.id, evidence = release.file .. ": spec.components" })
    end
  end
end

-- The second number of the OS tells its channel, which is the pool's, or the only one that the rule has.
local function check_channel(context, channel, pool, subject, add)
  local rule, release = context.rule, context.release
  local its = (rule.names.channel or rule.constant) and channel[1] or image.channel_of(context.provider)
  if pool.channel ~= "" and pool.channel ~= its then
    add("channel.mismatch", subject, "the channel of the pool is " .. pool.channel .. ", and rule " .. rule.id .. " names "
      .. its .. (pool.kind ~= "" and " for " .. pool.kind .. " pools" or ""), { from = pool.channel, to = its, rule = rule.id,
      evidence = "pool.channel", clears = "leave the channel of the pool at {to}" })
    return
  end
  local flatcar = context.components.flatcar
  local v = flatcar and semver.parse(image.without_v(flatcar.version))
  if not v or tables.channels[its] == v.minor then return end
  local fits
  for name, branch in pairs(tables.channels) do
    if branch == v.minor then fits = name end
  end
  add("channel.mismatch", "component/flatcar", "the channel " .. (pool.name ~= "" and "of pool " .. pool.name .. " " or "") .. "is "
    .. its .. ", whose versions are x." .. tables.channels[its] .. ".y", { from = flatcar.version, to = fits, rule = "channels",
    evidence = release.file .. ": spec.components[flatcar].version",
    clears = fits and "take a version x." .. tables.channels[its] .. ".y, or the channel {to} for the pool"
      or "take a version x." .. tables.channels[its] .. ".y" })
end

-- What machines of this architecture are called in a name: nil when nothing is said of it, false when they cannot be told from
-- others, which would give them an image that they do not boot.
local usual_architectures = { x86_64 = false, amd64 = false }
local function check_architecture(context, pool, facts, subject, add)
  local provider, rule = context.provider, context.rule
  local asked, fact = pool.architecture, facts.architecture
  if asked == "" then return true end
  local infix = (providers[provider].architectures or usual_architectures)[asked]
  local why
  if infix == nil then
    why = "no architecture '" .. asked .. "' is known for " .. provider
  elseif infix and (fact[1] == "" or not rule.names.architecture) then
    why = "images of rule " .. rule.id .. (fact[1] == "" and " for " .. pool.kind .. " pools" or "") .. " are not made for " .. asked
  end
  if not why then return true end
  add("pool.architecture", subject, why, { from = asked, rule = rule.id, evidence = "pool.architecture" })
  return false
end

-- The image of one pool, or nil.
local function for_pool(context, pool, add)
  local provider, rule, release = context.provider, context.rule, context.release
  local subject = subject_of(provider, pool)
  if pool.image ~= "" then return image.own(provider, pool, add) end
  local out = { pool = pool.name, rule = rule.id, limit = providers[provider].limit }
  if rule.none then return out end

  local facts = facts_of(provider, pool, context.chart_version)
  local architectures = providers[provider].architectures
  if not check_architecture(context, pool, facts, subject, add) then return nil end
  if tables.channels[facts.channel[1]] == nil then
    add("channel.mismatch", subject, "there is no channel '" .. facts.channel[1] .. "'",
      { from = facts.channel[1], rule = rule.id, evidence = facts.channel[2] })
    return nil
  end
  check_channel(context, facts.channel, pool, subject, add)
  local named
  local function part(name)
    local fact = facts[name]
    if fact then
      local text = fact[1]
      if name == "architecture" then text = architectures and architectures[text] or "" end
      if text == "" then return nil end
      return text, fact[2]
    end
    if name == "image" then return named, "the name" end
    if name == "hash" then return context.hash, context.hashed end
    local entry = context.components[name]
    if entry then
      local text = image.without_v(entry.version)
      if not semver.valid(text) then return nil end
      return text, release.file .. ": spec.components[" .. name .. "]"
    end
    if name:find("values.", 1, true) == 1 then
      local value = name:sub(8)
      local text = context.values[value]
      if text == nil or text == "" then return nil end
      -- A stray v is left out, as of a component.
      return semver.valid(text) and image.without_v(text) or text, "providerIntegration." .. value
    end
  end

  if rule.tags then
    out.tags, out.segments = {}, {}
    for i, tag in ipairs(rule.tags) do
      local text, segments = template.render(tag, part)
      if not text then
        complain(context, subject, segments, add)
        return nil
      end
      out.tags[i] = text
      for _, segment in ipairs(segments) do out.segments[#out.segments + 1] = segment end
    end
  elseif rule.constant then
    local name = rule.constant[context.looked_up]
    if not name then
      add("image.rule-none", subject, "rule " .. rule.id .. " has no name for " .. context.chart .. " " .. context.chart_version,
        { rule = rule.id, evidence = context.evidence })
      return nil
    end
    out.image = name
    -- The chart decides alone: what the Release says may be something else.
    local have = rule.reads and template.read(rule.reads, name, fits_of(provider)) or {}
    out.segments = {}
    local compared = {}
    for segment, text in pairs(have) do
      out.segments[#out.segments + 1] = { name = segment, text = text, source = context.chart .. " " .. context.chart_version }
      local entry = context.components[segment]
      if entry then
        compared[#compared + 1] = { name = segment, text = image.without_v(entry.version),
          source = release.file .. ": spec.components[" .. segment .. "]" }
      end
    end
    drift(provider, rule, name, compared, subject, context.evidence, add)
  else
    local text, segments = template.render(rule.name, part)
    if not text then
      complain(context, subject, segments, add)
      return nil
    end
    out.image, out.segments = text, segments
    local swap = providers[provider].replace
    if swap then
      out.image = swapped(text, swap)
      local back = image.read(provider, out.image, rule) or {}
      for _, segment in ipairs(segments) do
        if back[segment.name] ~= segment.text then
          add("image.bad-char", subject, segment.name .. " " .. segment.text .. " cannot be told from a name without '" .. swap[1]
            .. "'", { from = segment.text, to = out.image, rule = rule.id, evidence = segment.source })
        end
      end
    end
  end
  local called = image.called(out)
  if context.catalogue and not context.catalogue[called] then
    add("image.not-built", subject, out.tags and "no template with these tags was built" or "no image of that name was built",
      { to = called, rule = rule.id, evidence = context.evidence, severity = release.state ~= "active" and "warn" or nil })
  end
  if out.image then
    named = out.image
    out.length = #out.image
    check_name(provider, rule, out.image, subject, context.evidence, add)
    if rule.version then out.image_version = template.render(rule.version, part) end
    if rule.ref then out.ref = template.render(rule.ref, part) end
    if pool.running ~= "" and pool.running ~= out.image then
      drift(provider, rule, pool.running, out.segments, subject, "pool.running", add)
    end
  end
  return out
end

local default_pool = { name = "", kind = "", architecture = "", channel = "", suffix = "", image = "", running = "" }

-- `release` is plain (plain.lua).
-- map(release, pools, catalogue, values, add, tools, known): { provider, chart, explained, images, uses }; findings go to `add`.
-- `uses`: the components that are part of a name; `needs`: those without which there is none.
function image.map(release, pools, catalogue, values, add, tools, known)
  local provider, version = image.identified(release, add)
  if not provider then return { images = {}, uses = {}, needs = {} } end
  local out = { provider = provider, release_version = version, images = {}, uses = {}, needs = {} }
  local components = release.component or image.components(release)
  local chart = image.chart_of(provider)
  local entry = components[chart]
  local chart_version = entry and image.without_v(entry.version)
  local own = #pools > 0
  for _, pool in ipairs(pools) do own = own and pool.image ~= "" end
  if own then
    for i, pool in ipairs(pools) do out.images[i] = image.own(provider, pool, add) end
    return out
  end
  if not chart_version or not semver.valid(chart_version) then
    add("component.missing", "component/" .. chart, "the version of " .. chart .. " decides what the image is called",
      { from = chart_version, evidence = release.file .. ": spec.components",
        clears = chart_version and "give {name} a version of three numbers" or nil })
    return out
  end
  local rule, looked_up, why = pick(provider, chart, chart_version)
  local evidence = release.file .. ": spec.components[" .. chart .. "].version"
  out.chart = chart_version
  if not rule then
    add(looked_up, "image/" .. provider, why, { from = chart_version, evidence = evidence })
    return out
  end
  local built
  if catalogue then
    built = {}
    for _, name in ipairs(catalogue) do built[name] = true end
  end
  out.explained = chart .. " " .. chart_version .. " in " .. bounds(rule)
  out.rule = rule.id
  local context = { provider = provider, release = release, components = components, rule = rule, chart = chart,
    chart_version = chart_version, looked_up = looked_up, explained = out.explained, evidence = evidence,
    catalogue = built, values = values }

  local variant, tooling = components["flatcar-variant"], components["os-tooling"]
  local names = rule.names
  out.uses, out.needs = names, rule.needs
  out.inside = tooling and image.inside(provider, image.without_v(tooling.version))
  if names.hash then
    tools, known = image.baked(provider, tools, known, components, chart)
    context.hash, context.hashed = image.hash(tools)
    -- The version of the toolbox stands for the builder, whose version it is.
    local complete = false
    for _, tool in ipairs(tools) do complete = complete or tool.name == tables.builder or tool.name == tables.toolbox end
    if context.hash and not complete then
      add("image.hash-incomplete", "image/" .. provider, "the list of tools has no " .. tables.builder
        .. ": two different images may get one name", { rule = rule.id, evidence = "tools" })
    end
    local other = context.hash and image.collision(context.hash, context.hashed, known)
    if other then
      add("image.hash-collision", "image/" .. provider, "other tools, of " .. other .. ", have the hash " .. context.hash
        .. " as well", { from = other, to = context.hash, rule = rule.id, evidence = "tools" })
    end
  end
  if variant then
    local at = { from = variant.version, rule = rule.id, evidence = release.file .. ": spec.components[flatcar-variant]" }
    if tooling then
      add("variant.conflict", "component/flatcar-variant", "a Release has flatcar-variant or os-tooling, not both", at)
    elseif names["os-tooling"] then
      add("variant.obsolete", "component/flatcar-variant", "rule " .. rule.id .. " no longer reads it; os-tooling took its place", at)
    elseif rule.name and not names["flatcar-variant"] then
      add("variant.ignored", "component/flatcar-variant", "rule " .. rule.id .. " does not read it", at)
    end
  end

  for i, pool in ipairs(#pools > 0 and pools or { default_pool }) do
    out.images[#out.images + 1] = for_pool(context, pool, add)
    if #out.images < i then break end -- an error: nothing of it is used
  end
  return out
end

return image
