-- Every configuration of every release, key by key: a key that the release does not know, or one it lacks, is a failure.
local fixtures = require("fixtures")
local layouts = require("layouts")

local S, B = "/opt/confidential-containers/storage", "/opt/confidential-containers"
local intel = "https://api.trustedservices.intel.com/sgx/certification/v4/"

-- What a grammar has in both profiles, and what each adds.
local kv = {
  both = { ["http_server.sockets"] = { "0.0.0.0:8080" }, ["http_server.worker_count"] = 4, ["attestation_service.type"] = "coco_as_builtin",
    ["attestation_service.attestation_token_broker.duration_min"] = 5, ["attestation_service.rvps_config.type"] = "BuiltIn",
    ["attestation_service.verifier_config.snp_verifier.vcek_sources"] = { { type = "OfflineStore" }, { type = "KDS" } },
    ["attestation_service.verifier_config.dcap_verifier.collateral_service"] = intel, ["storage_backend.storage_type"] = "LocalFs",
    ["storage_backend.backends.local_fs.dir_path"] = S, ["storage_backend.backends.local_json.file_dir_path"] = S .. "/local_json" },
  permissive = { ["http_server.insecure_http"] = true, ["attestation_service.timeout"] = 5 },
  restricted = { ["http_server.insecure_http"] = false, ["http_server.private_key"] = "/etc/https-key/privateKey",
    ["http_server.certificate"] = "/etc/https-cert/certificate", ["attestation_token.trusted_certs_paths"] = { "/etc/attestation-cert/token.crt" },
    ["attestation_service.attestation_token_broker.signer.key_path"] = "/etc/attestation-key/token.key",
    ["attestation_service.attestation_token_broker.signer.cert_path"] = "/etc/attestation-cert/token.crt" },
}
local fs = {
  both = { ["http_server.sockets"] = { "0.0.0.0:8080" }, ["attestation_service.type"] = "coco_as_builtin",
    ["attestation_service.work_dir"] = B .. "/attestation-service", ["attestation_service.policy_engine"] = "opa",
    ["attestation_service.attestation_token_broker.type"] = "Ear",
    ["attestation_service.attestation_token_broker.policy_dir"] = B .. "/attestation-service/policies",
    ["attestation_service.attestation_token_broker.duration_min"] = 5, ["attestation_service.rvps_config.type"] = "BuiltIn",
    ["attestation_service.rvps_config.storage.type"] = "LocalJson",
    ["attestation_service.rvps_config.storage.file_path"] = B .. "/rvps/reference-values/reference-values.json",
    plugins = { { name = "resource", type = "LocalFs", dir_path = B .. "/kbs/repository" } }, ["policy_engine.policy_path"] = B .. "/opa/policy.rego" },
  permissive = kv.permissive, restricted = kv.restricted,
}
local function with(base, both, permissive, restricted)
  local out = { both = {}, permissive = {}, restricted = {} }
  for part, more in pairs({ both = both, permissive = permissive or {}, restricted = restricted or {} }) do
    for key, value in pairs(base[part] or {}) do out[part][key] = value end
    for key, value in pairs(more) do out[part][key] = value end
  end
  return out
end
local kvstorage = { { name = "resource", storage_backend_type = "kvstorage" } }
local json_rvps, insecure, secure = "LocalJson", { ["attestation_token.insecure_key"] = true }, { ["attestation_token.insecure_key"] = false }
local vcek = { ["attestation_service.verifier_config.snp_verifier.vcek_sources"] = { { type = "OfflineStore" }, { type = "KDS" } } }
local G2 = with(fs, { ["http_server.worker_count"] = 4, ["admin.type"] = "DenyAll" }, insecure, secure)
local G2_17 = with(G2, vcek)
local grammars = {
  G0 = { both = { sockets = { "0.0.0.0:8080" }, insecure_api = false, auth_public_key = "/etc/auth-secret/publicKey",
      ["attestation_token_config.attestation_token_type"] = "CoCo", ["repository_config.type"] = "LocalFs",
      ["repository_config.dir_path"] = B .. "/kbs/repository", ["as_config.work_dir"] = B .. "/attestation-service",
      ["as_config.policy_engine"] = "opa", ["as_config.attestation_token_broker"] = "Simple",
      ["as_config.attestation_token_config.duration_min"] = 5, ["as_config.rvps_config.store_type"] = "LocalJson",
      ["as_config.rvps_config.store_config.file_path"] = B .. "/rvps/reference-values/reference-values.json",
      ["policy_engine_config.policy_path"] = B .. "/opa/policy.rego" },
    permissive = { insecure_http = true },
    restricted = { insecure_http = false, private_key = "/etc/https-key/privateKey", certificate = "/etc/https-cert/certificate",
      ["attestation_token_config.trusted_certs_paths"] = { "/etc/attestation-cert/token.crt" },
      ["as_config.attestation_token_config.signer.key_path"] = "/etc/attestation-key/token.key",
      ["as_config.attestation_token_config.signer.cert_path"] = "/etc/attestation-cert/token.crt" } },
  G1 = with(fs, { ["admin.insecure_api"] = false, ["admin.auth_public_key"] = "/etc/auth-secret/publicKey" }, insecure, secure),
  G3 = with(kv, { ["admin.type"] = "DenyAll", plugins = { { name = "resource", type = "kvstorage" } } }, insecure, secure),
  G4 = with(kv, { ["admin.type"] = "DenyAll", plugins = kvstorage, ["attestation_service.rvps_config.storage_type"] = json_rvps }, insecure, secure),
  G5 = with(kv, { ["admin.authorization_mode"] = "DenyAll", plugins = kvstorage, ["attestation_service.rvps_config.storage_type"] = json_rvps },
    { ["attestation_token.insecure_header_jwk"] = true },
    { ["attestation_token.insecure_header_jwk"] = false, ["http_server.tls_profile"] = "intermediate" }),
}
local by_release = { ["v0.16.0"] = G2, ["v0.17.0"] = G2_17,
  ["v0.18.0"] = with(G2_17, { ["attestation_service.verifier_config.dcap_verifier.collateral_service"] = intel }) }

local function flat(v, path, out)
  if type(v) ~= "table" or v[1] ~= nil then
    out[path] = type(v) == "table" and json.encode(v) or v
    return out
  end
  for key, member in pairs(v) do flat(member, path == "" and key or path .. "." .. key, out) end
  return out
end

local files = fixtures.files()
local made = fixtures.made(files)

for _, version in ipairs(made.versions) do
  for _, profile in ipairs({ "permissive", "restricted" }) do
    test("kbs-config of " .. version .. ", " .. profile .. ", has the keys of its grammar and no others", function()
      local row = made.rows[version]
      local grammar = by_release[version] or grammars[row.grammar]
      local expected = {}
      for _, part in ipairs({ "both", profile }) do
        for key, value in pairs(grammar[part]) do expected[key] = type(value) == "table" and json.encode(value) or value end
      end
      local text = fixtures.rendered(files, version, "kbs-" .. profile)
      expect_equal(flat(toml.decode(text), "", {}), expected)
      expect_true(not text:find("{{", 1, true))
    end)
  end
end

test("the five TLS keys of a custom profile stand in [http_server]", function()
  local text = fixtures.rendered(files, "v0.21.0", "kbs-restricted",
    { profile = "custom", minVersion = "1.2", maxVersion = "1.3", ciphers = { "A" }, groups = { "x25519" } })
  local server = toml.decode(text).http_server
  expect_equal({ server.tls_profile, server.tls_min_version, server.tls_max_version, server.tls_ciphers, server.tls_groups },
    { "custom", "1.2", "1.3", "A", "x25519" })
  expect_true(text:find("# TLS configuration\ntls_profile", 1, true))
end)

test("a release without settings of TLS has no such key", function()
  for _, version in ipairs({ "v0.10.0", "v0.15.0", "v0.18.0", "v0.19.0", "v0.20.0" }) do
    expect_true(not fixtures.rendered(files, version, "kbs-restricted", { profile = "modern" }):find("tls_"), version)
  end
end)

test("attestation policies look reference values up, export what is read and name Azure's evidence as their release does", function()
  local D, Q = "data.reference.", "query_reference_value("
  local facts = { -- release, looks up by, the rule that is asked (false: each claim by itself), Azure's evidence
    { "v0.10.0", "data.reference[name]", "allow", false }, { "v0.10.1", "data.reference[name]", "allow", false },
    { "v0.11.0", D, false, "azsnpvtpm" }, { "v0.12.0", D, false, "azsnpvtpm" }, { "v0.13.0", D, false, "azsnpvtpm" },
    { "v0.14.0", D, false, "azsnpvtpm" }, { "v0.15.0", D, false, "azsnpvtpm" }, { "v0.16.0", Q, "result", "az-snp-vtpm" },
    { "v0.17.0", Q, "trust_claims", "az-snp-vtpm" }, { "v0.18.0", Q, "trust_claims", "az-snp-vtpm" },
    { "v0.19.0", Q, "trust_claims", "az-snp-vtpm" }, { "v0.20.0", Q, "trust_claims", "az-snp-vtpm" },
    { "v0.21.0", Q, "trust_claims", "az-snp-vtpm" }, { "v0.22.0", Q, "trust_claims", "az-snp-vtpm" }, { "latest", Q, "trust_claims", "az-snp-vtpm" } }
  expect_equal(#facts, #made.versions)
  for _, f in ipairs(facts) do
    for _, role in ipairs({ "cpu-policy", "gpu-policy" }) do
      local text, note = fixtures.rendered(files, f[1], role), f[1] .. " " .. role
      expect_true(text or role == "gpu-policy", note)
      text = text or ""
      expect_true(text == "" or text:find(f[2], 1, true), note)
      for _, other in ipairs({ D, Q }) do expect_true(other == f[2] or not text:find(other, 1, true), note .. ": " .. other) end
      for _, rule in ipairs({ "allow", "result", "trust_claims" }) do
        expect_equal(text:find("\n" .. rule .. " [:i]") ~= nil, text ~= "" and rule == f[3], note .. ": " .. rule)
      end
      for _, key in ipairs({ "azsnpvtpm", "aztdxvtpm", "az_snp_vtpm", "az_tdx_vtpm", "az-snp-vtpm", "az-tdx-vtpm" }) do
        local wanted = role == "cpu-policy" and f[4] and (key == f[4] or key == f[4]:gsub("snp", "tdx"))
        expect_equal(text:find(key, 1, true) ~= nil, wanted or false, note .. ": " .. key)
      end
    end
  end
end)

test("the policies of releases that end at a rule they do not know have no such rule", function()
  for _, version in ipairs({ "v0.11.0", "v0.12.0", "v0.13.0", "v0.14.0", "v0.15.0" }) do
    for _, rule in ipairs({ "file_system", "instance_identity", "runtime_opaque", "storage_opaque", "sourced_data", "extensions" }) do
      expect_true(not fixtures.rendered(files, version, "cpu-policy"):find("\n[default ]*" .. rule .. " :="), version .. ": " .. rule)
    end
  end
end)

test("every release has the keys of its layout", function()
  local facts = { -- cpu, resource, reference values
    ["v0.10.0"] = { "default.rego", "policy.rego", "reference-values.json" }, ["v0.13.0"] = { "default.rego", "policy.rego", "reference-values.json" },
    ["v0.14.0"] = { "default_cpu.rego", "policy.rego", "reference-values.json" }, ["v0.18.0"] = { "default_cpu.rego", "policy.rego", "reference-values.json" },
    ["v0.19.0"] = { "default_cpu.rego", "resource-policy.rego" }, ["v0.20.0"] = { "default_cpu.rego", "resource-policy.rego", "reference_value" },
    latest = { "default_cpu.rego", "resource-policy.rego", "reference_value" } }
  for version, keys in pairs(facts) do
    local row = made.rows[version]
    expect_equal({ layouts.key("cpu-policy", row), layouts.key("resource-ibm", row), layouts.key("reference-values", row) }, keys, version)
  end
end)

test("reference values are a list where files are, an object where values are stored by name", function()
  for _, version in ipairs(made.versions) do
    local text = fixtures.rendered(files, version, "reference-values")
    expect_equal(text, made.rows[version].layout == "fs" and "[]\n" or "{}\n", version)
  end
end)

test("values of a Secure Execution image are for their user to fill in, where the tokens of a release have them", function()
  for _, version in ipairs(made.versions) do
    local text, row = fixtures.rendered(files, version, "resource-ibm"), made.rows[version]
    expect_true(text:find("<se.image_phkh>", 1, true), version)
    local place = row.token == "tcb-status" and 'input["tcb-status"]' or "input.submods." .. row.token .. "["
    expect_true(text:find(place, 1, true), version)
    expect_equal(text:find('data.plugin == "resource"', 1, true) ~= nil, row.layout ~= "fs", version)
  end
end)
