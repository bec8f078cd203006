-- One file although it is long: an instance from its first pass to its end, each rule beside those that it gives way to.
local fixtures = require("fixtures")
local policy = require("policy")
local plain = require("plain")

local sync, A = policy.compose.sync, fixtures.A
local files = fixtures.files()
local images = "ghcr.io/confidential-containers/"

local function instance(spec, its_files, name) return fixtures.instance(spec, its_files or files, sync, name).settle() end
local function restricted(more)
  local spec = plain.copy(fixtures.restricted)
  for key, value in pairs(more or {}) do spec[key] = value end
  return spec
end
local function names(world)
  local list = {}
  for key in pairs(world.children) do list[#list + 1] = key end
  return list
end
local function data_of(world, suffix) return plain.copy(world.map(suffix).data) end

test("a Permissive instance is five ConfigMaps, two Secrets and a KbsConfig", function()
  local w = instance({})
  expect_equal(names(w), { "ConfigMap/t-attestation-policy-cpu", "ConfigMap/t-attestation-policy-gpu", "ConfigMap/t-kbs-config",
    "ConfigMap/t-resource-policy", "ConfigMap/t-rvps-reference-values", "KbsConfig/t-kbs-config", "Secret/attestation-status", "Secret/t-auth-secret" })
  expect_equal(w.children["Secret/t-auth-secret"].labels, { ["app.kubernetes.io/managed-by"] = "trustee-operator",
    ["app.kubernetes.io/part-of"] = "trustee", ["app.kubernetes.io/instance"] = "t", ["app.kubernetes.io/component"] = "auth" })
  local spec = w.kbs().spec
  expect_equal(spec, { kbsDeploymentType = "AllInOneDeployment", KbsDeploymentSpec = { replicas = 1 }, KbsEnvVars = { RUST_LOG = "debug" },
    kbsSecretResources = { "attestation-status" }, kbsConfigMapName = "t-kbs-config", kbsAuthSecretName = "t-auth-secret",
    kbsRvpsRefValuesConfigMapName = "t-rvps-reference-values", kbsResourcePolicyConfigMapName = "t-resource-policy",
    kbsAttestationPolicyConfigMapName = "t-attestation-policy-cpu", kbsGpuAttestationPolicyConfigMapName = "t-attestation-policy-gpu" })
  expect_equal(data_of(w, "kbs-config")["kbs-config.toml"], file("data/latest/kbs-config-permissive.toml"))
  expect_equal({ w.reason("CatalogueLoaded"), w.reason("VersionResolved"), w.reason("TemplatesResolved"), w.reason("InputsValid"),
    w.reason("ConfigUpToDate") }, { "True/Loaded", "True/DefaultUsed", "True/Resolved", "True/Valid", "True/Current" })
end)

test("a version fixes images and files", function()
  local w = instance({ version = "v0.10.0" })
  local noted = w.kbs().annotations
  expect_equal({ noted[A .. "version"], noted[A .. "kbs-image"] }, { "v0.10.0", images .. "key-broker-service:built-in-as-v0.10.0" })
  expect_equal(data_of(w, "kbs-config")["kbs-config.toml"], file("data/v0.10.0/kbs-config-permissive.toml"))
  expect_equal(w.map("attestation-policy-cpu").data["default.rego"] ~= nil, true)
  expect_equal(w.parent.status.effectiveVersion, "v0.10.0")
end)

test("latest is what its mapping says, and no version is the same without a field", function()
  local asked, silent = instance({ version = "latest" }), instance({})
  expect_equal(silent.kbs().annotations[A .. "kbs-image"], asked.kbs().annotations[A .. "kbs-image"])
  expect_equal(silent.kbs().annotations[A .. "kbs-image"], images .. "key-broker-service:built-in-as-v0.22.0")
  expect_equal(silent.kbs().spec, asked.kbs().spec)
  expect_equal(silent.parent.spec.version, nil)
end)

test("a changed version keeps every byte of an edited ConfigMap and changes the annotations", function()
  local w = instance({ version = "v0.10.0" })
  w.edit(w.map("kbs-config"), "kbs-config.toml", "# mine\n")
  local before = data_of(w, "kbs-config")
  w.parent.spec.version = "v0.11.0"
  w.settle()
  expect_equal(data_of(w, "kbs-config"), before)
  expect_true(w.kbs().annotations[A .. "kbs-image"]:find("v0.11.0", 1, true))
  expect_equal(w.events.VersionChanged, "v0.10.0 -> v0.11.0")
end)

test("an unknown version is latest for a new instance, and nothing for one that runs", function()
  local w = instance({ version = "v9.9.9" })
  expect_equal({ w.reason("VersionResolved"), w.parent.status.effectiveVersion }, { "False/UnknownVersion", "latest" })
  expect_equal(w.condition("VersionResolved").message, "v9.9.9 is not in the catalogue: latest is used until it is")
  expect_equal(w.events.UnknownVersion, w.condition("VersionResolved").message)
  local running = instance({ version = "v0.18.0" })
  running.parent.spec.version = "v9.9.9"
  running.settle()
  expect_equal({ running.writes, running.parent.status.effectiveVersion }, { {}, "v0.18.0" })
  expect_equal(running.condition("VersionResolved").message, "v9.9.9 is not in the catalogue: v0.18.0 stays until it is")
end)

test("both choices are variables, and a file wins over them", function()
  local settings = require("settings")
  local function told(environment, text)
    local out = settings.of({ environment = environment, text = { ["settings.json"] = text } })
    return { out.strict_versions, out.hold_on_mismatch }
  end
  expect_equal(told({}), { false, false })
  expect_equal(told({ TRUSTEE_STRICT_VERSIONS = "true" }), { true, false })
  expect_equal(told({ TRUSTEE_HOLD_ON_MISMATCH = "true" }), { false, true })
  expect_equal(told({ TRUSTEE_HOLD_ON_MISMATCH = "yes" }), { false, false })
  expect_equal(told({ TRUSTEE_STRICT_VERSIONS = "true" }, "{}"), { true, false })
  expect_equal(told({ TRUSTEE_STRICT_VERSIONS = "true" }, '{"strict_versions": false}'), { false, false })
  -- An image of every instance is an image alone.
  expect_equal(settings.of({ environment = { TRUSTEE_STRICT_VERSIONS = "true", KBS_IMAGE_NAME = "r/k:1" }, text = {} }).environment,
    { KBS_IMAGE_NAME = "r/k:1" })
end)

test("strict versions refuse what is not in the catalogue", function()
  local w = instance({ version = "v9.9.9" }, fixtures.files({ ["settings.json"] = '{"strict_versions": true}' }))
  expect_equal({ names(w), w.reason("VersionResolved"), w.reason("Ready") }, { {}, "False/UnknownVersion", "False/UnknownVersion" })
end)

test("a version that is none makes nothing", function()
  for _, odd in ipairs({ "0.10.0", "Latest", "v1.2.3/.." }) do expect_equal(names(instance({ version = odd })), {}, odd) end
end)

test("a Restricted instance has four derived Secrets and serves TLS", function()
  local w = instance(restricted())
  for _, name in ipairs({ "https-key", "https-cert", "attestation-key", "attestation-cert" }) do
    expect_true(w.children["Secret/t-" .. name .. "-secret"] ~= nil, name)
  end
  expect_true(data_of(w, "kbs-config")["kbs-config.toml"]:find('tls_profile = "intermediate"', 1, true))
  expect_true(w.map("resource-policy").data["resource-policy.rego"]:find("affirming", 1, true))
  expect_equal({ w.kbs().spec.kbsHttpsKeySecretName, w.kbs().spec.KbsEnvVars }, { "t-https-key-secret", nil })
end)

test("a deleted ConfigMap or Secret is made anew, from the release in force", function()
  local w = instance({ version = "v0.18.0" })
  w.parent.spec.version = "v0.21.0"
  w.settle()
  expect_equal(w.reason("ConfigUpToDate"), "False/TemplateVersionMismatch")
  for key in pairs(plain.copy(w.children)) do
    if key:find("^ConfigMap/") then w.children[key] = nil end
  end
  w.children["Secret/t-auth-secret"] = nil
  w.settle()
  expect_equal(w.reason("ConfigUpToDate"), "True/Current")
  expect_equal(data_of(w, "kbs-config")["kbs-config.toml"], file("data/latest/kbs-config-permissive.toml"))
  expect_equal(w.secrets, 2)
  expect_true(w.children["Secret/t-auth-secret"].labels["app.kubernetes.io/component"] == "auth")
end)

test("a second pass over a settled instance writes nothing", function()
  for _, spec in ipairs({ {}, restricted(), { version = "v0.12.0" }, { version = "v0.19.0", profileType = "Permissive" } }) do
    local w = instance(spec)
    w.settle()
    expect_equal(w.writes, {})
  end
end)

-- ---------------------------------------------------------------- catalogue and templates

test("a broken catalogue at the start leaves latest with the images that are constants", function()
  local w = instance({}, fixtures.files({ ["versions.json"] = '{\n"supported_versions": [\n"latest"],\n"default_version": 7}' }))
  expect_equal(w.reason("CatalogueLoaded"), "False/CatalogueInvalid")
  expect_equal(w.condition("CatalogueLoaded").message, "versions.json: line 4: default_version: expected a text, found a number")
  expect_equal(w.parent.status.images.kbs, images .. "key-broker-service:latest")
  expect_true(w.events.ImageMappingMissing ~= nil)
end)

test("a broken catalogue touches no instance that is there", function()
  local w = instance({ version = "v0.18.0" })
  w.files = fixtures.files({ ["versions.json"] = "{" })
  w.parent.spec.version = "v0.21.0"
  w.edit(w.map("kbs-config"), "kbs-config.toml", "# mine\n")
  w.settle()
  expect_equal({ w.writes, w.reason("CatalogueLoaded") }, { {}, "False/CatalogueInvalid" })
  w.files = fixtures.files({ ["settings.json"] = "[" })
  w.settle()
  expect_equal(w.writes, {})
end)

test("a catalogue that is refused leaves the last good one in force, for who is there and for who comes", function()
  local w = instance({ version = "v0.18.0" })
  local why = "versions.json: line 4: default_version: expected a text, found a number"
  w.files = { text = w.files.text, digest = "", problem = why, refused = why }
  w.settle()
  expect_equal({ w.writes, w.reason("CatalogueLoaded"), w.condition("CatalogueLoaded").message }, { {}, "False/CatalogueInvalid", why })
  expect_equal(w.events.CatalogueInvalid, why)
  w.children["ConfigMap/" .. w.parent.name .. "-kbs-config"] = nil
  w.settle()
  expect_equal(w.writes, { "create ConfigMap/" .. w.parent.name .. "-kbs-config" })
  local new = instance({ version = "v0.18.0" }, w.files)
  expect_equal(new.kbs().annotations[A .. "version"], "v0.18.0")
  local said = policy.compose.data(fixtures.files({ ["versions.json"] = '{\n"supported_versions": [\n"latest"],\n"default_version": 7}' }))
  expect_equal({ said.problem, policy.compose.data(fixtures.files()).problem }, { why, nil })
  expect_equal(policy.compose.data(fixtures.files({ ["settings.json"] = "[" })).problem, "settings.json is no JSON object")
end)

test("a supported version without a mapping runs the constants and says so", function()
  local w = instance({ version = "v0.99.0" }, fixtures.files({ ["versions.json"] = fixtures.catalogue({ "v0.99.0", "latest" }) }))
  expect_equal(w.kbs().annotations[A .. "kbs-image"], nil)
  expect_true(w.events.ImageMappingMissing:find("kbs, as, rvps", 1, true))
  expect_equal({ w.reason("TemplatesResolved"), w.reason("ImagesResolved") }, { "True/FallbackToLatest", "False/ImageMappingMissing" })
  expect_equal(w.condition("ImagesResolved").message, "the catalogue has no image of v0.99.0 for kbs, as, rvps: kbs runs " .. images
    .. "key-broker-service:latest, which may not be that release")
  expect_true(w.events.TemplateFallback:find("reference-values", 1, true))
  w.settle()
  expect_equal(w.reason("ImagesResolved"), "False/ImageMappingMissing")
  w.files = fixtures.files({ ["versions.json"] = fixtures.catalogue({ "v0.99.0", "latest" }),
    ["settings.json"] = '{"environment": {"KBS_IMAGE_NAME": "r/kbs:1"}}' })
  w.settle()
  expect_equal({ w.reason("ImagesResolved"), w.condition("ImagesResolved").message }, { "True/Overridden", "KBS_IMAGE_NAME is in force: kbs runs r/kbs:1" })
end)

test("a supported version that the catalogue maps to no image runs the one that is shipped for it", function()
  local w = instance({ version = "v0.20.0" }, fixtures.files({ ["versions.json"] = fixtures.catalogue({ "v0.20.0", "latest" },
    { ["v0.20.0"] = { as_image = "r/as:1" } }) }))
  local image = images .. "key-broker-service:built-in-as-v0.20.0"
  local noted = w.kbs().annotations
  expect_equal({ noted[A .. "kbs-image"], noted[A .. "as-image"], noted[A .. "rvps-image"] },
    { image, "r/as:1", images .. "reference-value-provider-service:v0.20.0" })
  expect_equal({ w.reason("ImagesResolved"), w.events.ImageMappingMissing }, { "True/FallbackToShipped", nil })
  expect_equal(w.condition("ImagesResolved").message, "the catalogue has no image of v0.20.0: kbs runs the one that is shipped with Windlass, " .. image)
  expect_equal(instance({}).condition("ImagesResolved").message, "kbs runs " .. images .. "key-broker-service:built-in-as-v0.22.0")
end)

test("seven files a release are enough, for an instance that runs and for one that is new", function()
  local w = instance({ version = "v0.21.0" })
  w.kbs().status = { isReady = true }
  local seven = {}
  for path in pairs(files.text) do
    if path:find("_gpu.rego", 1, true) or path:find("-ibm.rego", 1, true) then seven[path] = false end
  end
  w.files = fixtures.files(seven)
  w.settle()
  expect_equal({ w.writes, w.reason("Ready"), w.reason("TemplatesResolved") }, { {}, "True/Ready", "True/FallbackToShipped" })
  expect_equal(w.condition("TemplatesResolved").message, "shipped with Windlass: gpu-policy")
  local new = instance({ version = "v0.21.0" }, w.files)
  expect_equal(data_of(new, "attestation-policy-gpu"), { ["default_gpu.rego"] = file("data/latest/ear_default_attestation_policy_gpu.rego") })
  seven["latest/rvps-reference-values.json"] = false
  seven["v0.20.0/rvps-reference-values.json"] = "{}"
  seven["versions.json"] = fixtures.catalogue({ "v0.30.0", "latest" })
  seven["latest/rvps-reference-values.json"] = nil
  local both = instance({ version = "v0.30.0" }, fixtures.files(seven))
  expect_true(both.condition("TemplatesResolved").message:find("^from latest: kbs%-permissive.*; shipped with Windlass: gpu%-policy$"))
end)

test("a broken configuration makes nothing of it, and changes nothing that runs", function()
  local w = instance({ version = "v0.21.0" }, fixtures.files({ ["latest/kbs-config-permissive.toml"] = "[http_server" }))
  expect_equal({ names(w), w.reason("TemplatesResolved") }, { {}, "False/RenderFailed" })
  expect_true(policy.compose.data(w.files).problem:find("latest/kbs-config-permissive.toml: it is no TOML", 1, true))
end)

test("what a catalogue says without effect is a warning, and stands in the condition", function()
  local its = fixtures.files({ ["versions.json"] = fixtures.catalogue({ "latest" }, { ["v1.0.0"] = {} }) })
  local why = "versions.json: line 1: version_mappings.v1.0.0: it is not in supported_versions, so it is ignored"
  expect_equal({ policy.compose.data(its).problem, policy.compose.data(its).warnings }, { nil, { why } })
  expect_equal(instance({}, its).condition("CatalogueLoaded").message, "1 releases, latest without a version; " .. why)
end)

test("files of another layout are no way out: nothing is written", function()
  local w = instance({ version = "v0.18.0" }, fixtures.files({ ["versions.json"] = fixtures.catalogue({ "v0.18.0", "latest" }),
    ["v0.18.0/kbs-config-permissive.toml"] = "a = 1\n" }))
  expect_equal({ names(w), w.reason("TemplatesResolved"), w.reason("Ready") }, { {}, "False/TemplateIncompatible", "False/TemplateIncompatible" })
end)

test("a file that is missing everywhere leaves the KbsConfig as it was", function()
  local w = instance({ version = "v0.20.0" })
  local before = plain.copy(w.kbs())
  w.files = fixtures.files({ ["latest/ear_default_attestation_policy_cpu.rego"] = false })
  w.parent.spec.version = "v0.21.0"
  w.settle()
  expect_equal(w.reason("TemplatesResolved"), "False/TemplateMissing")
  expect_equal(w.condition("TemplatesResolved").message, "cpu-policy of v0.21.0: no file in v0.21.0, latest")
  expect_equal({ w.kbs(), w.writes }, { before, {} })
end)

test("a template that cannot be rendered is named with its line", function()
  local w = instance(restricted(), fixtures.files({ ["latest/kbs-config-restricted.toml"] = "[http_server]\na = {{Tls}}\n" }))
  expect_equal(w.reason("TemplatesResolved"), "False/RenderFailed")
  expect_true(w.condition("TemplatesResolved").message:find("latest/kbs-config-restricted.toml: line 2: ", 1, true))
end)

test("a role that a release omits has no ConfigMap and no field", function()
  local w = instance({ version = "v0.10.0" })
  expect_equal({ w.map("attestation-policy-gpu"), w.kbs().spec.kbsGpuAttestationPolicyConfigMapName }, {})
  expect_equal({ w.map("tdx-config").data["sgx_default_qcnl.conf"], w.kbs().spec.tdxConfigSpec.kbsTdxConfigMapName },
    { file("data/v0.10.0/tdx-config.json"), "t-tdx-config" })
end)

-- ---------------------------------------------------------------- images

test("a variable wins over the catalogue and says so", function()
  local w = instance({}, fixtures.files({ ["settings.json"] = '{"environment": {"KBS_IMAGE_NAME": "r/kbs:1", "AS_IMAGE_NAME": ""}}' }))
  expect_equal({ w.parent.status.images.kbs, w.parent.status.images.as }, { "r/kbs:1", images .. "attestation-service:v0.22.0" })
  expect_true(w.events.ImageOverridden:find("KBS_IMAGE_NAME", 1, true))
end)

test("an annotation that somebody edited is restored", function()
  local w = instance({})
  local before = w.kbs().annotations[A .. "kbs-image"]
  w.kbs().annotations[A .. "kbs-image"], w.kbs().annotations["mine"] = "r/other:1", "x"
  w.settle()
  expect_equal({ w.kbs().annotations[A .. "kbs-image"], w.kbs().annotations.mine }, { before, "x" })
end)

test("an all-in-one instance takes the image that has its services built in, else the plain one", function()
  local function image(mapping)
    local w = instance({}, fixtures.files({ ["versions.json"] = fixtures.catalogue({ "latest" }, { latest = mapping }) }))
    return w.kbs().annotations[A .. "kbs-image"]
  end
  expect_equal(image({ kbs_image = "r/k:1", kbs_all_in_one_image = "r/all:1" }), "r/all:1")
  expect_equal(image({ kbs_image = "r/k:1" }), "r/k:1")
end)

-- ---------------------------------------------------------------- changing the version

test("ReplaceIfUnmodified rewrites what has no edits and keeps the old text", function()
  local w = instance({ version = "v0.18.0", configUpdatePolicy = "ReplaceIfUnmodified" })
  local before = data_of(w, "kbs-config")["kbs-config.toml"]
  w.parent.spec.version = "v0.21.0"
  w.settle()
  local now = data_of(w, "kbs-config")
  expect_equal(now, { ["kbs-config.toml"] = file("data/latest/kbs-config-permissive.toml"), ["kbs-config.toml.previous"] = before })
  expect_equal(w.map("kbs-config").annotations[A .. "template-version"], "v0.21.0")
  local resource = data_of(w, "resource-policy")
  expect_equal({ resource["policy.rego"], resource["policy.rego.previous"] ~= nil, resource["resource-policy.rego"] ~= nil }, { nil, true, true })
  expect_true(w.events.ConfigReplaced ~= nil)
  w.settle()
  expect_equal({ w.writes, w.reason("ConfigUpToDate") }, { {}, "True/Current" })
end)

test("ReplaceIfUnmodified keeps and lists what was edited", function()
  local w = instance({ version = "v0.18.0", configUpdatePolicy = "ReplaceIfUnmodified" })
  w.edit(w.map("kbs-config"), "kbs-config.toml", "# mine\n")
  w.parent.spec.version = "v0.21.0"
  w.settle()
  expect_equal(data_of(w, "kbs-config"), { ["kbs-config.toml"] = "# mine\n" })
  expect_equal(w.condition("ConfigUpToDate").message, "not of v0.21.0: t-kbs-config (made for v0.18.0)")
  expect_true(w.map("resource-policy").data["resource-policy.rego"] ~= nil)
end)

test("Preserve lists what does not fit and adds the key that the new layout needs", function()
  local w = instance({ version = "v0.18.0" })
  local before = data_of(w, "resource-policy")
  w.parent.spec.version = "v0.21.0"
  w.settle()
  local message = w.condition("ConfigUpToDate").message
  for _, name in ipairs({ "t-kbs-config", "t-resource-policy", "t-rvps-reference-values", "t-attestation-policy-cpu" }) do
    expect_true(message:find(name .. " (made for v0.18.0)", 1, true), message)
  end
  local now = data_of(w, "resource-policy")
  expect_equal({ now["policy.rego"], now["resource-policy.rego"] }, { before["policy.rego"], file("data/latest/resource-policy-permissive.rego") })
  expect_equal(w.kbs().annotations[A .. "version"], "v0.21.0")
end)

test("a mismatch clears when somebody edits a ConfigMap and marks it", function()
  local w = instance({ version = "v0.20.0" })
  w.parent.spec.version = "v0.21.0"
  w.settle()
  expect_equal(w.condition("ConfigUpToDate").message, "not of v0.21.0: t-kbs-config (made for v0.20.0)")
  w.edit(w.map("kbs-config"), "kbs-config.toml", "[http_server]\n")
  w.map("kbs-config").annotations[A .. "template-version"] = "v0.21.0"
  w.settle()
  expect_equal(w.reason("ConfigUpToDate"), "True/Current")
end)

test("going back is the same as going on", function()
  local w = instance(restricted({ version = "v0.21.0", configUpdatePolicy = "ReplaceIfUnmodified" }))
  w.parent.spec.version = "v0.20.0"
  w.settle()
  expect_equal(w.kbs().annotations[A .. "version"], "v0.20.0")
  expect_true(not data_of(w, "kbs-config")["kbs-config.toml"]:find("tls_", 1, true))
  w.parent.spec.version = nil
  w.settle()
  expect_equal(w.parent.status.effectiveVersion, "latest")
  expect_true(data_of(w, "kbs-config")["kbs-config.toml"]:find("tls_profile", 1, true))
end)

local made = fixtures.made(files)
for i, from in ipairs(made.versions) do
  for _, how in ipairs({ "Preserve", "ReplaceIfUnmodified" }) do
    local to = made.versions[#made.versions + 1 - i]
    test("from " .. from .. " to " .. to .. " with " .. how .. " nothing is lost, and a second pass writes nothing", function()
      local w = instance({ version = from, configUpdatePolicy = how })
      local before = data_of(w, "kbs-config")
      w.parent.spec.version = to
      w.settle()
      if how == "Preserve" then
        expect_equal(data_of(w, "kbs-config"), before)
      else
        expect_equal(w.reason("ConfigUpToDate"), "True/Current")
        expect_equal(data_of(w, "kbs-config")["kbs-config.toml"], (fixtures.rendered(files, to, "kbs-permissive")))
      end
      w.settle()
      expect_equal(w.writes, {})
    end)
  end
end

test("of two versions in quick succession the last is in force", function()
  local w = instance({ version = "v0.18.0", configUpdatePolicy = "ReplaceIfUnmodified" })
  w.parent.spec.version = "v0.19.0"
  w.pass(2)
  w.parent.spec.version = "v0.21.0"
  w.settle()
  expect_equal({ w.kbs().annotations[A .. "version"], w.reason("ConfigUpToDate"), w.parent.status.effectiveVersion }, { "v0.21.0", "True/Current", "v0.21.0" })
  expect_equal(data_of(w, "kbs-config")["kbs-config.toml"], file("data/latest/kbs-config-permissive.toml"))
end)

test("a process that dies after any write goes on where it was, and makes keys once", function()
  local whole = names(instance(restricted()))
  for most = 0, #whole do
    local w = fixtures.instance(restricted(), files, sync)
    w.pass(most)
    w.settle()
    expect_equal({ names(w), w.secrets }, { whole, 1 }, "after " .. most .. " writes")
  end
end)

test("a new image waits for files that fit, where the process is told so", function()
  local w = instance({ version = "v0.18.0" }, fixtures.files({ ["settings.json"] = '{"hold_on_mismatch": true}' }))
  w.parent.spec.version = "v0.21.0"
  w.settle()
  expect_equal({ w.kbs().annotations[A .. "version"], w.reason("Ready"), w.parent.status.effectiveVersion }, { "v0.18.0", "False/HeldOnMismatch", "v0.18.0" })
  w.parent.spec.configUpdatePolicy = "ReplaceIfUnmodified"
  w.settle()
  expect_equal(w.kbs().annotations[A .. "version"], "v0.21.0")
end)

test("an unmarked ConfigMap that is some release's file is marked, any other is left alone", function()
  local w = fixtures.instance({ version = "v0.18.0" }, files, sync)
  local function put(suffix, data)
    w.children["ConfigMap/t-" .. suffix] = fixtures.object({ apiVersion = "v1", kind = "ConfigMap", name = "t-" .. suffix, data = data })
  end
  put("kbs-config", { ["kbs-config.toml"] = file("data/v0.17.0/kbs-config-permissive.toml") })
  put("resource-policy", { ["policy.rego"] = "package mine\n" })
  w.settle()
  expect_equal(w.map("kbs-config").annotations[A .. "template-version"], "v0.17.0")
  expect_equal({ w.map("resource-policy").annotations[A .. "template-version"], w.map("resource-policy").data }, { nil, { ["policy.rego"] = "package mine\n" } })
end)

-- ---------------------------------------------------------------- TLS and inputs

test("tlsConfig is followed in a file that its user edits, and nothing else in it changes", function()
  local w = instance(restricted({ tlsConfig = { profile = "modern" } }))
  local mine = w.map("kbs-config").data["kbs-config.toml"]:gsub("worker_count = 4", "worker_count = 9 # mine")
  w.edit(w.map("kbs-config"), "kbs-config.toml", mine)
  w.parent.spec.tlsConfig = { profile = "custom", minVersion = "1.2", maxVersion = "1.3", ciphers = { "A", "B" }, groups = { "x25519", "secp256r1" } }
  w.settle()
  local now = w.map("kbs-config").data["kbs-config.toml"]
  for _, line in ipairs({ 'tls_profile = "custom"', 'tls_min_version = "1.2"', 'tls_max_version = "1.3"', 'tls_ciphers = "A:B"',
    'tls_groups = "x25519:secp256r1"', "worker_count = 9 # mine" }) do
    expect_true(now:find(line .. "\n", 1, true), line)
  end
  w.parent.spec.tlsConfig = { profile = "modern" }
  w.settle()
  expect_equal(w.map("kbs-config").data["kbs-config.toml"], mine)
  w.settle()
  expect_equal(w.writes, {})
end)

test("following tlsConfig is no edit of somebody's", function()
  local w = instance(restricted({ configUpdatePolicy = "ReplaceIfUnmodified", version = "v0.21.0" }))
  w.parent.spec.tlsConfig = { profile = "modern" }
  w.settle()
  w.parent.spec.version = "v0.20.0"
  w.settle()
  expect_equal(w.reason("ConfigUpToDate"), "True/Current")
end)

test("a file that cannot be followed is left alone with a warning", function()
  local w = instance(restricted())
  w.edit(w.map("kbs-config"), "kbs-config.toml", "nothing = ")
  w.settle()
  expect_equal({ w.writes, w.map("kbs-config").data["kbs-config.toml"] }, { {}, "nothing = " })
  expect_equal(w.events.TlsConfigIgnored, "t-kbs-config is left alone: it is no TOML")
end)

test("inputs that cannot be are refused before anything is rendered", function()
  local odd = { { { tlsConfig = { profile = "custom", minVersion = "1.0" } }, "TlsVersionUnsupported" },
    { { tlsConfig = { minVersion = "1.3", maxVersion = "1.2" } }, "TlsVersionUnsupported" }, { { profileType = "Loose" }, "ProfileUnknown" },
    { { instanceName = "Blue" }, "InstanceNameInvalid" }, { { instanceName = ("a"):rep(31) }, "InstanceNameInvalid" } }
  for _, case in ipairs(odd) do
    local w = instance(case[1])
    expect_equal({ names(w), w.reason("InputsValid"), w.reason("Ready") }, { {}, "False/" .. case[2], "False/" .. case[2] })
  end
end)

test("a Secret that is no source of TLS is named, and its cure is seen without a touch", function()
  local cases = { { nil, "Secret https is not there" }, { { type = "Opaque" }, "Secret https is of type Opaque, not kubernetes.io/tls" },
    { { type = "kubernetes.io/tls" }, "Secret https has no tls.key" } }
  for _, case in ipairs(cases) do
    local w = fixtures.instance(restricted(), files, sync)
    w.related["Secret/https"] = nil
    if case[1] then w.put({ apiVersion = "v1", kind = "Secret", name = "https", rest = case[1], data = { ["tls.crt"] = "c" } }) end
    w.settle()
    expect_equal(w.condition("InputsValid").message, "httpsSpec.tlsSecretName: " .. case[2])
    expect_equal({ w.kbs(), w.map("kbs-config") ~= nil }, { nil, true })
    w.put(fixtures.tls_secret("https"))
    w.settle()
    expect_true(w.kbs() ~= nil)
  end
end)

test("a source whose key was emptied is told, and its copies stay", function()
  local w = fixtures.instance(fixtures.restricted, nil, sync).settle()
  local key, deployed = w.children["Secret/t-https-key-secret"], plain.copy(w.kbs().spec)
  local emptied = fixtures.tls_secret("https")
  emptied.data["tls.key"] = ""
  w.put(emptied)
  w.settle()
  expect_equal(w.reason("InputsValid"), "False/TlsSecretInvalid")
  expect_true(w.condition("InputsValid").message:find("Secret https has an empty tls.key", 1, true))
  expect_equal(w.children["Secret/t-https-key-secret"].digests, key.digests)
  expect_equal(w.kbs().spec, deployed)
end)

test("a renewed source is followed by its copies, an edited copy is kept", function()
  local w = instance(restricted())
  local note = A .. "copied-digest"
  local key, certificate = w.children["Secret/t-https-key-secret"], w.children["Secret/t-https-cert-secret"]
  certificate.digests.certificate = digest.of("mine")
  w.put(fixtures.tls_secret("https", "renewed"))
  w.settle()
  key, certificate = w.children["Secret/t-https-key-secret"], w.children["Secret/t-https-cert-secret"]
  expect_equal({ key.digests.privateKey, key.annotations[note] }, { digest.of("key renewed"), digest.of("key renewed") })
  expect_equal(certificate.digests.certificate, digest.of("mine"))
end)

test("Restricted without its Secrets makes all but the KbsConfig", function()
  local w = instance({ profileType = "Restricted", httpsSpec = { tlsSecretName = "https" } })
  expect_equal({ w.reason("InputsValid"), w.kbs(), w.map("kbs-config") ~= nil, w.children["Secret/t-auth-secret"] ~= nil },
    { "False/TlsSecretRequired", nil, true, true })
  expect_equal(w.condition("Ready").message, "profile Restricted needs attestationTokenVerificationSpec.tlsSecretName")
end)

test("another profile takes back what we set, and keeps files that were made for the first", function()
  local w = instance({ httpsSpec = fixtures.restricted.httpsSpec, attestationTokenVerificationSpec = fixtures.restricted.attestationTokenVerificationSpec })
  expect_true(w.events.HttpsIgnored ~= nil)
  local before = data_of(w, "kbs-config")
  w.parent.spec.profileType = "Restricted"
  w.settle()
  expect_true(empty(w.kbs().spec.KbsEnvVars or {}))
  expect_equal(data_of(w, "kbs-config"), before)
  expect_equal(w.condition("ConfigUpToDate").message, "not of latest: t-kbs-config (made for another profile), t-resource-policy (made for another profile)")
  local theirs = instance({})
  theirs.kbs().spec.KbsEnvVars = { RUST_LOG = "info", MORE = "1" }
  theirs.parent.spec = restricted()
  theirs.settle()
  expect_equal(theirs.kbs().spec.KbsEnvVars, { RUST_LOG = "info", MORE = "1" })
end)

test("a KbsConfig that its user gives away brings what is its user's", function()
  local w = fixtures.instance({}, files, sync)
  w.put({ apiVersion = "confidentialcontainers.org/v1alpha1", kind = "KbsConfig", name = "t-kbs-config",
    spec = { KbsDeploymentSpec = { replicas = 3 }, KbsEnvVars = { RUST_LOG = "trace" }, kbsSecretResources = { "mine" }, kbsServiceType = "NodePort" } })
  w.pass()
  local spec = w.kbs().spec
  expect_equal({ spec.KbsDeploymentSpec, spec.KbsEnvVars, spec.kbsSecretResources, spec.kbsServiceType }, { nil, nil, { "mine", "attestation-status" }, "" })
end)

test("what a user put into the KbsConfig stays, what is ours is repaired", function()
  local w = instance({})
  local spec = w.kbs().spec
  spec.KbsDeploymentSpec.replicas, spec.KbsEnvVars.RUST_LOG = 3, "info"
  spec.kbsSecretResources = { "attestation-status", "new-secret" }
  spec.kbsLocalCertCacheSpec = { secrets = { { secretName = "vcek" } } }
  spec.kbsConfigMapName, spec.kbsServiceType = "other", "NodePort"
  w.settle()
  spec = w.kbs().spec
  expect_equal({ spec.KbsDeploymentSpec.replicas, spec.kbsSecretResources, spec.kbsLocalCertCacheSpec.secrets[1].secretName, spec.kbsConfigMapName },
    { 3, { "attestation-status", "new-secret" }, "vcek", "t-kbs-config" })
  expect_equal(spec.KbsEnvVars.RUST_LOG, "info")
  expect_true(spec.kbsServiceType == nil or spec.kbsServiceType == "")
  spec.kbsSecretResources = { "new-secret" }
  w.settle()
  expect_equal(w.kbs().spec.kbsSecretResources, { "new-secret", "attestation-status" })
end)

test("the type of the Service, its ports and the name of the instance are handed on", function()
  local w = instance({ kbsServiceType = "NodePort", kbsServicePort = 9090, kbsNodePort = 30080, instanceName = "blue" })
  local spec = w.kbs().spec
  expect_equal({ spec.kbsServiceType, spec.kbsServicePort, spec.kbsNodePort, spec.kbsInstanceName }, { "NodePort", 9090, 30080, "blue" })
  w.parent.spec.kbsServiceType = nil
  w.settle()
  expect_equal(w.reason("InputsValid"), "False/NodePortNotAllowed")
  w.parent.spec.kbsNodePort, w.parent.spec.instanceName = nil, "green"
  w.settle()
  expect_equal({ w.reason("InputsValid"), w.kbs().spec.kbsInstanceName }, { "False/InstanceNameImmutable", "blue" })
  w.parent.spec.instanceName, w.parent.spec.configUpdatePolicy = "blue", "Sometimes"
  w.settle()
  expect_equal(w.reason("InputsValid"), "False/ConfigUpdatePolicyUnknown")
end)

test("IBM Secure Execution has a claim on its volume and no attestation policies of ours", function()
  local w = fixtures.instance({ ibmSE = { pvName = "store" } }, files, sync)
  w.settle()
  expect_equal(w.condition("InputsValid").message, "ibmSE.pvName: PersistentVolume store is not there")
  w.put({ apiVersion = "v1", kind = "PersistentVolume", name = "store" })
  w.settle()
  local claim = w.children["PersistentVolumeClaim/t-ibmse-certstore-pvc"]
  expect_equal(claim.spec, { accessModes = { "ReadOnlyMany" }, storageClassName = "", volumeName = "store", resources = { requests = { storage = "100Mi" } } })
  expect_equal({ w.map("attestation-policy-cpu"), w.kbs().spec.ibmSEConfigSpec.certStorePvc }, { nil, "t-ibmse-certstore-pvc" })
  expect_true(w.map("resource-policy").data["resource-policy.rego"]:find("<se.tag>", 1, true))
  w.parent.spec.ibmSE = nil
  w.settle()
  local there = w.kbs().spec.ibmSEConfigSpec
  expect_true(there == nil or there.certStorePvc == nil or there.certStorePvc == "")
  w.kbs().spec.ibmSEConfigSpec = { certStorePvc = "mine" }
  w.settle()
  expect_equal(w.kbs().spec.ibmSEConfigSpec.certStorePvc, "mine")
end)

test("a claim that is bound elsewhere is an error, and so is no name", function()
  local w = fixtures.instance({ ibmSE = { pvName = "store" } }, files, sync)
  w.put({ apiVersion = "v1", kind = "PersistentVolume", name = "store" })
  w.put({ apiVersion = "v1", kind = "PersistentVolumeClaim", name = "t-ibmse-certstore-pvc", spec = { volumeName = "other" } })
  w.settle()
  expect_equal({ w.reason("InputsValid"), w.kbs() }, { "False/PersistentVolumeClaimBound" })
  w.parent.spec.ibmSE = {}
  w.settle()
  expect_equal(w.condition("InputsValid").message, "ibmSE.pvName is missing")
end)

test("settings of TLS that a release does not have are said to be without effect", function()
  local w = instance(restricted({ version = "v0.20.0", tlsConfig = { profile = "modern" } }))
  expect_true(w.events.TlsConfigIgnored:find("v0.20.0", 1, true))
  expect_true(not data_of(w, "kbs-config")["kbs-config.toml"]:find("tls_", 1, true))
end)

test("a release that is deprecated says so where it is used", function()
  local w = instance({}, fixtures.files({ ["versions.json"] = fixtures.catalogue({ "latest" }, { latest = { deprecated = true } }) }))
  expect_true(w.events.VersionDeprecated ~= nil)
end)

-- ---------------------------------------------------------------- several, and what was there before

test("the Secret of the namespace stays with whom it belongs to", function()
  local b = fixtures.instance({}, files, sync, "b")
  b.put({ apiVersion = "v1", kind = "Secret", name = "attestation-status", labels = { ["app.kubernetes.io/instance"] = "a" }, data = { status = "success" } })
  b.settle()
  expect_equal(b.children["Secret/attestation-status"], nil)
  b.related["Secret/attestation-status"] = nil
  b.settle()
  expect_true(b.children["Secret/attestation-status"] ~= nil)
end)

test("two instances have nothing in common but the Secret of the namespace", function()
  local a, b = instance({ instanceName = "a", version = "v0.18.0" }, files, "a"), instance({ instanceName = "b", version = "v0.21.0" }, files, "b")
  for key in pairs(a.children) do
    expect_true(b.children[key] == nil or key == "Secret/attestation-status", key)
  end
end)

test("what an older operator left behind is neither asked for nor deleted", function()
  local w = fixtures.instance({}, files, sync)
  w.children["ConfigMap/t-attestation-policy"] = fixtures.object({ apiVersion = "v1", kind = "ConfigMap", name = "t-attestation-policy", data = {} })
  local ours = fixtures.object({ apiVersion = "v1", kind = "ConfigMap", name = "t-old", data = { a = "b" }, annotations = { ["windlass.dev/composed-by"] = "windlass-trustee" } })
  w.children["ConfigMap/t-old"] = ours
  w.settle()
  expect_true(w.children["ConfigMap/t-attestation-policy"] ~= nil and w.children["ConfigMap/t-old"] ~= nil)
end)

test("readiness is that of the KbsConfig, with its reason", function()
  local w = instance({})
  expect_equal({ w.parent.status.isReady, w.reason("Ready") }, { false, "False/Deploying" })
  w.kbs().status = { isReady = false, conditions = { { type = "Ready", status = "False", reason = "InstanceNameConflict", message = "it belongs to another" } } }
  w.settle()
  expect_equal({ w.reason("Ready"), w.parent.status.statusDescription }, { "False/InstanceNameConflict", "it belongs to another" })
  w.kbs().status = { isReady = true }
  w.settle()
  expect_equal({ w.parent.status.isReady, w.reason("Ready"), w.parent.status.kbsConfigRef.name }, { true, "True/Ready", "t-kbs-config" })
end)

test("an instance that runs another release than it asks for says so where it says that it is ready", function()
  local w = instance({ version = "v0.99.0" })
  w.kbs().status = { isReady = true }
  w.settle()
  local c = w.condition("Ready")
  expect_equal({ c.status, w.parent.status.statusDescription }, { "True", c.message })
  expect_true(c.message:find(w.condition("VersionResolved").message, 1, true) and c.message:find("v0.99.0 is not in the catalogue", 1, true), c.message)
  w.parent.spec.version = "v0.22.0"
  w.settle()
  expect_true(not w.condition("Ready").message:find("catalogue", 1, true), w.condition("Ready").message)
end)

test("a file that cannot be read leaves what runs alone", function()
  local w = instance({})
  w.files = { text = w.files.text, digest = "", problem = "read /etc/templates: no such folder", refused = "" }
  w.settle()
  expect_equal({ w.writes, w.condition("CatalogueLoaded").message }, { {}, "read /etc/templates: no such folder" })
end)

test("what an instance looks at is what its spec names", function()
  local function seen(spec)
    local list = {}
    for i, one in ipairs(require("instance").related(fixtures.trustee(spec))) do list[i] = one.kind .. "/" .. one.name end
    return list
  end
  expect_equal(seen({}), { "Secret/attestation-status", "KbsConfig/t-kbs-config" })
  expect_equal(seen(fixtures.restricted), { "Secret/attestation-status", "KbsConfig/t-kbs-config", "Secret/https", "Secret/token" })
  expect_equal(seen({ ibmSE = { pvName = "store" } }), { "Secret/attestation-status", "KbsConfig/t-kbs-config", "PersistentVolume/store", "PersistentVolumeClaim/t-ibmse-certstore-pvc" })
end)
