-- What the operator of the process says: images by variables of its environment, and two choices. `settings.json` among the files
-- wins, for who mounts them: {"strict_versions": true, "hold_on_mismatch": true, "environment": {"OPERATOR_IMAGE_NAME": "…"}}.
local settings = { file = "settings.json" }

local variables = { "KBS_IMAGE_NAME", "KBS_IMAGE_NAME_MICROSERVICES", "AS_IMAGE_NAME", "RVPS_IMAGE_NAME", "OPERATOR_IMAGE_NAME" }

-- of(files): {strict_versions, hold_on_mismatch, environment, problem}
function settings.of(files)
  local out = { strict_versions = false, hold_on_mismatch = false, environment = {} }
  for name, told in pairs(files.environment or {}) do out.environment[name] = told end
  local text = files.text[settings.file]
  if text then
    local ok, read = pcall(json.decode, text)
    if not ok or type(read) ~= "table" then
      out.problem = settings.file .. " is no JSON object"
      return out
    end
    out.strict_versions, out.hold_on_mismatch = read.strict_versions == true, read.hold_on_mismatch == true
    for _, name in ipairs(variables) do
      local told = type(read.environment) == "table" and read.environment[name]
      if type(told) == "string" then out.environment[name] = told end
    end
  end
  return out
end

settings.variables = variables
return settings
