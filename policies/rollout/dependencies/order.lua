-- Finds circles before they can make everybody wait for everybody: the pack does not load with one.
local order = {}

function order.circle(needs)
  local state, path = {}, {}
  local found
  local function visit(name)
    if found or state[name] == "done" then return end
    path[#path + 1] = name
    if state[name] == "open" then
      found = table.concat(path, " -> ")
      return
    end
    state[name] = "open"
    for _, needed in ipairs(needs[name] or {}) do visit(needed) end
    path[#path] = nil
    state[name] = "done"
  end
  for name in pairs(needs) do visit(name) end
  return found
end

return order
