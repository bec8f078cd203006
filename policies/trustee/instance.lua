-- TrusteeConfig: an instance of one release. It becomes ConfigMaps, Secrets and a KbsConfig.
local catalogue = require("catalogue")
local images = require("images")
local maps = require("maps")
local plain = require("plain")
local said = require("said")
local settings = require("settings")
local tls = require("tls")

local instance = {}
local A = images.annotation
local text = plain.text
local most_instance_name = 30

-- ---------------------------------------------------------------- what it looks at

function instance.related(parent)
  local spec, list = parent.spec or {}, {}
  local function look(kind, name, version)
    if text(name) ~= "" then list[#list + 1] = { apiVersion = version or "v1", kind = kind, name = name } end
  end
  look("Secret", "attestation-status")
  look("KbsConfig", parent.name .. "-kbs-config", parent.apiVersion)
  look("Secret", spec.httpsSpec and spec.httpsSpec.tlsSecretName)
  look("Secret", spec.attestationTokenVerificationSpec and spec.attestationTokenVerificationSpec.tlsSecretName)
  if spec.ibmSE then
    look("PersistentVolume", spec.ibmSE.pvName)
    look("PersistentVolumeClaim", parent.name .. "-ibmse-certstore-pvc")
  end
  return list
end

-- ---------------------------------------------------------------- inputs

-- A Secret as source of a copy: what is wrong with it, or nil.
local function secret_problem(related, name)
  local there = related["Secret/" .. name]
  if not there then return "Secret " .. name .. " is not there" end
  local type = there.rest and there.rest.type
  if type ~= "kubernetes.io/tls" then return "Secret " .. name .. " is of type " .. text(type) .. ", not kubernetes.io/tls" end
  for _, key in ipairs({ "tls.key", "tls.crt" }) do
    local held = there.digests[key]
    if not held then return "Secret " .. name .. " has no " .. key end
    if held == digest.of("") then return "Secret " .. name .. " has an empty " .. key end
  end
  return nil
end

-- What stands in the way of a KbsConfig: a reason and a sentence, or nil.
local function input_problem(parent, related, children, kbs)
  local spec = parent.spec or {}
  local profile = text(spec.profileType)
  if profile ~= "" and profile ~= "Permissive" and profile ~= "Restricted" then
    return "ProfileUnknown", "profileType: expected Permissive or Restricted, not '" .. profile .. "'"
  end
  local policy = text(spec.configUpdatePolicy)
  if policy ~= "" and policy ~= "Preserve" and policy ~= "ReplaceIfUnmodified" then
    return "ConfigUpdatePolicyUnknown", "configUpdatePolicy: expected Preserve or ReplaceIfUnmodified, not '" .. policy .. "'"
  end
  local reason, why = tls.problem(spec.tlsConfig)
  if reason then return reason, why end
  local name = text(spec.instanceName)
  if name ~= "" and (#name > most_instance_name or not (name:find("^[a-z0-9][a-z0-9-]*$") and name:find("[a-z0-9]$"))) then
    return "InstanceNameInvalid", "instanceName: '" .. name .. "' is no DNS label of " .. most_instance_name .. " characters at most"
  end
  local before = text(kbs and kbs.spec and kbs.spec.kbsInstanceName)
  if before ~= "" and before ~= name then
    return "InstanceNameImmutable", "instanceName was '" .. before .. "' and stays so"
  end
  local type = text(spec.kbsServiceType)
  if spec.kbsNodePort and type ~= "NodePort" and type ~= "LoadBalancer" then
    return "NodePortNotAllowed", "kbsNodePort needs kbsServiceType NodePort or LoadBalancer"
  end
  for _, key in ipairs({ "httpsSpec", "attestationTokenVerificationSpec" }) do
    local wanted = text(spec[key] and spec[key].tlsSecretName)
    local problem = wanted ~= "" and secret_problem(related, wanted)
    if problem then return "TlsSecretInvalid", key .. ".tlsSecretName: " .. problem end
  end
  if spec.ibmSE then
    local volume = text(spec.ibmSE.pvName)
    if volume == "" then return "PersistentVolumeMissing", "ibmSE.pvName is missing" end
    if not related["PersistentVolume/" .. volume] then
      return "PersistentVolumeMissing", "ibmSE.pvName: PersistentVolume " .. volume .. " is not there"
    end
    local claim = related["PersistentVolumeClaim/" .. parent.name .. "-ibmse-certstore-pvc"]
    local bound = claim and text(claim.spec and claim.spec.volumeName)
    if bound and bound ~= volume then
      return "PersistentVolumeClaimBound", "PersistentVolumeClaim " .. claim.name .. " is for " .. bound .. ", not " .. volume
    end
  end
  return nil
end

local function is_restricted(spec) return spec.profileType == "Restricted" end

-- ---------------------------------------------------------------- Secrets

local function labels(parent, component)
  return { ["app.kubernetes.io/managed-by"] = "trustee-operator", ["app.kubernetes.io/part-of"] = "trustee",
    ["app.kubernetes.io/instance"] = parent.name, ["app.kubernetes.io/component"] = component }
end

local function secret(parent, name, component, data, annotations)
  return { way = "own", object = { apiVersion = "v1", kind = "Secret", type = "Opaque",
    metadata = { name = name, labels = labels(parent, component), annotations = annotations }, data = data } }
end

-- A copy follows its source until a person edits it; then it is theirs.
local function copied(parent, children, related, name, component, key, source, source_key)
  local note = A .. "copied-digest"
  local now = related["Secret/" .. source].digests[source_key]
  local child = secret(parent, name, component, { [key] = { copy = { secret = source, key = source_key } } }, { [note] = now })
  local there = children["Secret/" .. name]
  local has = there and there.digests[key]
  if has and has ~= now and has ~= there.annotations[note] then child.way = "create" end
  return child
end

local function secrets(parent, related, children, add)
  local n, spec = parent.name, parent.spec or {}
  add(secret(parent, n .. "-auth-secret", "auth", { privateKey = { generate = "ed25519" }, publicKey = { public_of = "privateKey" } }))
  -- One for the namespace: its maker keeps it.
  if children["Secret/attestation-status"] or not related["Secret/attestation-status"] then
    add({ way = "create", object = secret(parent, "attestation-status", "sample", { status = "success" }).object })
  end
  local function pair(from, what, component, key, certificate)
    local source = text(from and from.tlsSecretName)
    if source == "" or secret_problem(related, source) then return end
    add(copied(parent, children, related, n .. "-" .. what .. "-key-secret", component, key, source, "tls.key"))
    add(copied(parent, children, related, n .. "-" .. what .. "-cert-secret", component, certificate, source, "tls.crt"))
  end
  pair(spec.httpsSpec, "https", "https", "privateKey", "certificate")
  pair(spec.attestationTokenVerificationSpec, "attestation", "attestation", "token.key", "token.crt")
end

-- ---------------------------------------------------------------- KbsConfig

-- What of a KbsConfig is its user's as well, as we would have it.
local function generated_of(parent, claim)
  local spec = parent.spec or {}
  local environment = {}
  if not is_restricted(spec) then environment.RUST_LOG = "debug" end
  return { replicas = 1, environment = environment, resources = { "attestation-status" }, claim = claim }
end

-- What we wrote last: noted, or what the reference operator would have written.
local function last_applied(kbs, parent)
  local noted = kbs and kbs.annotations[A .. "last-applied"]
  local ok, read = pcall(json.decode, noted or "")
  if noted and ok and type(read) == "table" then
    return { replicas = read.replicas, environment = read.environment or {}, resources = read.resources or {}, claim = text(read.claim) }
  end
  return { replicas = 1, environment = { RUST_LOG = "debug" }, resources = { "attestation-status" },
    claim = parent.name .. "-ibmse-certstore-pvc" }
end

local function has(list, name)
  for _, one in ipairs(list or {}) do
    if one == name then return true end
  end
  return false
end

-- The merged list: what others added, without what was ours and is no more, and what is ours.
local function merged(there, before, now)
  local out = {}
  for _, name in ipairs(there or {}) do
    if not has(before, name) or has(now, name) then out[#out + 1] = name end
  end
  for _, name in ipairs(now) do
    if not has(out, name) then out[#out + 1] = name end
  end
  return out
end

local function kbs_config(parent, kbs, row, generated, names)
  local spec, live = parent.spec or {}, kbs and kbs.spec or {}
  local before = last_applied(kbs, parent)
  local out = { kbsDeploymentType = "AllInOneDeployment", kbsAuthSecretName = parent.name .. "-auth-secret" }
  -- A field of ours that another has filled is emptied; then it is let go.
  local function ours(key, value)
    if text(value) ~= "" then
      out[key] = value
    elseif text(live[key]) ~= "" then
      out[key] = ""
    end
  end
  for _, key in ipairs({ "kbsConfigMapName", "kbsResourcePolicyConfigMapName", "kbsRvpsRefValuesConfigMapName",
    "kbsAttestationPolicyConfigMapName", "kbsGpuAttestationPolicyConfigMapName" }) do
    ours(key, names[key])
  end
  ours("kbsServiceType", spec.kbsServiceType)
  ours("kbsInstanceName", spec.instanceName)
  out.kbsServicePort, out.kbsNodePort = spec.kbsServicePort, spec.kbsNodePort
  local https = text(spec.httpsSpec and spec.httpsSpec.tlsSecretName) ~= ""
  local token = text(spec.attestationTokenVerificationSpec and spec.attestationTokenVerificationSpec.tlsSecretName) ~= ""
  ours("kbsHttpsKeySecretName", https and parent.name .. "-https-key-secret")
  ours("kbsHttpsCertSecretName", https and parent.name .. "-https-cert-secret")
  ours("kbsAttestationKeySecretName", token and parent.name .. "-attestation-key-secret")
  ours("kbsAttestationCertSecretName", token and parent.name .. "-attestation-cert-secret")
  local tdx = text(names.kbsTdxConfigMapName)
  if tdx ~= "" or (live.tdxConfigSpec and text(live.tdxConfigSpec.kbsTdxConfigMapName) ~= "") then
    out.tdxConfigSpec = { kbsTdxConfigMapName = tdx }
  end

  local replicas = live.KbsDeploymentSpec and live.KbsDeploymentSpec.replicas
  if replicas == nil or replicas == before.replicas then out.KbsDeploymentSpec = { replicas = generated.replicas } end
  local environment, seen = {}, live.KbsEnvVars or {}
  for name, value in pairs(generated.environment) do
    if seen[name] == nil or seen[name] == before.environment[name] or seen[name] == value then environment[name] = value end
  end
  if not empty(environment) then out.KbsEnvVars = environment end
  out.kbsSecretResources = merged(live.kbsSecretResources, before.resources, generated.resources)
  local claim = text(live.ibmSEConfigSpec and live.ibmSEConfigSpec.certStorePvc)
  if claim == "" or claim == before.claim or claim == generated.claim then
    if generated.claim ~= "" then
      out.ibmSEConfigSpec = { certStorePvc = generated.claim }
    elseif claim ~= "" then
      out.ibmSEConfigSpec = { certStorePvc = "" }
    end
  end

  local annotations = { [A .. "version"] = row.version, [A .. "last-applied"] = json.encode(generated) }
  local chosen, filled = images.of_release(row)
  for container, image in pairs(chosen) do
    local key = A .. container .. "-image"
    if image ~= "" then
      annotations[key] = image
    elseif text(kbs and kbs.annotations[key]) ~= "" then
      annotations[key] = ""
    end
  end
  return { object = { apiVersion = "confidentialcontainers.org/v1alpha1", kind = "KbsConfig",
    metadata = { name = parent.name .. "-kbs-config", annotations = annotations }, spec = out } }, chosen, filled
end

-- ---------------------------------------------------------------- what stays

-- A child as it is, so that it is neither written nor deleted.
local function kept(there)
  local object = { apiVersion = there.apiVersion, kind = there.kind, metadata = { name = there.name } }
  if there.kind == "Secret" then
    object.type = there.rest and there.rest.type
  else
    object.data, object.spec = plain.copy(there.data), plain.copy(there.spec)
  end
  return { way = "create", object = object }
end

-- What was made for it and is not asked for any more stays: it is its user's now, and goes with the instance.
local function keep_the_rest(children, list)
  local asked = {}
  for _, child in ipairs(list) do asked[child.object.kind .. "/" .. child.object.metadata.name] = true end
  for key, there in pairs(children) do
    if not asked[key] and there.annotations["windlass.dev/composed-by"] then list[#list + 1] = kept(there) end
  end
end

-- ---------------------------------------------------------------- the pass

local function report_templates(plans, out)
  local from, problem = { latest = {}, shipped = {}, inherited = {} }, nil
  for _, p in ipairs(plans) do
    if p.problem then problem = problem or p end
    local list = from[p.how]
    if list then list[#list + 1] = p.role end
  end
  local latest, shipped, inherited = table.concat(from.latest, ", "), table.concat(from.shipped, ", "), table.concat(from.inherited, ", ")
  local there = shipped ~= "" and "shipped with Windlass: " .. shipped or ""
  if problem then
    local reason = problem.how == "incompatible" and "TemplateIncompatible" or problem.how == "broken" and "RenderFailed" or "TemplateMissing"
    out.condition("TemplatesResolved", false, reason, problem.problem)
  elseif latest ~= "" then
    out.condition("TemplatesResolved", true, "FallbackToLatest", "from latest: " .. latest .. (there ~= "" and "; " .. there or ""))
    out.warn("TemplateFallback", "from latest: " .. latest)
  elseif there ~= "" then
    out.condition("TemplatesResolved", true, "FallbackToShipped", there)
  elseif inherited ~= "" then
    out.condition("TemplatesResolved", true, "Inherited", "inherited: " .. inherited)
  else
    out.condition("TemplatesResolved", true, "Resolved", "every file is the release's own")
  end
  return problem
end

local function report_maps(plans, row, out)
  local stale, replaced = {}, {}
  for _, p in ipairs(plans) do
    if p.mismatch or p.kept then stale[#stale + 1] = p.name .. (p.why and " (" .. p.why .. ")" or " (edited)") end
    if p.replaced then replaced[#replaced + 1] = p.name end
    if p.odd then out.warn("TlsConfigIgnored", p.odd) end
  end
  if #replaced > 0 then out.tell("ConfigReplaced", "for " .. row.version .. ": " .. table.concat(replaced, ", ")) end
  if #stale > 0 then
    out.condition("ConfigUpToDate", false, "TemplateVersionMismatch", "not of " .. row.version .. ": " .. table.concat(stale, ", "))
  elseif #replaced > 0 then
    out.condition("ConfigUpToDate", true, "Replaced", "for " .. row.version .. ": " .. table.concat(replaced, ", "))
  else
    out.condition("ConfigUpToDate", true, "Current", "every file fits " .. row.version)
  end
  return #stale > 0
end

-- Which image runs, and why it is that one; `kbs` is all that an instance runs.
local function report_images(row, release_images, filled, annotations, told, out)
  local lacking = {}
  for _, container in ipairs(images.containers) do
    if release_images[container] == "" then lacking[#lacking + 1] = container end
  end
  local none = "the catalogue has no image of " .. row.version .. " for " .. table.concat(lacking, ", ")
  if #lacking > 0 then out.warn("ImageMappingMissing", none) end
  for _, container in ipairs(images.containers) do
    local _, variable = images.choose(container, annotations, told.environment)
    if variable then out.warn("ImageOverridden", variable .. " is in force rather than the image of " .. row.version) end
  end
  local runs = images.choose("kbs", annotations, told.environment)
  if text(told.environment.KBS_IMAGE_NAME) ~= "" then
    out.condition("ImagesResolved", true, "Overridden", "KBS_IMAGE_NAME is in force: kbs runs " .. runs)
  elseif release_images.kbs == "" then
    out.condition("ImagesResolved", false, "ImageMappingMissing", none .. ": kbs runs " .. runs .. ", which may not be that release")
  elseif filled[1] == "kbs" then
    out.condition("ImagesResolved", true, "FallbackToShipped", "the catalogue has no image of " .. row.version
      .. ": kbs runs the one that is shipped with Windlass, " .. runs)
  else
    out.condition("ImagesResolved", true, "Resolved", "kbs runs " .. runs)
  end
end

local texts = { ready = "The instance is ready.", waiting = "The instance is made; its pods are on their way." }

-- Ready, and the fields of the status that have been there from the first.
local function report(parent, kbs, out, fields, failed)
  local theirs = said.of(kbs, "Ready")
  local ready = kbs ~= nil and kbs.status ~= nil and kbs.status.isReady == true
  local message
  if failed then
    message = failed.message
    out.condition("Ready", false, failed.reason, message)
  elseif ready then
    -- Another release than the one that was asked for is ready.
    local resolved = out.by_type.VersionResolved
    message = texts.ready .. (resolved and resolved.status == "False" and " " .. resolved.message .. "." or "")
    out.condition("Ready", true, "Ready", message)
  else
    message = theirs and theirs.status == "False" and text(theirs.message) ~= "" and theirs.message or texts.waiting
    out.condition("Ready", false, theirs and theirs.status == "False" and theirs.reason or "Deploying", message)
  end
  fields.isReady, fields.statusDescription, fields.observedGeneration = ready, message, parent.generation
  if kbs then
    fields.kbsConfigRef = { apiVersion = "confidentialcontainers.org/v1alpha1", kind = "KbsConfig", name = kbs.name,
      namespace = parent.namespace }
  end
  return fields
end

function instance.sync(parent, related, children, files)
  local spec, n = parent.spec or {}, parent.name
  local out, told = said.new(), settings.of(files)
  local kbs = children["KbsConfig/" .. n .. "-kbs-config"]
  local list = {}
  local function add(child) list[#list + 1] = child end
  local running = text(parent.status and parent.status.effectiveVersion)
  if running == "" then running = text(kbs and kbs.annotations[A .. "version"]) end
  -- What runs is what the KbsConfig says: its write may fail.
  local fields = { requestedVersion = text(spec.version), effectiveVersion = running,
    images = kbs and images.effective(kbs.annotations, told.environment) or plain.copy(parent.status and parent.status.images) }

  local made, _, loaded = catalogue.of(files.text)
  -- The last good one is as good as it was.
  local in_force = loaded.ok and not told.problem
  if loaded.ok and files.problem ~= "" then
    loaded = { ok = false, reason = files.refused ~= "" and "CatalogueInvalid" or "CatalogueUnreadable", message = files.problem }
  end
  if told.problem then loaded = { ok = false, reason = "CatalogueInvalid", message = told.problem } end
  out.condition("CatalogueLoaded", loaded.ok, loaded.reason, loaded.message)
  if not loaded.ok then out.warn("CatalogueInvalid", loaded.message) end

  local function answer(failed)
    keep_the_rest(children, list)
    out.log_changes(parent)
    out.keep(parent, { "VersionResolved", "TemplatesResolved", "InputsValid", "ConfigUpToDate", "ImagesResolved" })
    return { children = list, status = report(parent, kbs, out, fields, failed), conditions = out.conditions, events = out.events }
  end
  local function stop(type, reason, message)
    if type then out.condition(type, false, reason, message) end
    return answer({ reason = reason, message = message })
  end
  -- Nothing that runs is touched while it is not known what its release is like.
  if not in_force and kbs then return answer() end

  local chosen = catalogue.resolve(made, text(spec.version), running, told.strict_versions)
  out.condition("VersionResolved", chosen.ok, chosen.reason, chosen.message)
  if not chosen.ok then out.warn("UnknownVersion", chosen.message) end
  if not chosen.version then
    if kbs then return answer() end
    return stop(nil, chosen.reason, chosen.message)
  end
  local row = made.rows[chosen.version]

  local reason, why = input_problem(parent, related, children, kbs)
  local restricted = is_restricted(spec)
  local context = { files = files.text, made = made, row = row, policy = text(spec.configUpdatePolicy), config = plain.copy(spec.tlsConfig) }
  local plans, names, problem = {}, {}, nil
  for _, one in ipairs(maps.wanted(restricted, spec.ibmSE ~= nil)) do
    local name = n .. "-" .. one.suffix
    local plan = maps.plan(context, one, name, children["ConfigMap/" .. name])
    plans[#plans + 1] = plan
    if plan.child then names[one.field] = name end
  end
  problem = report_templates(plans, out)
  if problem then
    out.condition("InputsValid", reason == nil, reason or "Valid", why)
    return stop(nil, said.of({ status = { conditions = out.conditions } }, "TemplatesResolved").reason, problem.problem)
  end
  if reason == "ProfileUnknown" or reason == "InstanceNameInvalid" or (reason and reason:find("^Tls") and reason ~= "TlsSecretInvalid") then
    return stop("InputsValid", reason, why)
  end

  for _, p in ipairs(plans) do
    if p.child then add(p.child) end
    if p.name == n .. "-kbs-config" then secrets(parent, related, children, add) end
  end
  local stale = report_maps(plans, row, out)
  local claim = ""
  if spec.ibmSE and reason ~= "PersistentVolumeMissing" and reason ~= "PersistentVolumeClaimBound" then
    claim = n .. "-ibmse-certstore-pvc"
    add({ way = "create", object = { apiVersion = "v1", kind = "PersistentVolumeClaim", metadata = { name = claim },
      spec = { accessModes = { "ReadOnlyMany" }, storageClassName = "", volumeName = spec.ibmSE.pvName,
        resources = { requests = { storage = "100Mi" } } } } })
  end
  if reason then return stop("InputsValid", reason, why) end
  local https = text(spec.httpsSpec and spec.httpsSpec.tlsSecretName)
  local token = text(spec.attestationTokenVerificationSpec and spec.attestationTokenVerificationSpec.tlsSecretName)
  if restricted and (https == "" or token == "") then
    local missing = https == "" and "httpsSpec.tlsSecretName" or "attestationTokenVerificationSpec.tlsSecretName"
    return stop("InputsValid", "TlsSecretRequired", "profile Restricted needs " .. missing)
  end
  out.condition("InputsValid", true, "Valid", "")
  if not restricted and https ~= "" then out.warn("HttpsIgnored", "profile Permissive serves plain HTTP: httpsSpec has no effect") end
  if spec.tlsConfig and not row.features.tls_profiles then
    out.warn("TlsConfigIgnored", row.version .. " has no settings of TLS: tlsConfig has no effect")
  end
  if row.deprecated then out.warn("VersionDeprecated", row.version .. " is deprecated in the catalogue") end

  -- The new image waits until the files fit it, if the operator of the process wants it so.
  if stale and told.hold_on_mismatch and kbs and running ~= row.version then
    return answer({ reason = "HeldOnMismatch", message = row.version .. " waits: " .. said.of({ status = { conditions = out.conditions } },
      "ConfigUpToDate").message })
  end
  -- One that a user made and gives away brings what is its user's.
  local there = kbs or related["KbsConfig/" .. n .. "-kbs-config"]
  local child, release_images, filled = kbs_config(parent, there, row, generated_of(parent, claim), names)
  add(child)
  report_images(row, release_images, filled, child.object.metadata.annotations, told, out)
  if running ~= "" and running ~= row.version then out.tell("VersionChanged", running .. " -> " .. row.version) end
  if text(kbs and kbs.annotations[A .. "version"]) == row.version then fields.effectiveVersion = row.version end
  return answer()
end

return instance
