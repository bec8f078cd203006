-- Where the pods of a release expect their files: keys of ConfigMaps, volumes and mounts.
local layouts = {}

local storage, base = "/opt/confidential-containers/storage", "/opt/confidential-containers"

-- The key under which the file of a role lies in its ConfigMap. nil: the file's own members are the keys.
function layouts.key(role, row)
  if role == "kbs-permissive" or role == "kbs-restricted" then return "kbs-config.toml" end
  if role == "cpu-policy" then return row.file_id .. ".rego" end
  if role == "gpu-policy" then return "default_gpu.rego" end
  if role == "tdx-config" then return "sgx_default_qcnl.conf" end
  if role == "reference-values" then
    if row.layout == "kv-dash" then return nil end
    return row.layout == "fs" and "reference-values.json" or "reference_value"
  end
  return row.layout == "fs" and "policy.rego" or "resource-policy.rego"
end

local function config_map(name) return { configMap = { name = name } } end
local function secret(name) return { secret = { secretName = name } } end
local memory = { emptyDir = { medium = "Memory" } }

local ours = { "kbs-config", "confidential-containers", "base-storage-dir", "attestation-policy-dir", "attestation-policy",
  "attestation-policy-gpu", "resource-policy-dir", "resource-policy", "tdx-config", "auth-secret", "https-key", "https-cert",
  "attestation-key", "attestation-cert", "repository-dir", "rvps-dir", "reference-values", "as-config", "rvps-config" }

local function named(source, name)
  local out = { name = name }
  for key, value in pairs(source) do out[key] = value end
  return out
end

-- volumes(spec, row, split): of a KbsConfig's spec; `split`: three containers rather than one.
--   volumes, and mounts by container: kbs, as, rvps, init
function layouts.volumes(spec, row, split)
  local volumes, seen, mounts = {}, {}, { kbs = {}, as = {}, rvps = {}, init = {} }
  for _, name in ipairs(ours) do seen[name] = "ours" end
  local function text(key) return spec[key] ~= nil and spec[key] ~= "" and spec[key] or nil end
  local function add(name, source)
    volumes[#volumes + 1] = named(source, name)
  end
  -- A volume with the name of an object that was named: once for each object, and never as one of ours.
  local function add_named(name, source)
    local what = source.secret and "Secret" or "claim"
    local called = name
    while seen[called] and seen[called] ~= what do called = "named-" .. called end
    if not seen[called] then add(called, source) end
    seen[called] = what
    return called
  end
  local function mount(container, name, path, sub)
    local list = mounts[container]
    list[#list + 1] = { name = name, mountPath = sub and path .. "/" .. sub or path, subPath = sub }
  end
  local judge = split and "as" or "kbs"
  local keeper = split and "rvps" or "kbs"
  local fs, kv = row.layout == "fs", row.layout == "kv"
  local policies = fs and base .. "/attestation-service/" .. row.policies
    or storage .. (kv and "/attestation_service_policy" or "/attestation-service-policy")

  add("kbs-config", config_map(text("kbsConfigMapName")))
  mount("kbs", "kbs-config", "/etc/kbs-config")
  if fs then
    add("confidential-containers", memory)
    mount("kbs", "confidential-containers", base)
    if split then
      mount("as", "confidential-containers", base)
      mount("rvps", "confidential-containers", base)
    end
  else
    add("base-storage-dir", memory)
    mount("kbs", "base-storage-dir", storage)
    add("attestation-policy-dir", memory)
    mount(judge, "attestation-policy-dir", policies)
  end
  if text("kbsAttestationPolicyConfigMapName") then
    add("attestation-policy", config_map(text("kbsAttestationPolicyConfigMapName")))
    mount(judge, "attestation-policy", policies, layouts.key("cpu-policy", row))
  end
  if text("kbsGpuAttestationPolicyConfigMapName") then
    add("attestation-policy-gpu", config_map(text("kbsGpuAttestationPolicyConfigMapName")))
    mount(judge, "attestation-policy-gpu", policies, layouts.key("gpu-policy", row))
  end
  if not fs then
    add("resource-policy-dir", memory)
    mount("kbs", "resource-policy-dir", storage .. "/kbs")
  end
  if text("kbsResourcePolicyConfigMapName") then
    add("resource-policy", config_map(text("kbsResourcePolicyConfigMapName")))
    if fs then
      mount("kbs", "resource-policy", base .. "/opa")
    else
      mount("kbs", "resource-policy", storage .. "/kbs", layouts.key("resource-permissive", row))
    end
  end
  local tdx = spec.tdxConfigSpec and spec.tdxConfigSpec.kbsTdxConfigMapName
  if tdx and tdx ~= "" and not row.features.dcap_verifier then
    add("tdx-config", config_map(tdx))
    mount(judge, "tdx-config", "/etc", layouts.key("tdx-config", row))
  end
  local claim = spec.ibmSEConfigSpec and spec.ibmSEConfigSpec.certStorePvc
  if claim and claim ~= "" then
    local volume = add_named(claim, { persistentVolumeClaim = { claimName = claim } })
    mount("kbs", volume, "/run/confidential-containers/ibmse/")
  end
  add("auth-secret", secret(text("kbsAuthSecretName")))
  mount("kbs", "auth-secret", "/etc/auth-secret")
  for _, one in ipairs(spec.kbsLocalCertCacheSpec and spec.kbsLocalCertCacheSpec.secrets or {}) do
    local volume = add_named(one.secretName, secret(one.secretName))
    local path = one.mountPath
    if path == nil or path == "" then path = base .. "/attestation-service/kds-store/vcek" end
    mount("kbs", volume, path)
  end
  for _, pair in ipairs({ { "https", "kbsHttpsKeySecretName", "kbsHttpsCertSecretName" },
    { "attestation", "kbsAttestationKeySecretName", "kbsAttestationCertSecretName" } }) do
    local key, certificate = text(pair[2]), text(pair[3])
    if key and certificate then
      add(pair[1] .. "-key", secret(key))
      mount("kbs", pair[1] .. "-key", "/etc/" .. pair[1] .. "-key")
      add(pair[1] .. "-cert", secret(certificate))
      mount("kbs", pair[1] .. "-cert", "/etc/" .. pair[1] .. "-cert")
    end
  end
  local converted = {}
  if not fs then
    add("repository-dir", memory)
    mount("kbs", "repository-dir", storage .. "/repository")
  end
  for _, name in ipairs(spec.kbsSecretResources or {}) do
    local volume = add_named(name, secret(name))
    if fs then
      mount("kbs", volume, base .. "/kbs/repository/default/" .. name)
    else
      converted[#converted + 1] = { name = volume, mountPath = "/tmp/kbs-secrets/" .. name }
    end
  end
  local values = text("kbsRvpsRefValuesConfigMapName")
  if kv then
    add("rvps-dir", memory)
    mount(keeper, "rvps-dir", storage .. "/local_json")
  end
  if values then
    add("reference-values", config_map(values))
    if kv then
      mount(keeper, "reference-values", storage .. "/local_json", layouts.key("reference-values", row))
    else
      mount(keeper, "reference-values", fs and base .. "/rvps/reference-values" or storage .. "/reference-value")
    end
  end
  if split then
    add("as-config", config_map(text("kbsAsConfigMapName")))
    mount("as", "as-config", "/etc/as-config")
    add("rvps-config", config_map(text("kbsRvpsConfigMapName")))
    mount("rvps", "rvps-config", "/etc/rvps-config")
  end
  if not fs then
    for _, m in ipairs(mounts.kbs) do mounts.init[#mounts.init + 1] = m end
    for _, m in ipairs(converted) do mounts.init[#mounts.init + 1] = m end
  end
  return volumes, mounts
end

return layouts
