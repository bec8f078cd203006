-- Which files of a project say what it pins and which protocol it speaks. This file is meant to be edited: a pin is a line.
--
-- A row reads one file at the train's commit of the project, the first of `files` that is there:
--   path     the way into a YAML file: keys, and { name = "x" } for the entry of a list that has this; or the first of `paths` that is there
--   pattern  or a pattern of Lua with one capture, on the text; or the first of `patterns`
--   pins     the project that is pinned, `field` under which name, `kind` of pin
--   image    for a path: the way to the image that the value is the tag of
--   each     for a path to a mapping of images: a pin of each, called `each` and its key, whose value is that of `value_of`
--   optional not every version of the project has it: where it is absent nothing is said
--   protocol instead of `pins`: it is the protocol of the project; several captures are joined by dots
local function kustomize(name, file, pins, field, optional)
  local at = { "images", { name = name } }
  return { files = { file }, path = { at[1], at[2], "newTag" }, image = { { at[1], at[2], "newName" }, { at[1], at[2], "name" } }, pins = pins,
    field = field, optional = optional }
end

local kata_deploy = "quay.io/kata-containers/kata-deploy"
local reqs, runtime = "quay.io/confidential-containers/reqs-payload", "quay.io/confidential-containers/runtime-payload"
local samples = "config/samples/"
local client = { "Cargo.toml", "tools/kbs-client/Cargo.toml", "kbs/tools/client/Cargo.toml" }
-- A git dependency of Cargo.toml, on one line or as a table of its own; a branch is one as well, and names something else tomorrow.
local function cargo(name)
  local patterns = {}
  for _, key in ipairs({ "rev", "tag", "branch" }) do
    local value = key .. "%s*=%s*[\"']([^\"']+)[\"']"
    patterns[#patterns + 1] = "%f[%w_]" .. name .. "[\"']?%s*=%s*{[^}\n]-%f[%w]" .. value
    patterns[#patterns + 1] = "dependencies%." .. name .. "%][^%[]-\n%s*" .. value
  end
  return patterns
end
local trustee = { "externals", "coco-trustee" }
local server = "MAJOR_VERSION: u64 = (%d+);.-MINOR_VERSION: u64 = (%d+);.-PATCH_VERSION: u64 = (%d+);"

return {
  Kata = {
    { files = { "versions.yaml" }, path = { "externals", "coco-guest-components", "version" }, pins = "guest-components", field = "version" },
    { files = { "versions.yaml" }, path = { trustee[1], trustee[2], "version" }, pins = "Trustee", field = "version" },
    { files = { "versions.yaml" }, path = { trustee[1], trustee[2], "image_tag" }, image = { { trustee[1], trustee[2], "image" } }, pins = "Trustee",
      field = "image_tag", optional = true },
    { files = { "versions.yaml" }, path = { trustee[1], trustee[2], "ita_image_tag" }, image = { { trustee[1], trustee[2], "ita_image" } },
      pins = "Trustee", field = "ita_image_tag", optional = true },
    { files = { "versions.yaml" }, path = { trustee[1], trustee[2], "images" }, each = "images.", value_of = { trustee[1], trustee[2], "version" },
      pins = "Trustee", optional = true },
    { files = { "versions.yaml" }, path = { "externals", "nydus-snapshotter", "version" }, pins = "nydus-snapshotter", field = "version" },
  },
  operator = {
    { files = { "install/pre-install-payload/Makefile" }, pattern = "NYDUS_SNAPSHOTTER_VERSION%s*[:?]?=%s*(%S+)", pins = "nydus-snapshotter",
      field = "NYDUS_SNAPSHOTTER_VERSION" },
    kustomize(kata_deploy, samples .. "ccruntime/default/kustomization.yaml", "Kata", "default"),
    kustomize(kata_deploy, samples .. "ccruntime/peer-pods/kustomization.yaml", "Kata", "peer-pods"),
    kustomize(kata_deploy, samples .. "ccruntime/s390x/kustomization.yaml", "Kata", "s390x"),
    kustomize(reqs, samples .. "ccruntime/default/kustomization.yaml", "reqs-payload", "default"),
    kustomize(reqs, samples .. "ccruntime/peer-pods/kustomization.yaml", "reqs-payload", "peer-pods"),
    kustomize(reqs, samples .. "ccruntime/s390x/kustomization.yaml", "reqs-payload", "s390x"),
    kustomize(reqs, samples .. "enclave-cc/sim/kustomization.yaml", "reqs-payload", "enclave-cc/sim", true),
    kustomize(reqs, samples .. "enclave-cc/hw/kustomization.yaml", "reqs-payload", "enclave-cc/hw", true),
    kustomize(runtime, samples .. "enclave-cc/sim/kustomization.yaml", "runtime-payload", "enclave-cc/sim", true),
    kustomize(runtime, samples .. "enclave-cc/hw/kustomization.yaml", "runtime-payload", "enclave-cc/hw", true),
  },
  charts = {
    { files = { "Chart.yaml" }, path = { "dependencies", { name = "kata-deploy" }, "version" }, pins = "Kata", field = "kata-deploy" },
  },
  ["cloud-api-adaptor"] = {
    { files = { "src/cloud-api-adaptor/versions.yaml" }, paths = { { "oci", "kata-containers", "reference" }, { "oci", "kata-containers", "tag" },
      { "git", "kata-containers", "reference" } }, pins = "Kata", field = "reference" },
    { files = { "src/cloud-api-adaptor/versions.yaml" }, paths = { { "oci", "guest-components", "reference" }, { "oci", "guest-components", "tag" },
      { "git", "guest-components", "reference" } }, pins = "guest-components", field = "reference" },
    { files = { "src/cloud-api-adaptor/versions.yaml" }, path = { "git", "kbs", "reference" }, pins = "Trustee", field = "reference" },
    { files = { "src/cloud-api-adaptor/go.mod" }, pattern = "github%.com/kata%-containers/kata%-containers/src/runtime%s+v[%d.]+%-%d+%-(%x+)",
      pins = "Kata", field = "go.mod", optional = true },
    { files = { "src/cloud-api-adaptor/install/charts/peerpods/Chart.yaml" }, path = { "dependencies", { name = "kata-deploy" }, "version" },
      pins = "Kata", field = "kata-deploy", optional = true },
  },
  Trustee = {
    { files = client, patterns = cargo("kbs_protocol"), pins = "guest-components", field = "kbs_protocol" },
    { files = client, patterns = cargo("kms"), pins = "guest-components", field = "kms", optional = true },
    { files = { "kbs/src/attestation/backend.rs", "kbs/src/http/attest.rs", "kbs/src/lib.rs", "kbs/src/api/src/lib.rs" }, pattern = server,
      protocol = true },
  },
  ["guest-components"] = {
    { files = { "attestation-agent/kbs_protocol/src/client/mod.rs" }, pattern = 'KBS_PROTOCOL_VERSION: &str = "([^"]+)"', protocol = true },
  },
  ["enclave-cc"] = {
    { files = { "src/enclave-agent/Cargo.toml" }, patterns = cargo("image%-rs"), pins = "guest-components", field = "image-rs" },
  },
}
