-- Which server fits a client: what was released together, else what speaks the same protocol.
local match = {}

local function same(a, b)
  if a == nil or b == nil or b == "" then return false end
  return a:gsub("^v", "") == b:gsub("^v", "")
end

-- A version, or a commit of which the first seven digits are enough.
local function is(version, commit, wanted)
  return same(version, wanted) or (commit ~= nil and #wanted >= 7 and commit:sub(1, #wanted) == wanted:lower())
end

local questions = {
  train = function(row, wanted) return same(row.train, wanted) end,
  bundle = function(row, wanted) return same(row.bundle, wanted) end,
  client = function(row, wanted) return is(row.client, row.client_commit, wanted) end,
  server = function(row, wanted) return is(row.server, row.server_commit, wanted) end,
}

local function row_of(row, how)
  return { train = row.train, bundle = row.bundle or "", client = row.client, server = row.server, how = how }
end

-- find(train, add): rows of train.trains that answer train.match, in their order.
function match.find(train, add)
  local wanted = train.match or {}
  local what, value
  for _, name in ipairs({ "train", "bundle", "client", "server" }) do
    if wanted[name] and wanted[name] ~= "" then
      if what then
        add("train.schema", "train/" .. (train.train or "?"), "match: " .. what .. " and " .. name .. ": one of them is enough",
          { evidence = train.file .. ": match" })
        return {}
      end
      what, value = name, wanted[name]
    end
  end
  if not what then
    add("train.schema", "train/" .. (train.train or "?"), "match: expected train, bundle, client or server", { evidence = train.file .. ": match" })
    return {}
  end
  local found = {}
  for _, row in ipairs(train.trains) do
    if questions[what](row, value) then found[#found + 1] = row_of(row, "released together") end
  end
  if #found > 0 then return found end
  local subject = what .. "/" .. value
  -- Not released together with anything: who speaks as it does?
  local side = what == "client" and "server" or what == "server" and "client" or nil
  if side and wanted.protocol and wanted.protocol ~= "" then
    local seen = {}
    for _, row in ipairs(train.trains) do
      if same(row[side .. "_protocol"], wanted.protocol) and not seen[row[side]] then
        seen[row[side]] = true
        found[#found + 1] = row_of(row, "speaks " .. wanted.protocol .. ", not tested together")
      end
    end
    if #found > 0 then
      add("train.match-untested", subject, "no train has it; protocols are equal, which does not prove that evidence is", { to = wanted.protocol,
        evidence = train.file .. ": trains" })
      return found
    end
  end
  local last, why = train.trains[#train.trains], "no train is known"
  if last then
    why = "none of " .. #train.trains .. " trains has it, the last is " .. last.train
    if side then
      why = why .. (wanted.protocol and wanted.protocol ~= "" and ", and no " .. side .. " speaks " .. wanted.protocol
        or ", and no protocol is named (--protocol)")
    end
  end
  add("train.match-none", subject, why, { from = value, evidence = train.file .. ": trains" })
  return {}
end

return match
