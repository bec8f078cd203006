-- What is to be said of a provider's Releases as a whole, once: not with each of them again.
local checks = require("checks")
local image = require("image")
local requests = require("requests")

local folder = {}

-- The versions that are offered of a provider; without one, of whichever each is of.
function folder.offered(releases, provider)
  local versions = {}
  for _, release in ipairs(releases) do
    if not release.archived then
      local version
      if provider then version = image.version_in(provider, release) else version = select(2, image.identify(release)) end
      if version and semver.parse(version) then versions[#versions + 1] = version end
    end
  end
  return versions
end

function folder.check(question, add)
  local function skip(check, why)
    add("check.not-evaluated", "folder/" .. question.folder, check .. ": " .. why, { rule = check, evidence = question.folder })
  end
  if question.registered then
    local stored = {}
    for _, release in ipairs(question.releases) do stored[release.stored_as] = true end
    for _, resource in ipairs(question.registered) do
      local name = checks.stored_as(resource)
      if name:match("^v%d") and not stored[name] then
        add("release.unregistered", "release/" .. question.folder .. "/" .. name, "kustomization.yaml lists " .. resource
          .. ", and there is no such Release", { from = resource, evidence = question.folder .. "/kustomization.yaml: resources" })
      end
    end
  else
    skip("release.unregistered", "the provider's kustomization.yaml is not there")
  end
  if question.app_ranges == nil then
    skip("app.kube-version", "the versions of Kubernetes that the apps take are not known")
  end
  if question.requests then
    requests.dead(question.requests, folder.offered(question.releases), add)
  else
    skip("request.violated", "the provider's requests.yaml is not there")
  end
end

return folder
