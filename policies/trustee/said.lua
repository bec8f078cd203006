-- What a pass says: conditions of a parent, each type once, and events.
local said = {}

function said.new()
  local self = { conditions = {}, events = {}, by_type = {} }

  function self.condition(type, ok, reason, message)
    local c = self.by_type[type]
    if not c then
      c = { type = type }
      self.by_type[type] = c
      self.conditions[#self.conditions + 1] = c
    end
    c.status, c.reason, c.message = ok and "True" or "False", reason, message or ""
  end

  -- What was said before of these types, where nothing is said now.
  function self.keep(object, types)
    for _, type in ipairs(types) do
      local before = not self.by_type[type] and said.of(object, type)
      if before then self.condition(type, before.status == "True", before.reason, before.message) end
    end
  end

  -- The process's log has what stands in the way, once for each change; the event that says it expires.
  function self.log_changes(object)
    for _, c in ipairs(self.conditions) do
      local before = said.of(object, c.type)
      local same = before and before.reason == c.reason and before.message == c.message
      if not same and (c.status == "False" or c.reason:find("^Fallback")) then
        log(object.kind .. " " .. object.namespace .. "/" .. object.name .. ": " .. c.type .. " " .. c.reason .. ": " .. c.message)
      end
    end
  end

  function self.warn(reason, message)
    self.events[#self.events + 1] = { type = "Warning", reason = reason, message = message }
  end

  function self.tell(reason, message)
    self.events[#self.events + 1] = { type = "Normal", reason = reason, message = message }
  end

  return self
end

-- of(object, type): the condition of an object, or nil.
function said.of(object, type)
  local status = object and object.status
  for _, c in ipairs(status and status.conditions or {}) do
    if c.type == type then return c end
  end
  return nil
end

return said
