-- The known name that is nearest to a misspelt one.
local names = {}

local function sorted(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end
names.sorted = sorted

-- How many letters must change to turn one name into the other, up to 3.
local function distance(a, b)
  if math.abs(#a - #b) > 2 then return 3 end
  local before = {}
  for j = 0, #b do before[j] = j end
  for i = 1, #a do
    local row, least = { [0] = i }, i
    for j = 1, #b do
      row[j] = math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a:byte(i) == b:byte(j) and 0 or 1))
      least = math.min(least, row[j])
    end
    if least > 2 then return 3 end
    before = row
  end
  return before[#b]
end

-- The known name that is nearest to `name`, nil when none is near. `known` is a set. A change of case is no change. Two letters may
-- differ, of three one; with "strict", of up to six one.
function names.nearest(name, known, how)
  local best, far, wanted = nil, (#name <= (how == "strict" and 6 or 3) and 1 or 2) + 1, name:lower()
  for _, candidate in ipairs(sorted(known)) do
    local d = distance(wanted, candidate:lower())
    if d < far then best, far = candidate, d end
  end
  return best
end

-- "; is it 'Kata'?" or "", and the name. Comparing costs a few instructions for each pair of letters: a document whose names are many
-- and unknown gets no more guesses after `most` pairs.
function names.guess(most)
  local spent = 0
  return function(name, known, how)
    if spent >= most then return "", nil end
    local cost = 0
    for candidate in pairs(known) do
      if math.abs(#candidate - #name) <= 2 then cost = cost + #candidate * #name end
    end
    spent = spent + cost
    if spent > most then return "", nil end
    local near = names.nearest(name, known, how)
    return near and "; is it '" .. near .. "'?" or "", near
  end
end

-- Every project that tables.lua names: those of its list, and those that a line brings with it.
function names.projects(tables)
  local known = names.set(tables.projects)
  for _, edge in ipairs(tables.edges) do
    for _, name in ipairs({ edge.from, edge.to }) do known[name] = true end
  end
  for _, row in ipairs(tables.mirrors) do
    if row.project then known[row.project] = true end
  end
  return known
end

names.set = function(list)
  local all = {}
  for _, name in ipairs(list) do all[name] = true end
  return all
end

return names
