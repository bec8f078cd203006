-- What the operator of the process says: images by variables of its environment, and two choices, which `windlass run` has flags
-- for. `settings.json` among the files wins, for who mounts them:
-- {"strict_versions": true, "hold_on_mismatch": true, "environment": {"OPERATOR_IMAGE_NAME": "…"}}.
local settings = { file = "settings.json" }

local images = { "KBS_IMAGE_NAME", "KBS_IMAGE_NAME_MICROSERVICES", "AS_IMAGE_NAME", "RVPS_IMAGE_NAME", "OPERATOR_IMAGE_NAME" }
local choices = { strict_versions = "TRUSTEE_STRICT_VERSIONS", hold_on_mismatch = "TRUSTEE_HOLD_ON_MISMATCH" }

-- of(files): {strict_versions, hold_on_mismatch, environment, problem}
function settings.of(files)
  local out, said = { environment = {} }, files.environment or {}
  for _, name in ipairs(images) do out.environment[name] = said[name] end
  for choice, name in pairs(choices) do out[choice] = said[name] == "true" end
  local text = files.text[settings.file]
  if text then
    local ok, read = pcall(json.decode, text)
    if not ok or type(read) ~= "table" then
      out.problem = settings.file .. " is no JSON object"
      return out
    end
    for choice in pairs(choices) do
      if read[choice] ~= nil then out[choice] = read[choice] == true end
    end
    for _, name in ipairs(images) do
      local told = type(read.environment) == "table" and read.environment[name]
      if type(told) == "string" then out.environment[name] = told end
    end
  end
  return out
end

settings.variables = { images[1], images[2], images[3], images[4], images[5], choices.strict_versions, choices.hold_on_mismatch }
return settings
