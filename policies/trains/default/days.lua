-- Days and moments as a document writes them: "2026-11-22", or a time with its zone, "2026-11-22T23:30:00+02:00".
local days = {}

-- Seconds since 1970; of a bare day its first one, or its last with `edge` "end". Nil for anything else.
function days.moment(text, edge)
  if type(text) ~= "string" then return nil end
  if text:match("^%d%d%d%d%-%d%d%-%d%d$") then
    local begin = time.parse(text .. "T00:00:00Z")
    return begin and (edge == "end" and begin + 86399 or begin)
  end
  return time.parse(text)
end

-- Days since 1970, in UTC.
function days.of(text)
  local at = days.moment(text)
  return at and math.floor(at / 86400)
end

-- The same day of a later month, its last one where it is shorter: "2026-01-31" and 1 are "2026-02-28". "" for what is no day.
function days.months_later(text, months)
  if not days.of(text) then return "" end
  local y, m, d = text:match("^(%d%d%d%d)-(%d%d)-(%d%d)")
  local at = tonumber(y) * 12 + tonumber(m) - 1 + months
  local year, month = math.floor(at / 12), at % 12 + 1
  local function first_of(of_year, of_month) return days.of(string.format("%04d-%02d-01", of_year, of_month)) end
  local length = first_of(year + math.floor(month / 12), month % 12 + 1) - first_of(year, month)
  return string.format("%04d-%02d-%02d", year, month, math.min(tonumber(d), length))
end

return days
