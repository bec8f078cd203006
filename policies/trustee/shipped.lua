-- What is shipped with the pack: where a mounted catalogue says less than a release needs, this does.
local catalogue = require("catalogue")
local releases = require("releases")

local shipped = {}

-- files(): the pack's own files by path, and their catalogue.
function shipped.files()
  local text = setmetatable({}, { __index = function(_, path)
    local ok, content = pcall(file, "data/" .. path)
    return ok and content or nil
  end })
  return text, (catalogue.of(text))
end

-- nearest(made, version): the release whose files serve `version`: itself, else the newest before it.
function shipped.nearest(made, version)
  local found = made.versions[1]
  for _, one in ipairs(made.versions) do
    if one == version or not releases.less(version, one) then found = one end
  end
  return found
end

return shipped
