-- trustee: several releases of the Trustee servers side by side.
--
-- A TrusteeConfig asks for a release (instance.lua); it becomes ConfigMaps from that release's templates, Secrets, and a KbsConfig
-- that notes release and images. A KbsConfig becomes a Deployment and a Service laid out as its release expects (server.lua). Which
-- releases there are is data/versions.json (catalogue.lua), what their files say is in the folders beside it (templates.lua).
local instance = require("instance")
local server = require("server")

local by_kind = { TrusteeConfig = instance, KbsConfig = server }

local function sync(parent, its_related, children, files)
  local which = by_kind[parent.kind]
  if not which then return { children = {} } end
  return which.sync(parent, its_related, children, files)
end

return {
  name = "trustee",
  version = "1",
  order = 1000,
  compose = { sync = sync },
}
