-- Views and tables.
local plain = {}

-- copy(view): what can be changed and answered.
plain.copy = copy

-- same(a, b): texts, numbers, tables of them; nil and an empty table are the same.
function plain.same(a, b)
  if type(a) ~= "table" and type(b) ~= "table" then return a == b end
  a, b = a == nil and {} or a, b == nil and {} or b
  if type(a) ~= "table" or type(b) ~= "table" then return false end
  for key, member in pairs(a) do
    if not plain.same(member, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

-- text(v): v, or "".
function plain.text(v) return type(v) == "string" and v or "" end

return plain
