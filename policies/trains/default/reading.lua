-- Reads pins and protocols out of a project's own files, as sources.lua says where they stand.
local names = require("names")
local sources = require("sources")

local reading = {}

-- The value at a path of a YAML document; nil where it has none.
local function at(value, path)
  for _, step in ipairs(path) do
    if type(value) ~= "table" then return nil end
    if type(step) ~= "table" then
      value = value[step]
    else
      local found
      for _, entry in ipairs(value) do
        local same = type(entry) == "table"
        for key, wanted in pairs(step) do same = same and entry[key] == wanted end
        if same and found == nil then found = entry end
      end
      value = found
    end
  end
  return value
end

-- YAML takes some commits for numbers; this is what stands there.
local function own_text(value, text, path)
  if type(value) == "string" then return value end
  if type(value) ~= "number" then return nil end
  local key = path[#path]:gsub("%p", "%%%0")
  for written in text:gmatch("%f[%w_]" .. key .. ":[ \t]*([^%s#]+)") do
    if tonumber(written) == value then return written end
  end
end

-- The comment behind a value; nothing where two lines could be the one that is meant.
local function comment_behind(value, text, path)
  local key, found, lines = path[#path] .. ":", nil, 0
  for line in text:gmatch("[^\n]+") do
    local _, stop = line:find(value, 1, true)
    if stop and line:find(key, 1, true) then
      lines = lines + 1
      found = line:sub(stop + 1):match("^[\"']?[ \t]+#[ \t]*(.-)[ \t\r]*$")
    end
  end
  return lines == 1 and found or nil
end

local function text_or_nil(value) return type(value) == "string" and value or nil end

-- What a pattern finds, but in lines that are comments.
local function captured(text, patterns)
  text = ("\n" .. text):gsub("\n[ \t]*#[^\n]*", "\n"):gsub("\n[ \t]*//[^\n]*", "\n")
  for _, pattern in ipairs(patterns) do
    local found = { text:match(pattern) }
    if found[1] then return table.concat(found, ".") end
  end
end

local function kind_of(value)
  if value:match("^%x+$") and #value >= 7 then return "commit" end
  return value:match("^%d+%.%d+%.%d+$") and "version" or "tag"
end

-- read(project, files): { known: whether sources.lua has the project, near: the one that may be meant where it has not, files: every file that is
-- read, pins, protocol, absent: what a row found nothing of }. `files` has the texts of
-- those that are there, by name.
function reading.read(project, files)
  local out = { files = list(), pins = list(), protocol = "", absent = list(), known = sources[project] ~= nil }
  if not out.known then out.near = names.nearest(project, sources, "strict") end
  local asked, decoded = {}, {}
  for _, row in ipairs(sources[project] or {}) do
    local name, text
    for _, file_name in ipairs(row.files) do
      if not asked[file_name] then
        asked[file_name] = true
        out.files[#out.files + 1] = file_name
      end
      if text == nil and files[file_name] ~= nil then
        local is = files[file_name]
        -- The first file that is there and has it.
        if row.path or row.paths or captured(is, row.patterns or { row.pattern }) then name, text = file_name, is end
      end
    end
    local function pin(field, value, image, path)
      out.pins[#out.pins + 1] = { holder = project, project = row.pins, field = field, kind = kind_of(value), value = value,
        image = text_or_nil(image), comment = path and comment_behind(value, text, path), source = name }
    end
    local found = false
    if text and (row.pattern or row.patterns) then
      local value = captured(text, row.patterns or { row.pattern })
      found = true
      if row.protocol then out.protocol = value else pin(row.field, value) end
    elseif text then
      if decoded[name] == nil then decoded[name] = yaml.decode(text) or false end
      for _, path in ipairs(row.paths or { row.path }) do
        local there = at(decoded[name], path)
        if row.each and type(there) == "table" then
          local value = own_text(at(decoded[name], row.value_of), text, row.value_of)
          for _, key in ipairs(names.sorted(there)) do
            if value then pin(row.each .. key, value, there[key], row.value_of) end
          end
          found = true
        elseif not found and there ~= nil and own_text(there, text, path) then
          local image
          for _, way in ipairs(row.image or {}) do image = image or at(decoded[name], way) end
          pin(row.field, own_text(there, text, path), image, path)
          found = true
        end
      end
    end
    if not found and not row.optional then out.absent[#out.absent + 1] = row.protocol and "its protocol" or row.pins .. "." .. (row.field or row.each .. "*") end
  end
  return out
end

return reading
