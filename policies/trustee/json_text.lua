-- JSON with the line of each value: what is wrong in a catalogue is said with its place.
local json_text = {}

-- More than that would use up the instructions of one question.
local most_bytes, deepest = 64 * 1024, 16

local escapes = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
local words = { ["true"] = true, ["false"] = false }

local function reader(text)
  local at, lines, depth, value = 1, {}, 0, nil
  local line, counted = 1, 1
  local function line_here()
    while true do
      local stop = text:find("\n", counted, true)
      if not stop or stop >= at then return line end
      line, counted = line + 1, stop + 1
    end
  end
  local function fail(what) error({ line = line_here(), why = what }, 0) end
  local function blank() at = text:find("[^ \t\r\n]", at) or #text + 1 end
  local function char() return text:sub(at, at) end
  local function found()
    if at > #text then return "it ends too early" end
    return "found '" .. char() .. "'"
  end

  local function string_here()
    local first, parts = at + 1, {}
    at = first
    while true do
      local stop = text:find('["\\%c]', at)
      if not stop then
        at = #text + 1
        fail("a text without its closing \"")
      end
      at = stop
      local c = char()
      if c == '"' then
        parts[#parts + 1] = text:sub(first, at - 1)
        at = at + 1
        return table.concat(parts)
      elseif c ~= "\\" then
        fail("a text goes over the end of its line")
      end
      parts[#parts + 1] = text:sub(first, at - 1)
      local kind = text:sub(at + 1, at + 1)
      if kind == "u" then
        local code = text:match("^%x%x%x%x", at + 2)
        if not code then fail("expected four digits behind \\u") end
        parts[#parts + 1] = tonumber(code, 16) < 128 and string.char(tonumber(code, 16)) or "?"
        at = at + 6
      else
        if not escapes[kind] then fail("unknown escape \\" .. kind) end
        parts[#parts + 1] = escapes[kind]
        at = at + 2
      end
      first = at
    end
  end

  local function elements(close, read)
    depth = depth + 1
    if depth > deepest then fail("it is nested more than " .. deepest .. " deep") end
    at = at + 1
    blank()
    if char() ~= close then
      local n = 0
      while true do
        n = n + 1
        read(n)
        blank()
        if char() == close then break end
        if char() ~= "," then fail("expected , or " .. close .. ", " .. found()) end
        at = at + 1
        blank()
      end
    end
    at = at + 1
    depth = depth - 1
  end

  function value(path)
    blank()
    lines[path] = line_here()
    local c = char()
    if c == "{" then
      local out = {}
      elements("}", function()
        if char() ~= '"' then fail("expected a name in quotes, " .. found()) end
        local here = at
        local key = string_here()
        if out[key] ~= nil then
          at = here
          fail("the name '" .. key .. "' is there twice")
        end
        blank()
        if char() ~= ":" then fail("expected :, " .. found()) end
        at = at + 1
        out[key] = value(path == "" and key or path .. "." .. key)
      end)
      return setmetatable(out, { list = false })
    elseif c == "[" then
      local out = {}
      elements("]", function(n) out[n] = value(path .. "[" .. n .. "]") end)
      return setmetatable(out, { list = true })
    elseif c == '"' then
      return string_here()
    end
    local number = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
    if number and tonumber(number) then
      at = at + #number
      return tonumber(number)
    end
    local word = text:match("^%a+", at)
    if word == "null" then fail("null says nothing") end
    if words[word] == nil then fail("expected a value, " .. found()) end
    at = at + #word
    return words[word]
  end

  local out = value("")
  blank()
  if at <= #text then fail("something stands behind the end: " .. found()) end
  return out, lines
end

-- read(text): the value and the line of each place by its path ("version_mappings.latest.omit[1]"), or nil and
-- {line, why}.
function json_text.read(text)
  if #text > most_bytes then return nil, { line = 1, why = "it is larger than " .. most_bytes / 1024 .. " KiB" } end
  local ok, out, lines = pcall(reader, text)
  if ok then return out, lines end
  if type(out) ~= "table" then error(out, 0) end
  return nil, out
end

-- kind(value): "object", "list", "text", "number", "boolean"; of what was read here.
function json_text.kind(v)
  local kind = type(v)
  if kind == "table" then return getmetatable(v) and getmetatable(v).list and "list" or "object" end
  return kind == "string" and "text" or kind
end

return json_text
