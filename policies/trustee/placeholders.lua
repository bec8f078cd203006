-- {{Name}} in a template becomes a TOML string, quotes included. A line whose value is empty goes, and so does the comment above
-- lines that are all gone.
local placeholders = {}

local function quoted(text)
  return '"' .. text:gsub('[%c"\\\127]', function(c)
    if c == '"' or c == "\\" then return "\\" .. c end
    return string.format("\\u%04X", c:byte())
  end) .. '"'
end

local function names_of(values)
  local all = {}
  for name in pairs(values) do all[#all + 1] = name end
  return table.concat(all, ", ")
end

-- The line with its values, and whether it goes; or nil and what is wrong.
local function fill_line(line, values)
  local out, at, gone = {}, 1, false
  while true do
    local first = line:find("{{", at, true)
    if not first then break end
    local last = line:find("}}", first, true)
    if not last then return nil, "{{ without its }}" end
    local name = line:sub(first + 2, last - 1)
    local value = values[name]
    if value == nil then return nil, "there is no placeholder '" .. name .. "'; known are " .. names_of(values) end
    if line:sub(first - 1, first - 1) == '"' or line:sub(last + 2, last + 2) == '"' then
      return nil, "{{" .. name .. "}} stands in quotes: it brings its own"
    end
    gone = gone or value == ""
    out[#out + 1] = line:sub(at, first - 1)
    out[#out + 1] = quoted(value)
    at = last + 2
  end
  out[#out + 1] = line:sub(at)
  return table.concat(out), gone
end

-- Whether the lines with placeholders from `i` on are all gone.
local function all_gone(lines, i)
  if not lines[i] or not lines[i].filled then return false end
  while lines[i] and lines[i].filled do
    if not lines[i].gone then return false end
    i = i + 1
  end
  return true
end

-- render(text, values, file): the text, or nil and what is wrong, with file and line.
function placeholders.render(text, values, file)
  local lines = {}
  for line in text:gmatch("[^\n]*\n?") do
    if line == "" then break end
    local made, gone = fill_line(line, values)
    if not made then return nil, file .. ": line " .. #lines + 1 .. ": " .. gone end
    lines[#lines + 1] = { text = made, gone = gone, filled = line:find("{{", 1, true) ~= nil,
      comment = line:find("^%s*#") ~= nil }
  end
  local out = {}
  for i, line in ipairs(lines) do
    if not line.gone and not (line.comment and all_gone(lines, i + 1)) then out[#out + 1] = line.text end
  end
  return table.concat(out)
end

return placeholders
