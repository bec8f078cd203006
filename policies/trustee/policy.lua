-- trustee: several releases of the Trustee servers side by side.
--
-- A TrusteeConfig asks for a release (instance.lua); it becomes ConfigMaps from that release's templates, Secrets, and a KbsConfig
-- that notes release and images. A KbsConfig becomes a Deployment and a Service laid out as its release expects (server.lua). Which
-- releases there are is data/versions.json (catalogue.lua), what their files say is in the folders beside it (templates.lua).
local catalogue = require("catalogue")
local instance = require("instance")
local server = require("server")
local settings = require("settings")
local templates = require("templates")

local by_kind = { TrusteeConfig = instance, KbsConfig = server }

local function related(parent)
  local which = by_kind[parent.kind]
  return { objects = which and which.related(parent) or {} }
end

local function sync(parent, its_related, children, files)
  local which = by_kind[parent.kind]
  if not which then return { children = {} } end
  return which.sync(parent, its_related, children, files)
end

local function data(files)
  local problem = settings.of(files).problem or catalogue.problem(files.text)
  return { problem = problem or templates.problem(files.text, (catalogue.of(files.text))), warnings = catalogue.warnings(files.text) }
end

local function kind(version, name) return { apiVersion = version, kind = name } end
local group = "confidentialcontainers.org/v1alpha1"

return {
  name = "trustee",
  version = "1", api = 2,
  order = 1000,
  composes = {
    -- A KbsConfig that is deleted waits for its Deployment, as one that the reference operator has made does.
    parents = { kind(group, "TrusteeConfig"),
      { apiVersion = group, kind = "KbsConfig", finalizer = "kbsconfig.confidentialcontainers.org/finalizer",
        reporter = "kbsconfig-controller" } },
    children = { kind("v1", "ConfigMap"), kind("v1", "Secret"), kind("v1", "PersistentVolumeClaim"), kind(group, "KbsConfig"),
      kind("apps/v1", "Deployment"), kind("v1", "Service") },
    related = { kind("v1", "PersistentVolume"), kind(group, "TrusteeConfig"),
      { apiVersion = "config.openshift.io/v1", kind = "Proxy", optional = true } },
    manager = "windlass-trustee",
    namespaces_from = "TRUSTEE_NAMESPACES",
    -- The reference operator's, so that of the two only one acts.
    lease = "178dc119.confidentialcontainers.org",
    data = "data",
    data_from = "TRUSTEE_TEMPLATES_DIR",
    environment = settings.variables,
  },
  compose = { sync = sync, related = related, data = data },
}
