-- Small files in the form of the real ones; tests/cli reads extracts of the projects' own.
local policy = require("policy")

local X, Y = "608b48205009e091d3843b8f7d21934f2cea6792", ("1"):rep(40)

local function read(project, files)
  local answer = policy.train.sources({ project = project, files = files })
  local lines = {}
  for _, p in ipairs(answer.pins) do
    lines[#lines + 1] = p.project .. "." .. p.field .. "=" .. p.value .. (p.image and " of " .. p.image or "") .. (p.comment and " # " .. p.comment or "")
  end
  table.sort(lines)
  return lines, answer
end

test("Kata's file says its pins, in either of its forms", function()
  local head = "externals:\n  coco-guest-components:\n    version: \"" .. X .. "\"\n  coco-trustee:\n    version: " .. X .. "\n"
  local nydus = "  nydus-snapshotter:\n    version: \"v0.15.2\"\n"
  local lines, answer = read("Kata", { ["versions.yaml"] = head .. "    image: \"x/staged-images/kbs\"\n    image_tag: \"" .. X .. "\"\n"
    .. "    ita_image: q\n    ita_image_tag: " .. X .. "-x86_64\n" .. nydus })
  expect_equal(lines, { "Trustee.image_tag=" .. X .. " of x/staged-images/kbs", "Trustee.ita_image_tag=" .. X .. "-x86_64 of q", "Trustee.version=" .. X,
    "guest-components.version=" .. X, "nydus-snapshotter.version=v0.15.2" })
  expect_equal(answer.absent, {})
  lines = read("Kata", { ["versions.yaml"] = head .. "    images:\n      kbs: a/kbs\n      rvps: a/rvps\n" .. nydus })
  expect_equal({ lines[1], lines[2] }, { "Trustee.images.kbs=" .. X .. " of a/kbs", "Trustee.images.rvps=" .. X .. " of a/rvps" })
  -- A commit that YAML takes for a number stays what it is.
  lines = read("Kata", { ["versions.yaml"] = "externals:\n  coco-trustee:\n    version: " .. Y .. " # v1\n  coco-guest-components:\n    version: 25383e1\n" })
  expect_equal(lines, { "Trustee.version=" .. Y .. " # v1", "guest-components.version=25383e1" })
end)

test("samples of the operator name images by kustomize", function()
  local sample = "images:\n- name: quay.io/confidential-containers/reqs-payload\n  newTag: " .. X .. "\n- name: quay.io/kata-containers/kata-deploy\n"
  local lines = read("operator", { ["config/samples/ccruntime/default/kustomization.yaml"] = sample .. "  newTag: 3.23.0\n",
    ["config/samples/ccruntime/s390x/kustomization.yaml"] = sample .. "  newName: quay.io/kata-containers/kata-deploy-ci\n  newTag: kata-containers-latest\n",
    ["config/samples/enclave-cc/sim/kustomization.yaml"] = "images:\n- name: quay.io/confidential-containers/runtime-payload\n  newTag: enclave-cc-SIM-sample-kbc-v0.11.0\n",
    ["install/pre-install-payload/Makefile"] = "A = 1\nNYDUS_SNAPSHOTTER_VERSION = v0.15.2\n" })
  expect_equal(lines, { "Kata.default=3.23.0 of quay.io/kata-containers/kata-deploy",
    "Kata.s390x=kata-containers-latest of quay.io/kata-containers/kata-deploy-ci", "nydus-snapshotter.NYDUS_SNAPSHOTTER_VERSION=v0.15.2",
    "reqs-payload.default=" .. X .. " of quay.io/confidential-containers/reqs-payload", "reqs-payload.s390x=" .. X .. " of quay.io/confidential-containers/reqs-payload",
    "runtime-payload.enclave-cc/sim=enclave-cc-SIM-sample-kbc-v0.11.0 of quay.io/confidential-containers/runtime-payload" })
end)

test("protocols, charts, peer pods and crates", function()
  local _, answer = read("Trustee", { ["kbs/src/http/attest.rs"] = "static KBS_MAJOR_VERSION: u64 = 0;\nstatic KBS_MINOR_VERSION: u64 = 1;\n"
    .. "static KBS_PATCH_VERSION: u64 = 1;\n", ["kbs/src/lib.rs"] = "pub mod http;\n",
    ["Cargo.toml"] = 'kbs_protocol = { git = "g", rev = "27b8245", default-features = false }\nkms = { git = "g", tag="v0.10.0" }\n' })
  expect_equal({ answer.protocol, answer.pins[1].value, answer.pins[2].value }, { "0.1.1", "27b8245", "v0.10.0" })
  _, answer = read("guest-components", { ["attestation-agent/kbs_protocol/src/client/mod.rs"] = 'pub const KBS_PROTOCOL_VERSION: &str = "0.4.0";\n' })
  expect_equal(answer.protocol, "0.4.0")
  expect_equal(read("charts", { ["Chart.yaml"] = "dependencies:\n- name: kata-deploy\n  version: \"3.22.0\"\n" }), { "Kata.kata-deploy=3.22.0" })
  expect_equal(read("cloud-api-adaptor", { ["src/cloud-api-adaptor/versions.yaml"] = "git:\n  kbs:\n    reference: " .. X .. "\noci:\n  kata-containers:\n"
    .. "    reference: " .. Y .. " # v3.31.0 + tagging fix\n  guest-components:\n    tag: 3.9\n" }),
    { "Kata.reference=" .. Y .. " # v3.31.0 + tagging fix", "Trustee.reference=" .. X, "guest-components.reference=3.9" })
  -- Whose comment it is cannot be told where two lines are alike.
  expect_equal(read("cloud-api-adaptor", { ["src/cloud-api-adaptor/versions.yaml"] = "git:\n  kbs:\n    reference: " .. X .. "\n  kata-containers:\n"
    .. "    reference: " .. X .. " # v3\n" }), { "Kata.reference=" .. X, "Trustee.reference=" .. X })
  expect_equal(read("enclave-cc", { ["src/enclave-agent/Cargo.toml"] = 'image-rs = { git = "g", default-features = false, rev = "v0.10.0" }' }),
    { "guest-components.image-rs=v0.10.0" })
end)

test("which files are read is said before any is, and what is in none of them", function()
  local _, answer = read("Trustee")
  expect_equal({ answer.known, #answer.files, answer.files[1], answer.absent[1] }, { true, 7, "Cargo.toml", "guest-components.kbs_protocol" })
  _, answer = read("mine")
  expect_equal({ answer.known, #answer.files }, { false, 0 })
end)

test("crates and Makefiles are read however they are written, and comments are not", function()
  for _, case in ipairs({
    { 'kbs_protocol = { git = "https://example.com/guest-components.git", rev = "a1b2c3d", default-features = false }', "a1b2c3d" },
    { 'kbs_protocol = { rev = "a1b2c3d", git = "g" }', "a1b2c3d" },
    { "kbs_protocol = { git = 'g', rev = 'a1b2c3d' }\r", "a1b2c3d" },
    { '"kbs_protocol" = {git="g",tag="v0.10.0"}', "v0.10.0" },
    { 'kbs_protocol = { git = "g", branch = "main" }', "main" },
    { '[dependencies.kbs_protocol]\ngit = "https://example.com/guest-components.git"\nrev = "a1b2c3d"\n\n[dependencies.other]\nrev = "eeeeeee"', "a1b2c3d" },
    { '[workspace.dependencies.kbs_protocol]\nrev = "a1b2c3d"\ngit = "g"', "a1b2c3d" },
    { '# kbs_protocol = { git = "g", rev = "0000000" }\nmy_kbs_protocol = { rev = "1111111" }\nkbs_protocol = { rev = "a1b2c3d" }', "a1b2c3d" },
    { '[dependencies.kbs_protocol]\ngit = "g"\n\n[dependencies.other]\nrev = "eeeeeee"' },
  }) do
    expect_equal(read("Trustee", { ["Cargo.toml"] = "[package]\n" .. case[1] .. "\n" }), { case[2] and "guest-components.kbs_protocol=" .. case[2] })
  end
  for _, line in ipairs({ "NYDUS_SNAPSHOTTER_VERSION := v0.15.2", "NYDUS_SNAPSHOTTER_VERSION?=v0.15.2\r", "# NYDUS_SNAPSHOTTER_VERSION = v0.1.0\n  # x\nexport "
    .. "NYDUS_SNAPSHOTTER_VERSION = v0.15.2 # why" }) do
    expect_equal(read("operator", { ["install/pre-install-payload/Makefile"] = line .. "\n" }), { "nydus-snapshotter.NYDUS_SNAPSHOTTER_VERSION=v0.15.2" })
  end
  expect_equal(read("cloud-api-adaptor", { ["src/cloud-api-adaptor/go.mod"] =
    "require (\n\tgithub.com/kata-containers/kata-containers/src/runtime v0.0.0-20251117210945-650ada7bcc8e\n)\n" }), { "Kata.go.mod=650ada7bcc8e" })
end)
