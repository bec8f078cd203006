local fixtures = require("fixtures")
local plain = require("plain")
local policy = require("policy")

local sync, A = policy.compose.sync, fixtures.A
local files = fixtures.files()
local S, B = "/opt/confidential-containers/storage", "/opt/confidential-containers"

local function spec_of(more)
  local spec = { kbsConfigMapName = "config", kbsAuthSecretName = "auth", kbsRvpsRefValuesConfigMapName = "values",
    kbsAttestationPolicyConfigMapName = "cpu", kbsGpuAttestationPolicyConfigMapName = "gpu", kbsResourcePolicyConfigMapName = "resource",
    kbsSecretResources = { "attestation-status" } }
  for key, value in pairs(more or {}) do spec[key] = value or nil end
  return spec
end

-- A namespace with a KbsConfig and all that it names.
local function server(more, annotations, its_files)
  local spec = spec_of(more)
  local w = fixtures.world({ apiVersion = "confidentialcontainers.org/v1alpha1", kind = "KbsConfig", name = "k", spec = spec,
    annotations = annotations or {} }, its_files or files, sync)
  w.put({ apiVersion = "v1", kind = "ConfigMap", name = "config", data = { ["kbs-config.toml"] = "[http_server]\ninsecure_http = true\n" } })
  for _, one in ipairs(require("server").related(w.parent)) do
    if one.kind ~= "Deployment" and one.kind ~= "Service" and not w.related[one.kind .. "/" .. one.name] then
      w.put({ apiVersion = "v1", kind = one.kind, name = one.name, data = { a = one.name } })
    end
  end
  local pass = w.pass
  function w.pass()
    local answer = pass()
    for key, there in pairs(w.children) do w.related[key] = there end
    return answer
  end
  function w.deployment() return w.children["Deployment/" .. (w.name or "trustee-deployment")] end
  function w.service() return w.children["Service/" .. (w.service_name or "kbs-service")] end
  function w.pod() return w.deployment().spec.template.spec end
  -- The pods that the Deployment asks for are there, and say so.
  function w.roll_out()
    local d = w.deployment()
    local n = d.spec.replicas
    d.status, d.ready = { readyReplicas = n, replicas = n, updatedReplicas = n }, true
    return w.settle()
  end
  return w
end

local function mounts_of(container)
  local out = {}
  for i, m in ipairs(container.volumeMounts) do out[i] = m.name .. " " .. m.mountPath .. (m.subPath and " < " .. m.subPath or "") end
  return out
end
local function volumes_of(pod)
  local out = {}
  for i, v in ipairs(pod.volumes) do
    out[i] = v.name .. (v.configMap and " CM " .. v.configMap.name or v.secret and " Secret " .. v.secret.secretName or v.emptyDir and " " .. v.emptyDir.medium
      or " PVC " .. v.persistentVolumeClaim.claimName)
  end
  return out
end

test("an all-in-one Deployment of the newest release has the volumes of its layout", function()
  local w = server({ kbsHttpsKeySecretName = "hk", kbsHttpsCertSecretName = "hc", kbsAttestationKeySecretName = "ak", kbsAttestationCertSecretName = "ac",
    ibmSEConfigSpec = { certStorePvc = "claim" }, kbsLocalCertCacheSpec = { secrets = { { secretName = "ek", mountPath = "/etc/kbs/snp/ek" }, { secretName = "vcek" } } } }).settle()
  expect_equal(volumes_of(w.pod()), { "kbs-config CM config", "base-storage-dir Memory", "attestation-policy-dir Memory", "attestation-policy CM cpu",
    "attestation-policy-gpu CM gpu", "resource-policy-dir Memory", "resource-policy CM resource", "claim PVC claim", "auth-secret Secret auth", "ek Secret ek",
    "vcek Secret vcek", "https-key Secret hk", "https-cert Secret hc", "attestation-key Secret ak", "attestation-cert Secret ac", "repository-dir Memory",
    "attestation-status Secret attestation-status", "rvps-dir Memory", "reference-values CM values" })
  local kbs = mounts_of(w.pod().containers[1])
  expect_equal(kbs, { "kbs-config /etc/kbs-config", "base-storage-dir " .. S, "attestation-policy-dir " .. S .. "/attestation_service_policy",
    "attestation-policy " .. S .. "/attestation_service_policy/default_cpu.rego < default_cpu.rego",
    "attestation-policy-gpu " .. S .. "/attestation_service_policy/default_gpu.rego < default_gpu.rego", "resource-policy-dir " .. S .. "/kbs",
    "resource-policy " .. S .. "/kbs/resource-policy.rego < resource-policy.rego", "claim /run/confidential-containers/ibmse/", "auth-secret /etc/auth-secret",
    "ek /etc/kbs/snp/ek", "vcek " .. B .. "/attestation-service/kds-store/vcek", "https-key /etc/https-key", "https-cert /etc/https-cert",
    "attestation-key /etc/attestation-key", "attestation-cert /etc/attestation-cert", "repository-dir " .. S .. "/repository", "rvps-dir " .. S .. "/local_json",
    "reference-values " .. S .. "/local_json/reference_value < reference_value" })
  local init = mounts_of(w.pod().initContainers[1])
  expect_equal({ #init, init[#init] }, { #kbs + 1, "attestation-status /tmp/kbs-secrets/attestation-status" })
end)

test("a release that keeps files in folders has no init container and its own paths", function()
  local w = server({ tdxConfigSpec = { kbsTdxConfigMapName = "tdx" } }, { [A .. "version"] = "v0.13.0" }).settle()
  expect_equal(w.pod().initContainers, nil)
  expect_equal(mounts_of(w.pod().containers[1]), { "kbs-config /etc/kbs-config", "confidential-containers " .. B,
    "attestation-policy " .. B .. "/attestation-service/policies/opa/default.rego < default.rego",
    "attestation-policy-gpu " .. B .. "/attestation-service/policies/opa/default_gpu.rego < default_gpu.rego", "resource-policy " .. B .. "/opa",
    "tdx-config /etc/sgx_default_qcnl.conf < sgx_default_qcnl.conf", "auth-secret /etc/auth-secret",
    "attestation-status " .. B .. "/kbs/repository/default/attestation-status", "reference-values " .. B .. "/rvps/reference-values" })
end)

test("v0.10 looks for its attestation policy beside the files of its work, and in no other folder", function()
  local w = server({}, { [A .. "version"] = "v0.10.1" }).settle()
  local all = table.concat(mounts_of(w.pod().containers[1]), "\n")
  expect_true(all:find("attestation-policy " .. B .. "/attestation-service/opa/default.rego < default.rego", 1, true), all)
end)

test("v0.19 keeps its policies and reference values under other names", function()
  local w = server({}, { [A .. "version"] = "v0.19.0" }).settle()
  local all = table.concat(mounts_of(w.pod().containers[1]), "\n")
  expect_true(all:find(S .. "/attestation-service-policy/default_cpu.rego", 1, true))
  expect_true(all:find("reference-values " .. S .. "/reference-value", 1, true) and not all:find("rvps-dir", 1, true))
end)

test("microservices are three containers with their own files, images and ports", function()
  for _, version in ipairs({ "latest", "v0.18.0" }) do
    local w = server({ kbsDeploymentType = "MicroservicesDeployment", kbsAsConfigMapName = "as", kbsRvpsConfigMapName = "rvps" }, { [A .. "version"] = version }).settle()
    local c = w.pod().containers
    expect_equal({ c[1].name, c[2].name, c[3].name }, { "kbs", "as", "rvps" })
    expect_equal(c[2].command, { "/usr/local/bin/grpc-as", "--socket", "0.0.0.0:50004", "--config-file", "/etc/as-config/as-config.json" })
    expect_equal({ c[2].ports[1].containerPort, c[3].ports[1].containerPort, c[2].readinessProbe }, { 50004, 50003 })
    expect_true(table.concat(mounts_of(c[2]), " "):find("default_cpu.rego", 1, true))
    expect_true(table.concat(mounts_of(c[3]), " "):find("reference-values", 1, true))
  end
  local w = server({ kbsDeploymentType = "MicroservicesDeployment" }).settle()
  expect_equal(w.condition("Ready").message, "spec.kbsAsConfigMapName is empty")
end)

test("no deployment type is all-in-one everywhere", function()
  expect_equal(#server({ kbsDeploymentType = false }).settle().pod().containers, 1)
end)

test("containers may do nothing they need not", function()
  local pod = server({}).settle().pod()
  local plain_context = { allowPrivilegeEscalation = false, capabilities = { drop = { "ALL" } }, seccompProfile = { type = "RuntimeDefault" } }
  expect_equal(pod.containers[1].securityContext, plain_context)
  plain_context.runAsNonRoot = true
  expect_equal(pod.initContainers[1].securityContext, plain_context)
  expect_equal(pod.securityContext, { supplementalGroups = { 65532 } })
end)

test("a volume named like one of ours, or like another object, does not take its place", function()
  local w = server({ kbsSecretResources = { "kbs-config", "claim", "twice" }, ibmSEConfigSpec = { certStorePvc = "claim" },
    kbsLocalCertCacheSpec = { secrets = { { secretName = "twice" }, { secretName = "https-key" } } } }).settle()
  local all = table.concat(volumes_of(w.pod()), ", ")
  for _, one in ipairs({ "kbs-config CM config", "named-kbs-config Secret kbs-config", "claim PVC claim", "named-claim Secret claim", "twice Secret twice", "named-https-key Secret https-key" }) do
    expect_true(all:find(one, 1, true), one .. " in " .. all)
  end
  expect_equal(select(2, all:gsub("Secret twice", "")), 1)
end)

-- ---------------------------------------------------------------- probes, environment, images

local function probe(text, version, more)
  local w = server(more, { [A .. "version"] = version })
  w.put({ apiVersion = "v1", kind = "ConfigMap", name = "config", data = { ["kbs-config.toml"] = text } })
  return w.settle().pod().containers[1]
end

test("probes ask as the mounted file serves, and only a release that answers", function()
  local https = { kbsHttpsKeySecretName = "k", kbsHttpsCertSecretName = "c" }
  expect_equal(probe("[http_server]\ninsecure_http = true\n", "v0.21.0", https).readinessProbe,
    { initialDelaySeconds = 5, periodSeconds = 10, timeoutSeconds = 5, failureThreshold = 3, httpGet = { path = "/healthz", port = 8080, scheme = "HTTP" } })
  expect_equal(probe("[http_server]\ninsecure_http = false\n", "v0.21.0").livenessProbe.httpGet.scheme, "HTTPS")
  expect_equal(probe("insecure_http = false\n", "latest").livenessProbe.httpGet.scheme, "HTTPS")
  expect_equal(probe("no TOML", "latest", https).livenessProbe.httpGet.scheme, "HTTPS")
  expect_equal(probe("", "latest").livenessProbe.httpGet.scheme, "HTTP")
  local older = probe("[http_server]\ninsecure_http = true\n", "v0.20.0").livenessProbe
  expect_equal({ older.httpGet, older.tcpSocket.port, older.initialDelaySeconds, older.periodSeconds }, { nil, 8080, 15, 30 })
end)

test("a name that is none is told with its field, and what runs stays", function()
  local w = server({}).settle()
  w.parent.spec.kbsSecretResources = { "attestation-status", "mySecret" }
  w.settle()
  expect_equal(w.reason("Ready"), "False/NameInvalid")
  expect_true(w.condition("Ready").message:find("spec.kbsSecretResources: 'mySecret' is no name of an object", 1, true))
  expect_true(w.deployment() and w.service())
  w.parent.spec.kbsSecretResources, w.parent.spec.kbsInstanceName = nil, "My_Instance"
  w.settle()
  expect_true(w.condition("Ready").message:find("spec.kbsInstanceName: ", 1, true))
  expect_true(w.deployment() and w.service())
end)

test("the environment is sorted, and the spec wins over the proxy", function()
  local w = server({ KbsEnvVars = { RUST_LOG = "debug", NO_PROXY = "mine" } })
  w.put({ apiVersion = "config.openshift.io/v1", kind = "Proxy", name = "cluster", status = { httpProxy = "http://p:1", noProxy = "svc" } })
  expect_equal(w.settle().pod().containers[1].env, { { name = "HTTP_PROXY", value = "http://p:1" }, { name = "NO_PROXY", value = "mine" },
    { name = "RUST_LOG", value = "debug" }, { name = "http_proxy", value = "http://p:1" }, { name = "no_proxy", value = "svc" } })
end)

local function images_with(environment, annotations, more)
  local its = fixtures.files({ ["settings.json"] = json.encode({ environment = environment }) })
  local w = server(more, annotations, its).settle()
  local out = { w.deployment() and w.pod().initContainers and w.pod().initContainers[1].image or "-" }
  for _, c in ipairs(w.deployment() and w.pod().containers or {}) do out[#out + 1] = c.image end
  return out, w
end

test("an image is the variable's, else the annotation's, else the constant", function()
  local r = "ghcr.io/confidential-containers/"
  local split = { kbsDeploymentType = "MicroservicesDeployment", kbsAsConfigMapName = "as", kbsRvpsConfigMapName = "rvps" }
  local noted = { [A .. "kbs-image"] = "r/kbs:2", [A .. "as-image"] = "r/as:2", [A .. "rvps-image"] = "r/rvps:2" }
  local told = { OPERATOR_IMAGE_NAME = "r/op:1", KBS_IMAGE_NAME = "r/kbs:1", KBS_IMAGE_NAME_MICROSERVICES = "r/kbsm:1", AS_IMAGE_NAME = "r/as:1", RVPS_IMAGE_NAME = "r/rvps:1" }
  local only = { OPERATOR_IMAGE_NAME = "r/op:1", KBS_IMAGE_NAME = "" }
  expect_equal((images_with(only, {}, split)), { "r/op:1", r .. "key-broker-service:latest", r .. "attestation-service:latest", r .. "reference-value-provider-service:latest" })
  expect_equal((images_with(only, noted, split)), { "r/op:1", "r/kbs:2", "r/as:2", "r/rvps:2" })
  local all, w = images_with(told, noted, split)
  expect_equal(all, { "r/op:1", "r/kbsm:1", "r/as:1", "r/rvps:1" })
  expect_true(w.events.ImageOverridden ~= nil)
  expect_equal((images_with(told, noted)), { "r/op:1", "r/kbs:1" })
end)

test("settings.json wins over the environment of the process", function()
  local its = fixtures.files({ ["settings.json"] = '{"environment": {"KBS_IMAGE_NAME": "r/kbs:2"}}' })
  its.environment = { OPERATOR_IMAGE_NAME = "r/op:1", KBS_IMAGE_NAME = "r/kbs:1" }
  local pod = server({}, {}, its).settle().pod()
  expect_equal({ pod.initContainers[1].image, pod.containers[1].image }, { "r/op:1", "r/kbs:2" })
end)

test("without an image for the init container only a release that has none is deployed", function()
  local none, w = images_with({}, { [A .. "version"] = "v0.21.0" })
  expect_equal({ none, w.reason("Ready") }, { { "-" }, "False/OperatorImageMissing" })
  expect_equal((images_with({}, { [A .. "version"] = "v0.18.0", [A .. "kbs-image"] = "r/kbs:2" })), { "-", "r/kbs:2" })
end)

test("without a word of the process the init container keeps its image, as a plan from outside has to show", function()
  local w = server({}, { [A .. "version"] = "v0.21.0" }).settle()
  w.files = fixtures.files({ ["settings.json"] = "{}" })
  w.settle()
  expect_equal({ w.writes, w.pod().initContainers[1].image, w.reason("Ready") }, { {}, "registry.example.com/windlass:1", "False/RollingOut" })
end)

test("a KbsConfig made by hand runs the constants", function()
  expect_equal((images_with({ OPERATOR_IMAGE_NAME = "r/op:1" }, {})), { "r/op:1", "ghcr.io/confidential-containers/key-broker-service:latest" })
end)

local function deployed(w, images_by_name)
  local containers = {}
  for name, image in pairs(images_by_name) do containers[#containers + 1] = { name = name, image = image } end
  w.children["Deployment/trustee-deployment"] = fixtures.object({ apiVersion = "apps/v1", kind = "Deployment", name = "trustee-deployment",
    spec = { replicas = 1, selector = { matchLabels = { app = "kbs" } }, template = { metadata = { labels = { app = "kbs" } }, spec = { containers = containers } } } })
  w.related["Deployment/trustee-deployment"] = w.children["Deployment/trustee-deployment"]
  return w.settle()
end
local built_in = { apiVersion = "v1", kind = "ConfigMap", name = "config",
  data = { ["kbs-config.toml"] = "[http_server]\ninsecure_http = true\n[attestation_service]\ntype = \"coco_as_builtin\"\n" } }

test("a KbsConfig made by hand keeps the image that runs until an annotation names another", function()
  local w = deployed(server({}), { kbs = "r/kbs:built-in-7" })
  expect_equal({ w.pod().containers[1].image, w.reason("ImagesResolved") }, { "r/kbs:built-in-7", "True/Kept" })
  expect_equal(w.condition("ImagesResolved").message, "it keeps the images that run: kbs r/kbs:built-in-7; the annotation " .. A
    .. "version names a release of the catalogue in their place, " .. A .. "kbs-image an image")
  w.settle()
  expect_equal({ w.writes, w.pod().containers[1].image }, { {}, "r/kbs:built-in-7" })
  w.parent.annotations[A .. "version"] = "v0.20.0"
  w.settle()
  expect_equal({ w.pod().containers[1].image, w.reason("ImagesResolved") },
    { "ghcr.io/confidential-containers/key-broker-service:built-in-as-v0.20.0", "none" })
  w.parent.annotations = { [A .. "kbs-image"] = "r/kbs:8" }
  w.settle()
  expect_equal(w.pod().containers[1].image, "r/kbs:8")
end)

test("of three servers each keeps its own image, and a variable wins over what runs", function()
  local split = { kbsDeploymentType = "MicroservicesDeployment", kbsAsConfigMapName = "as", kbsRvpsConfigMapName = "rvps" }
  local w = deployed(server(split), { kbs = "r/kbs:1", as = "r/as:1", rvps = "r/rvps:1" })
  local c = w.pod().containers
  expect_equal({ c[1].image, c[2].image, c[3].image }, { "r/kbs:1", "r/as:1", "r/rvps:1" })
  w.parent.annotations[A .. "version"] = "v0.20.0"
  w.settle()
  expect_equal(w.pod().containers[1].image, "ghcr.io/confidential-containers/key-broker-service:v0.20.0")
  local told = fixtures.files({ ["settings.json"] = '{"environment": {"OPERATOR_IMAGE_NAME": "r/op:1", "KBS_IMAGE_NAME": "r/kbs:2"}}' })
  expect_equal(deployed(server({}, {}, told), { kbs = "r/kbs:1" }).pod().containers[1].image, "r/kbs:2")
end)

test("a new KbsConfig whose file has its services built in gets an image that has them", function()
  local w = server({})
  w.put(built_in)
  expect_equal(w.settle().pod().containers[1].image, "ghcr.io/confidential-containers/key-broker-service:built-in-as-v0.22.0")
end)

test("what an instance owns runs its release's image, whatever ran before", function()
  local w = server({}, { [A .. "kbs-image"] = "r/kbs:9", [A .. "version"] = "v0.21.0" })
  w.parent.owner = "TrusteeConfig/t"
  expect_equal(deployed(w, { kbs = "r/kbs:1" }).pod().containers[1].image, "r/kbs:9")
  w = server({}, { [A .. "version"] = "v0.99.0" })
  w.parent.owner = "TrusteeConfig/t"
  expect_equal(deployed(w, { kbs = "r/kbs:1" }).pod().containers[1].image, "ghcr.io/confidential-containers/key-broker-service:latest")
end)

test("without anything in its environment a container has no list of it", function()
  expect_equal(server({}).settle().pod().containers[1].env, nil)
end)

-- ---------------------------------------------------------------- Deployment, Service, readiness

test("selector and labels tell instances apart, a legacy selector stays", function()
  local w = server({ kbsInstanceName = "blue" })
  w.name, w.service_name = "trustee-deployment-blue", "kbs-service-blue"
  w.settle()
  local both = { app = "kbs", ["app.kubernetes.io/instance"] = "k" }
  expect_equal({ w.deployment().spec.selector, w.deployment().spec.template.metadata.labels, w.service().spec.selector }, { { matchLabels = both }, both, both })
end)

test("what one instance asks for, and whom its Service reaches, is nothing of another's", function()
  local function of(name)
    local w = server({ kbsInstanceName = name })
    w.parent.name, w.name, w.service_name = name, "trustee-deployment-" .. name, "kbs-service-" .. name
    return w.settle()
  end
  local a, b = of("a"), of("b")
  for key in pairs(a.children) do expect_equal(b.children[key], nil) end
  local pods = b.deployment().spec.template.metadata.labels
  local reaches = true
  for label, value in pairs(a.service().spec.selector) do reaches = reaches and pods[label] == value end
  expect_equal(reaches, false)
end)

local function legacy()
  local w = server({})
  w.children["Deployment/trustee-deployment"] = fixtures.object({ apiVersion = "apps/v1", kind = "Deployment", name = "trustee-deployment",
    spec = { replicas = 1, selector = { matchLabels = { app = "kbs" } }, template = { metadata = { labels = { app = "kbs" } }, spec = { containers = {} } } } })
  w.children["Service/kbs-service"] = fixtures.object({ apiVersion = "v1", kind = "Service", name = "kbs-service",
    spec = { type = "ClusterIP", clusterIP = "10.0.0.7", selector = { app = "kbs" }, ports = { { name = "kbs-port", port = 8080, targetPort = 8080, protocol = "TCP", nodePort = nil } } } })
  for key, there in pairs(w.children) do w.related[key] = there end
  return w
end

test("objects of the reference operator are taken over, and no moment has a Service that selects nothing", function()
  local w = legacy()
  w.deployment().ready = false
  w.settle()
  expect_equal({ w.deployment().spec.selector, w.service().spec.selector, w.service().spec.clusterIP }, { { matchLabels = { app = "kbs" } }, { app = "kbs" }, "10.0.0.7" })
  expect_equal(w.deployment().spec.template.metadata.labels["app.kubernetes.io/instance"], "k")
  w.roll_out()
  expect_equal(w.service().spec.selector, { app = "kbs", ["app.kubernetes.io/instance"] = "k" })
  expect_equal(w.service().spec.clusterIP, "10.0.0.7")
  w.settle()
  expect_equal(w.writes, {})
end)

test("pods of a KbsConfig that is taken over start with what its instance will note on it", function()
  local w = legacy()
  w.parent.owner = "TrusteeConfig/t"
  w.related["TrusteeConfig/t"] = fixtures.object(fixtures.trustee({ version = "v0.20.0" }))
  w.settle()
  local pod = w.deployment().spec.template.spec
  expect_equal(pod.containers[1].image, "ghcr.io/confidential-containers/key-broker-service:built-in-as-v0.20.0")
  expect_equal(pod.containers[1].readinessProbe.tcpSocket, { port = 8080 })
  local names = {}
  for _, one in ipairs(policy.compose.related(w.parent).objects) do names[one.kind] = one.name end
  expect_equal(names.TrusteeConfig, "t")
  w.parent.annotations[A .. "version"] = "v0.20.0"
  names = {}
  for _, one in ipairs(policy.compose.related(w.parent).objects) do names[one.kind] = one.name end
  expect_equal(names.TrusteeConfig, nil)
end)

test("the Service follows type and port and nothing else", function()
  local w = server({}).settle()
  w.service().spec.clusterIP = "10.0.0.7"
  w.parent.spec.kbsServiceType, w.parent.spec.kbsServicePort, w.parent.spec.kbsNodePort = "NodePort", 9090, 30080
  w.settle()
  expect_equal(w.writes, { "change Service/kbs-service" })
  expect_equal({ w.service().spec.type, w.service().spec.clusterIP, w.service().spec.ports },
    { "NodePort", "10.0.0.7", { { name = "kbs-port", protocol = "TCP", port = 9090, targetPort = 8080, nodePort = 30080 } } })
end)

test("a deleted Deployment or Service is made again", function()
  local w = server({}).settle()
  w.children, w.related["Deployment/trustee-deployment"], w.related["Service/kbs-service"] = {}, nil, nil
  w.settle()
  expect_equal(w.writes, { "create Deployment/trustee-deployment", "create Service/kbs-service" })
end)

test("pods restart for content, not for labels", function()
  local w = server({}).settle()
  local key = "kbs.confidentialcontainers.org/configmap-versions"
  local function noted() return w.deployment().spec.template.metadata.annotations[key] end
  local before = noted()
  expect_true(before:find("^config:%x+,values:%x+,cpu:%x+,gpu:%x+,resource:%x+$"), before)
  w.related["ConfigMap/resource"].labels = { mine = "x" }
  w.settle()
  expect_equal({ w.writes, noted() }, { {}, before })
  w.put({ apiVersion = "v1", kind = "ConfigMap", name = "resource", data = { ["resource-policy.rego"] = "other" } })
  w.settle()
  expect_true(noted() ~= before)
  expect_equal(w.writes, { "change Deployment/trustee-deployment" })
  local child = w.answer.children[1]
  expect_equal({ child.inputs_as, #child.inputs }, { A .. "input-digest", 7 })
end)

test("readiness is that of the newest pods", function()
  local w = server({ KbsDeploymentSpec = { replicas = 2 } }).settle()
  expect_equal({ w.reason("Ready"), w.parent.status.isReady }, { "False/RollingOut", false })
  w.deployment().ready, w.deployment().status = false, { readyReplicas = 2, replicas = 3, updatedReplicas = 1 }
  w.settle()
  expect_equal({ w.reason("Ready"), w.condition("Ready").message }, { "False/RollingOut", "1 of 2 replicas are updated, 2 ready" })
  w.roll_out()
  expect_equal({ w.reason("Ready"), w.parent.status.isReady, w.condition("Ready").message }, { "True/Ready", true, "2 of 2 replicas are ready" })
  w.parent.spec.KbsDeploymentSpec.replicas = 0
  w.settle()
  expect_equal({ w.reason("Ready"), w.deployment().spec.replicas }, { "False/ScaledToZero", 0 })
end)

test("it is not ready without its Service, and says what the server says of it", function()
  local w = server({}).settle()
  w.roll_out()
  w.children["Service/kbs-service"], w.related["Service/kbs-service"] = nil, nil
  local function pass()
    local answer = sync(w.parent, w.related, w.children, w.files)
    return answer.conditions[1].reason .. ": " .. answer.conditions[1].message
  end
  expect_equal(pass(), "ServiceMissing: Service kbs-service is not there yet")
  w.parent.status = { conditions = { { type = "Composed", status = "False", message = "Service kbs-service: create: no" } } }
  expect_equal(pass(), "ServiceMissing: Service kbs-service is not there yet: Service kbs-service: create: no")
end)

test("of two that ask for one node port the younger is told who has it", function()
  local w = server({ kbsServiceType = "NodePort", kbsNodePort = 30080 })
  local function other(name, number)
    w.put({ apiVersion = "v1", kind = "Service", name = name, labels = { app = "kbs" }, spec = { ports = { { port = 8080, nodePort = number } } } })
  end
  other("kbs-service-b", 30080)
  other("kbs-service-a", 30080)
  other("kbs-service-0", 30081)
  w.settle()
  expect_equal({ w.reason("Ready"), w.service(), w.deployment() ~= nil }, { "False/NodePortConflict", nil, true })
  expect_equal(w.condition("Ready").message, "kbsNodePort 30080 belongs to Service kbs-service-a: it is the older's; another number, or none, is free")
  local asked = {}
  for _, one in ipairs(policy.compose.related(w.parent).objects) do
    if one.labels then asked[#asked + 1] = one.kind .. " " .. one.labels.app end
  end
  expect_equal(asked, { "Service kbs" })
  w.related["Service/kbs-service-a"], w.related["Service/kbs-service-b"] = nil, nil
  w.settle()
  expect_equal({ w.service().labels.app, w.service().spec.ports[1].nodePort }, { "kbs", 30080 })
  w.roll_out()
  other("kbs-service-c", 30080)
  w.settle()
  expect_equal(w.reason("Ready"), "True/Ready")
  -- Its Service stays as it was while it asks for a number that another has.
  w.parent.spec.kbsNodePort = 30081
  w.settle()
  expect_equal({ w.reason("Ready"), w.service().spec.ports[1].nodePort, w.writes }, { "False/NodePortConflict", 30080, {} })
  w.related["Service/kbs-service-0"] = nil
  local answer = sync(w.parent, w.related, w.children, w.files)
  expect_equal(answer.conditions[1].message, "Service kbs-service does not have kbsNodePort 30081 yet")
end)

test("that it becomes ready and is no longer ready is told, each once", function()
  local w = server({}).settle()
  expect_equal({ w.events.Ready, w.events.NotReady }, {})
  w.roll_out()
  expect_equal({ w.events.Ready, w.events.NotReady }, { "Trustee deployment is ready", nil })
  w.settle()
  expect_equal(w.events, {})
  w.deployment().ready = false
  w.settle()
  expect_equal(w.events, { NotReady = "Trustee deployment is no longer ready" })
  w.settle()
  expect_equal(w.events, {})
  w.related["ConfigMap/cpu"] = nil
  w.settle()
  expect_equal(w.events, { InputMissing = "ConfigMap cpu of spec.kbsAttestationPolicyConfigMapName is not there" })
  local told = {}
  for _, child in ipairs(server({}).settle().answer.children) do told[#told + 1] = child.events.created .. " " .. child.events.update_failed end
  expect_equal(told, { "DeploymentCreated DeploymentUpdateFailed", "ServiceCreated ServiceUpdateFailed" })
end)

test("what is missing is named, and the Deployment stays as it is", function()
  local w = server({}).settle()
  w.roll_out()
  local before = plain.copy(w.deployment())
  w.related["ConfigMap/cpu"] = nil
  w.settle()
  expect_equal({ w.writes, w.deployment(), w.condition("Ready").message }, { {}, before, "ConfigMap cpu of spec.kbsAttestationPolicyConfigMapName is not there" })
  w.parent.spec.kbsAuthSecretName = ""
  w.settle()
  expect_equal({ w.writes, w.reason("Ready") }, { {}, "False/SpecIncomplete" })
end)

test("a name that belongs to another is a conflict", function()
  local w = server({})
  w.put({ apiVersion = "apps/v1", kind = "Deployment", name = "trustee-deployment", spec = {} })
  local answer = sync(w.parent, w.related, w.children, w.files)
  expect_equal({ answer.conditions[1].reason, answer.status.isReady, #answer.children }, { "InstanceNameConflict", false, 2 })
end)

test("a broken catalogue changes no Deployment", function()
  local w = server({}, { [A .. "version"] = "v0.18.0" }).settle()
  w.roll_out()
  w.files = fixtures.files({ ["versions.json"] = "{" })
  w.parent.annotations[A .. "kbs-image"] = "r/other:1"
  w.settle()
  expect_equal({ w.writes, w.reason("Ready") }, { {}, "True/Ready" })
end)

test("a release that the catalogue no longer has is laid out by its number", function()
  local w = server({}, { [A .. "version"] = "v0.18.0" }, fixtures.files({ ["versions.json"] = fixtures.catalogue({ "latest" }) })).settle()
  expect_equal(w.pod().initContainers, nil)
end)

test("at its end nothing is asked for", function()
  local w = server({}).settle()
  w.parent.deleting = true
  expect_equal(sync(w.parent, w.related, w.children, w.files).children, {})
end)

test("another kind has no children", function()
  expect_equal(sync(fixtures.object({ kind = "Shop", name = "s", apiVersion = "example.com/v1", spec = {} }), {}, {}, files).children, {})
  expect_equal(policy.compose.related({ kind = "Shop" }).objects, {})
end)
