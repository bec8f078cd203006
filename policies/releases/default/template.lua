-- Names with places for parts of a Release: "flatcar-{channel}-{flatcar}[-{suffix}]". See providers.lua for the grammar.
local template = {}

-- parse("a-{b}[-{c}|d]"): a list of "text", { segment =, major = } and { choices = { list, … } }.
-- `stop`: inside a group.
local function read(text, at, inside, where)
  local parts, literal = {}, ""
  local function flush()
    if literal ~= "" then parts[#parts + 1] = literal end
    literal = ""
  end
  while at <= #text do
    local c = text:sub(at, at)
    if c == "{" then
      local close = text:find("}", at, true)
      local name = close and text:sub(at + 1, close - 1)
      if not name or not name:match("^[%w][%w%-.:]*$") then
        error(where .. ": character " .. at .. ": expected {name}", 0)
      end
      flush()
      local bare = name:match("^(.*):major$")
      if name:find(":", 1, true) and not bare then
        error(where .. ": {" .. name .. "}: the only thing behind a colon is major", 0)
      end
      parts[#parts + 1] = { segment = bare or name, major = bare ~= nil }
      at = close + 1
    elseif c == "[" then
      if inside then error(where .. ": character " .. at .. ": a [ inside of [ ]", 0) end
      flush()
      local choices = {}
      repeat
        local choice
        choice, at = read(text, at + 1, true, where)
        choices[#choices + 1] = choice
      until text:sub(at, at) ~= "|"
      if text:sub(at, at) ~= "]" then error(where .. ": a [ without its ]", 0) end
      parts[#parts + 1] = { choices = choices }
      at = at + 1
    elseif inside and (c == "|" or c == "]") then
      flush()
      return parts, at
    elseif c == "]" or c == "}" or c == "|" then
      error(where .. ": character " .. at .. ": a " .. c .. " that nothing opened", 0)
    else
      literal = literal .. c
      at = at + 1
    end
  end
  flush()
  return parts, at
end

function template.parse(text, where)
  if type(text) ~= "string" or text == "" then error(where .. ": expected a name with {parts}", 0) end
  return (read(text, 1, false, where))
end

local function value_of(p, part)
  local found, source = part(p.segment)
  if found and p.major then found = found:match("^%d+") end
  return found, source
end

-- Whether everything in a choice is there.
local function is_complete(choice, part)
  for i = 1, #choice do
    if type(choice[i]) ~= "string" and not value_of(choice[i], part) then return false end
  end
  return true
end

-- No closure in it: an image has a name for every pool of every cluster.
local function put(list, part, text, segments, missing)
  for i = 1, #list do
    local p = list[i]
    if type(p) == "string" then
      text[#text + 1] = p
    elseif p.segment then
      local found, source = value_of(p, part)
      if found then
        text[#text + 1] = found
        segments[#segments + 1] = { name = p.segment, text = found, source = source }
      else
        missing = missing or {}
        missing[#missing + 1] = p.segment
      end
    else
      for _, choice in ipairs(p.choices) do
        if is_complete(choice, part) then
          missing = put(choice, part, text, segments, missing)
          break
        end
      end
    end
  end
  return missing
end

-- Puts it together. `part(name)` gives text and source; nothing: absent. Returns the text and its segments, or nil and the
-- list of the names that are missing.
function template.render(parts, part)
  local text, segments = {}, {}
  local missing = put(parts, part, text, segments, nil)
  if missing then return nil, missing end
  return table.concat(text), segments
end

-- The forms that a name can have, without groups.
local function forms(parts)
  local all = { {} }
  for _, p in ipairs(parts) do
    local more = {}
    for _, form in ipairs(all) do
      local function with(list)
        local longer = {}
        for i, q in ipairs(form) do longer[i] = q end
        for _, q in ipairs(list) do longer[#longer + 1] = q end
        more[#more + 1] = longer
      end
      if type(p) == "string" or p.segment then
        with({ p })
      else
        for _, choice in ipairs(p.choices) do with(choice) end
        with({})
      end
    end
    all = more
  end
  return all
end

-- Takes a name apart: its segments by name, or nil. `fits(segment, text)` says what a segment may be; `back(text)`, where it is
-- given, what stood there before characters were replaced.
function template.read(parts, text, fits, back)
  back = back or function(piece) return piece end
  local function match(form, i, at, found)
    local p = form[i]
    if p == nil then return at == #text + 1 and found or nil end
    if type(p) == "string" then
      if text:sub(at, at + #p - 1) ~= p then return nil end
      return match(form, i + 1, at + #p, found)
    end
    local behind = form[i + 1]
    local from = at + 1
    while true do
      local stop
      if behind == nil then
        stop = from <= #text + 1 and #text + 1 or nil
      elseif type(behind) == "string" then
        stop = text:find(behind, from, true)
      else
        stop = from <= #text and from or nil
      end
      if not stop then return nil end
      local piece = back(text:sub(at, stop - 1))
      if fits(p, piece) then
        local more = {}
        for key, value in pairs(found) do more[key] = value end
        more[p.segment] = piece
        local all = match(form, i + 1, stop, more)
        if all then return all end
      end
      if behind == nil then return nil end
      from = stop + 1
    end
  end
  for _, form in ipairs(forms(parts)) do
    local found = match(form, 1, 1, {})
    if found then return found end
  end
  return nil
end

-- The names of all that it may ask for; `only_needed`: without what stands in a group, which may be absent.
function template.names(parts, into, only_needed)
  into = into or {}
  for _, p in ipairs(parts) do
    if type(p) == "table" then
      if p.segment then
        into[p.segment] = true
      elseif not only_needed then
        for _, choice in ipairs(p.choices) do template.names(choice, into) end
      end
    end
  end
  return into
end

return template
