-- What may be done with a draft of a Release in which stage.
local tables = require("tables")

local stages = {}

local function position(stage)
  for i, name in ipairs(tables.stages) do
    if name == stage then return i end
  end
end

-- A draft that goes to this stage, or to one that is not named, is offered from then on.
function stages.is_offered(to)
  local at = position(to)
  return not at or at >= position(tables.first_stage)
end

-- check(stage, release, major, add): stage has is, to, action ("version", "pin", "refresh" or ""), actor,
-- age_hours (of the draft; below 0: not known).
function stages.check(stage, name, major, add)
  local function deny(why)
    add("stage.denied", "release/" .. name, why, { from = stage.is, to = stage.to, rule = "stages" })
  end
  local at = position(stage.is)
  local known = "; known are " .. table.concat(tables.stages, ", ")
  if stage.is ~= "" and not at then deny("there is no stage '" .. stage.is .. "'" .. known) end
  if stage.to ~= "" then
    local to = position(stage.to)
    if not to then
      deny("there is no stage '" .. stage.to .. "'" .. known)
    elseif stage.is == "" then
      if stage.to ~= tables.stages[1] and stage.to ~= tables.first_stage then
        deny("a draft without a stage becomes " .. tables.first_stage .. " first")
      end
    elseif at and to ~= at + 1 then
      deny("a draft goes one stage at a time: behind " .. stage.is .. " comes " .. (tables.stages[at + 1] or "nothing"))
    end
  end
  local rights = tables.stage_rights[stage.is]
  if stage.action ~= "" and rights then
    local who = rights[stage.action]
    if who == false then
      deny("no " .. stage.action .. " in stage " .. stage.is)
    elseif type(who) == "string" and who ~= stage.actor then
      deny("in stage " .. stage.is .. " a " .. stage.action .. " is for " .. who)
    end
  end
  if stage.action == "refresh" and stage.age_hours and stage.age_hours >= 0 and stage.age_hours < tables.refresh_after_hours then
    deny("a draft younger than " .. tables.refresh_after_hours .. " hours is not refreshed")
  end
  if stage.action == "refresh" and major and stage.is == tables.stages[1] then
    deny("a major in " .. stage.is .. " is not refreshed")
  end
end

return stages
