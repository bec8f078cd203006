-- KbsConfig: one set of servers. It becomes a Deployment and a Service.
local catalogue = require("catalogue")
local images = require("images")
local layouts = require("layouts")
local plain = require("plain")
local said = require("said")
local settings = require("settings")

local server = {}
local A = images.annotation
local text = plain.text
local port = 8080

local config_map_fields = { "kbsConfigMapName", "kbsRvpsRefValuesConfigMapName", "kbsAttestationPolicyConfigMapName",
  "kbsGpuAttestationPolicyConfigMapName", "kbsResourcePolicyConfigMapName" }
local microservice_fields = { "kbsAsConfigMapName", "kbsRvpsConfigMapName" }
local secret_fields = { "kbsAuthSecretName", "kbsHttpsKeySecretName", "kbsHttpsCertSecretName", "kbsAttestationKeySecretName",
  "kbsAttestationCertSecretName" }

local function is_split(spec) return spec.kbsDeploymentType == "MicroservicesDeployment" end

-- What is told of a write of an object, as the reference operator tells it.
local function events_of(kind)
  return { created = kind .. "Created", updated = kind .. "Updated", create_failed = kind .. "CreateFailed",
    update_failed = kind .. "UpdateFailed" }
end

local function names_of(spec, suffix)
  local name = text(spec.kbsInstanceName)
  return name == "" and suffix or suffix .. "-" .. name
end

-- What its pods read, in order: {kind, name, field}. A pair of which one half is missing is not mounted.
local function inputs_of(spec)
  local list, seen = {}, {}
  local function add(kind, name, field)
    if text(name) == "" or seen[kind .. "/" .. name] then return end
    seen[kind .. "/" .. name] = true
    list[#list + 1] = { kind = kind, name = name, field = field }
  end
  for _, field in ipairs(config_map_fields) do add("ConfigMap", spec[field], field) end
  add("ConfigMap", spec.tdxConfigSpec and spec.tdxConfigSpec.kbsTdxConfigMapName, "tdxConfigSpec.kbsTdxConfigMapName")
  if is_split(spec) then
    for _, field in ipairs(microservice_fields) do add("ConfigMap", spec[field], field) end
  end
  add("Secret", spec.kbsAuthSecretName, "kbsAuthSecretName")
  for _, pair in ipairs({ { "kbsHttpsKeySecretName", "kbsHttpsCertSecretName" },
    { "kbsAttestationKeySecretName", "kbsAttestationCertSecretName" } }) do
    if text(spec[pair[1]]) ~= "" and text(spec[pair[2]]) ~= "" then
      add("Secret", spec[pair[1]], pair[1])
      add("Secret", spec[pair[2]], pair[2])
    end
  end
  for _, name in ipairs(spec.kbsSecretResources or {}) do add("Secret", name, "kbsSecretResources") end
  for _, one in ipairs(spec.kbsLocalCertCacheSpec and spec.kbsLocalCertCacheSpec.secrets or {}) do
    add("Secret", one.secretName, "kbsLocalCertCacheSpec.secrets")
  end
  return list
end

-- The name of the instance that a KbsConfig belongs to and that has not noted its release on it; nil: it is its user's, or noted.
local function unnoted_instance(parent)
  if text(parent.annotations[A .. "version"]) ~= "" then return nil end
  return text(parent.owner):match("^TrusteeConfig/(.+)$")
end

function server.related(parent)
  local spec, list = parent.spec or {}, {}
  for _, one in ipairs(inputs_of(spec)) do list[#list + 1] = { apiVersion = "v1", kind = one.kind, name = one.name } end
  for _, field in ipairs(secret_fields) do
    local there = false
    for _, one in ipairs(list) do there = there or one.name == spec[field] and one.kind == "Secret" end
    if not there and text(spec[field]) ~= "" then list[#list + 1] = { apiVersion = "v1", kind = "Secret", name = spec[field] } end
  end
  list[#list + 1] = { apiVersion = "apps/v1", kind = "Deployment", name = names_of(spec, "trustee-deployment") }
  list[#list + 1] = { apiVersion = "v1", kind = "Service", name = names_of(spec, "kbs-service") }
  if spec.kbsNodePort then list[#list + 1] = { apiVersion = "v1", kind = "Service", labels = { app = "kbs" } } end
  local instance = unnoted_instance(parent)
  if instance then list[#list + 1] = { apiVersion = parent.apiVersion, kind = "TrusteeConfig", name = instance } end
  list[#list + 1] = { apiVersion = "config.openshift.io/v1", kind = "Proxy", name = "cluster" }
  return list
end

-- What stands in its annotations, or will once its instance has looked at it: pods do not restart twice for a KbsConfig that is
-- taken over.
local function notes_of(parent, related, made, told)
  local instance = unnoted_instance(parent)
  local there = instance and related["TrusteeConfig/" .. instance]
  if not there then return parent.annotations end
  local running = text(there.status and there.status.effectiveVersion)
  local chosen = catalogue.resolve(made, text(there.spec and there.spec.version), running, told.strict_versions)
  local row = chosen.version and made.rows[chosen.version]
  if not row then return parent.annotations end
  local out = { [A .. "version"] = row.version }
  for container, image in pairs(images.of_release(row)) do out[A .. container .. "-image"] = image end
  return out
end

-- The file that the pods read, as TOML says it; {} where it does not.
local function config_of(spec, related)
  local there = related["ConfigMap/" .. text(spec.kbsConfigMapName)]
  local ok, read = pcall(toml.decode, there and there.data and there.data["kbs-config.toml"] or "")
  return ok and type(read) == "table" and read or {}
end

-- choices_of(parent, related, running, row, told): the image of a container of a KbsConfig. One that no instance owns and that
-- names none keeps the image that runs: the reference operator was told it by a variable that is not set here.
--   -> function(container): image, the variable that overrides an annotation or nil, whether it is kept
local function choices_of(parent, related, running, row, told)
  local spec = parent.spec
  local by_hand, split = not text(parent.owner):find("^TrusteeConfig/"), is_split(spec)
  local runs = {}
  for _, c in ipairs(by_hand and running and running.spec.template.spec.containers or {}) do runs[c.name] = text(c.image) end
  local service = config_of(spec, related).attestation_service
  local built_in = type(service) == "table" and service.type == "coco_as_builtin"
  return function(container)
    local rule = container == "kbs" and split and "kbs-microservices" or container
    local image, variable, is_constant = images.choose(rule, told.notes, told.environment)
    if not is_constant then return image, variable, false end
    local of_release = images.of_release(row, split)[container]
    if text(told.notes[A .. "version"]) ~= "" and of_release ~= "" then return of_release, nil, false end
    if text(runs[container]) ~= "" then return runs[container], nil, runs[container] ~= image end
    -- The constant is built for servers of their own and refuses such a file.
    if built_in and not split and of_release ~= "" then return of_release, nil, false end
    return image, nil, false
  end
end

-- The image of the init container, or nil: the process's, else the one that runs. Who only looks is in no pod and knows none.
local function converter_of(running, told)
  local image = images.converter(told.environment)
  for _, c in ipairs(not image and running and running.spec.template.spec.initContainers or {}) do
    if c.name == "secret-converter" then image = c.image end
  end
  return image
end

-- ---------------------------------------------------------------- the pods

local converter_group = 65532 -- of the image of windlass

local function context_of(more)
  local out = { allowPrivilegeEscalation = false, capabilities = { drop = { "ALL" } }, seccompProfile = { type = "RuntimeDefault" } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

-- The proxies of an OpenShift cluster, and what the spec says over them.
local function environment_of(spec, related)
  local all, variables = {}, list()
  local proxy = related["Proxy/cluster"]
  local its = proxy and (proxy.status or proxy.spec) or {}
  for name, value in pairs({ HTTP_PROXY = its.httpProxy, HTTPS_PROXY = its.httpsProxy, NO_PROXY = its.noProxy }) do
    if text(value) ~= "" then all[name], all[name:lower()] = value, value end
  end
  for name, value in pairs(spec.KbsEnvVars or {}) do all[name] = value end
  for name, value in pairs(all) do variables[#variables + 1] = { name = name, value = value } end
  return variables
end

-- Whether the file that the pods read asks for plain HTTP; without a word, whether certificates are mounted.
local function scheme_of(spec, related)
  local read = config_of(spec, related)
  local plain_http = read.insecure_http
  if type(read.http_server) == "table" then plain_http = read.http_server.insecure_http end
  if plain_http ~= nil then return plain_http and "HTTP" or "HTTPS" end
  return text(spec.kbsHttpsKeySecretName) ~= "" and text(spec.kbsHttpsCertSecretName) ~= "" and "HTTPS" or "HTTP"
end

local function probes(row, scheme)
  local function probe(delay, period)
    local out = { initialDelaySeconds = delay, periodSeconds = period, timeoutSeconds = 5, failureThreshold = 3 }
    if row.features.healthz then
      out.httpGet = { path = "/healthz", port = port, scheme = scheme }
    else
      out.tcpSocket = { port = port }
    end
    return out
  end
  return probe(5, 10), probe(15, 30)
end

local function pod_of(parent, related, running, row, told)
  local spec, split = parent.spec, is_split(parent.spec)
  local volumes, mounts = layouts.volumes(spec, row, split)
  local environment = environment_of(spec, related)
  local choose, overridden, kept = choices_of(parent, related, running, row, told), {}, {}
  local function image(container)
    local chosen, variable, is_kept = choose(container)
    if variable then overridden[#overridden + 1] = variable end
    if is_kept then kept[#kept + 1] = container .. " " .. chosen end
    return chosen
  end
  local ready, live = probes(row, scheme_of(spec, related))
  local function container(name, command, at)
    return { name = name, image = image(name), command = command, ports = { { name = name, containerPort = at, protocol = "TCP" } },
      env = not empty(environment) and environment or nil, volumeMounts = mounts[name], securityContext = context_of() }
  end
  local kbs = container("kbs", { "/usr/local/bin/kbs", "--config-file", "/etc/kbs-config/kbs-config.toml" }, port)
  kbs.readinessProbe, kbs.livenessProbe = ready, live
  local pod = { containers = { kbs }, volumes = volumes }
  if split then
    pod.containers[2] = container("as", { "/usr/local/bin/grpc-as", "--socket", "0.0.0.0:50004", "--config-file",
      "/etc/as-config/as-config.json" }, 50004)
    pod.containers[3] = container("rvps", { "/usr/local/bin/rvps", "-c", "/etc/rvps-config/rvps-config.json" }, 50003)
  end
  if row.layout ~= "fs" then
    pod.initContainers = { { name = "secret-converter", image = converter_of(running, told), command = { "/secret-converter" },
      volumeMounts = mounts.init, securityContext = context_of({ runAsNonRoot = true }) } }
    -- The keys that it writes are for its group, which the server needs: that runs as another user, and without DAC_OVERRIDE.
    pod.securityContext = { supplementalGroups = { converter_group } }
  end
  return pod, overridden, kept
end

local function labels_of(parent) return { app = "kbs", ["app.kubernetes.io/instance"] = parent.name } end

-- name:digest of what the reference operator lists as name:resourceVersion; a label's edit restarts nothing.
local function versions_of(spec, related)
  local list = {}
  for _, field in ipairs(config_map_fields) do
    local there = related["ConfigMap/" .. text(spec[field])]
    if there then list[#list + 1] = there.name .. ":" .. sha256(json.encode(plain.copy(there.digests))):sub(1, 16) end
  end
  return table.concat(list, ",")
end

local function deployment(parent, related, existing, row, told)
  local spec = parent.spec
  local pod, overridden, kept = pod_of(parent, related, existing, row, told)
  local inputs = {}
  for i, one in ipairs(inputs_of(spec)) do inputs[i] = one.kind .. "/" .. one.name end
  local replicas = spec.KbsDeploymentSpec and spec.KbsDeploymentSpec.replicas
  return { inputs = inputs, inputs_as = A .. "input-digest", events = events_of("Deployment"), object = { apiVersion = "apps/v1", kind = "Deployment",
    metadata = { name = names_of(spec, "trustee-deployment"), labels = labels_of(parent) },
    spec = { replicas = replicas == nil and 1 or replicas,
      -- It cannot be changed, and a legacy one selects by one label.
      selector = existing and plain.copy(existing.spec.selector) or { matchLabels = labels_of(parent) },
      strategy = { type = "RollingUpdate", rollingUpdate = { maxUnavailable = 1 } },
      template = { metadata = { labels = labels_of(parent),
        annotations = { ["kbs.confidentialcontainers.org/configmap-versions"] = versions_of(spec, related) } }, spec = pod } } } }, overridden, kept
end

-- A Service never selects nothing: one of the reference operator keeps its selector until pods have the new label.
local function service(parent, there, running)
  local spec = parent.spec
  local selector = labels_of(parent)
  if there and not there.spec.selector["app.kubernetes.io/instance"] then
    local labels = running and running.spec.template.metadata.labels or {}
    if not (running and running.ready and labels["app.kubernetes.io/instance"] == parent.name) then
      selector = plain.copy(there.spec.selector)
    end
  end
  local type = text(spec.kbsServiceType)
  return { events = events_of("Service"), object = { apiVersion = "v1", kind = "Service", metadata = { name = names_of(spec, "kbs-service"), labels = labels_of(parent) },
    spec = { type = type == "" and "ClusterIP" or type, selector = selector,
      ports = { { name = "kbs-port", protocol = "TCP", port = spec.kbsServicePort or port, targetPort = port, nodePort = spec.kbsNodePort } } } } }
end

-- ---------------------------------------------------------------- the pass

-- What must be named and is not, or is named and is not there: a reason and a sentence.
local function missing(spec, related)
  local needed = { "kbsConfigMapName", "kbsAuthSecretName" }
  if is_split(spec) then needed = { "kbsConfigMapName", "kbsAuthSecretName", "kbsAsConfigMapName", "kbsRvpsConfigMapName" } end
  for _, field in ipairs(needed) do
    if text(spec[field]) == "" then return "SpecIncomplete", "spec." .. field .. " is empty" end
  end
  for _, one in ipairs(inputs_of(spec)) do
    local why = k8s.name_problem(one.name)
    if why then return "NameInvalid", "spec." .. one.field .. ": " .. why end
    if not related[one.kind .. "/" .. one.name] then
      return "InputMissing", one.kind .. " " .. one.name .. " of spec." .. one.field .. " is not there"
    end
  end
  return nil
end

local function kept(there)
  return { way = "create", object = { apiVersion = there.apiVersion, kind = there.kind, metadata = { name = there.name },
    spec = plain.copy(there.spec) } }
end

local function has_port(service, number)
  for _, one in ipairs(service and service.spec and service.spec.ports or {}) do
    if one.nodePort == number then return true end
  end
  return false
end

-- The first Service by name that has the node port which this one asks for and does not have yet, or nil.
local function port_holder(spec, related, own_name, exposed)
  local number, holder = spec.kbsNodePort, nil
  if not number or has_port(exposed, number) then return nil end
  for _, there in pairs(related) do
    if there.kind == "Service" and there.name ~= own_name and has_port(there, number) and (not holder or there.name < holder) then
      holder = there.name
    end
  end
  return holder
end

-- What clients lack although the servers run, or nil.
local function unreachable(parent, exposed)
  local name, number = names_of(parent.spec, "kbs-service"), parent.spec.kbsNodePort
  local composed = said.of(parent, "Composed")
  local refused = composed and composed.status == "False" and ": " .. text(composed.message) or ""
  if not exposed then return "Service " .. name .. " is not there yet" .. refused end
  if number and not has_port(exposed, number) then return "Service " .. name .. " does not have kbsNodePort " .. number .. " yet" .. refused end
  return nil
end

local function report(parent, running, exposed, out)
  local replicas = parent.spec.KbsDeploymentSpec and parent.spec.KbsDeploymentSpec.replicas
  if replicas == 0 then
    out.condition("Ready", false, "ScaledToZero", "replicas is 0")
    return false
  end
  if not running then
    out.condition("Ready", false, "Deploying", "the Deployment is not there yet")
    return false
  end
  local status = running.status or {}
  local is, wanted = status.readyReplicas or 0, running.spec.replicas or 1
  local lacks = unreachable(parent, exposed)
  if running.ready and is >= 1 and lacks then
    out.condition("Ready", false, "ServiceMissing", lacks)
    return false
  end
  if running.ready and is >= 1 then
    out.condition("Ready", true, "Ready", is .. " of " .. wanted .. " replicas are ready")
    return true
  end
  out.condition("Ready", false, "RollingOut", (status.updatedReplicas or 0) .. " of " .. wanted .. " replicas are updated, "
    .. is .. " ready")
  return false
end

function server.sync(parent, related, children, files)
  if parent.deleting then return { children = {} } end
  local spec, out, told, list = parent.spec or {}, said.new(), settings.of(files), {}
  local name, service_name = names_of(spec, "trustee-deployment"), names_of(spec, "kbs-service")
  local running, exposed = children["Deployment/" .. name], children["Service/" .. service_name]
  local function answer(ready)
    local was = parent.status and parent.status.isReady == true
    if ready and not was then out.tell("Ready", "Trustee deployment is ready") end
    if was and not ready then out.warn("NotReady", "Trustee deployment is no longer ready") end
    return { children = list, status = { isReady = ready, observedGeneration = parent.generation }, conditions = out.conditions,
      events = out.events }
  end
  local function stop(reason, message)
    out.condition("Ready", false, reason, message)
    out.warn(reason, message)
    if running then list[#list + 1] = kept(running) end
    if exposed then list[#list + 1] = kept(exposed) end
    return answer(false)
  end
  local problem = k8s.name_problem(service_name)
  if problem then
    -- What runs was made under another name and stays.
    for _, there in pairs(children) do list[#list + 1] = kept(there) end
    out.condition("Ready", false, "NameInvalid", "spec.kbsInstanceName: " .. problem)
    return answer(false)
  end
  local reason, why = missing(spec, related)
  if reason then return stop(reason, why) end

  local made, _, loaded = catalogue.of(files.text)
  told.notes = notes_of(parent, related, made, told)
  local version = text(told.notes[A .. "version"])
  if version == "" then version = "latest" end
  -- Nothing that runs is touched while it is not known what its release is like.
  if not loaded.ok and running then
    list[1] = kept(running)
    list[2] = service(parent, exposed, running)
    return answer(report(parent, running, exposed, out))
  end
  local row = made.rows[version] or catalogue.facts(version)
  if row.layout ~= "fs" and not converter_of(running, told) then
    return stop("OperatorImageMissing", "the init container of " .. version .. " has no image: this process runs in no pod whose image "
      .. "it could use, and OPERATOR_IMAGE_NAME is not set")
  end
  local child, overridden, kept_images = deployment(parent, related, running, row, told)
  if #kept_images > 0 then
    out.condition("ImagesResolved", true, "Kept", "it keeps the images that run: " .. table.concat(kept_images, ", ") .. "; the annotation "
      .. A .. "version names a release of the catalogue in their place, " .. A .. "kbs-image an image")
  end
  list[1] = child
  list[2] = service(parent, exposed, running)
  for _, variable in ipairs(overridden) do out.warn("ImageOverridden", variable .. " is in force rather than the image of " .. version) end
  -- Another owner's has the name.
  for _, one in ipairs({ { "Deployment/" .. name, running }, { "Service/" .. service_name, exposed } }) do
    if related[one[1]] and not one[2] then
      out.condition("Ready", false, "InstanceNameConflict", one[1]:gsub("/", " ") .. " belongs to another")
      return answer(false)
    end
  end
  local holder = port_holder(spec, related, service_name, exposed)
  if holder then
    list[2] = exposed and kept(exposed) or nil
    out.condition("Ready", false, "NodePortConflict", "kbsNodePort " .. spec.kbsNodePort .. " belongs to Service " .. holder
      .. ": it is the older's; another number, or none, is free")
    return answer(false)
  end
  return answer(report(parent, running, exposed, out))
end

return server
