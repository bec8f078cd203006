-- What is known of Trustee's releases by their number, for catalogues that do not say it themselves. A row is in force from its
-- release on, up to the next. The last is what `latest` means.
-- SOURCES.md names the line of Trustee's sources that each fact is from.
--   dialect   of the attestation policies, by what the server reads of them and hands to them:
--             "flat"          claims with flat names, and the rule `allow`
--             "texts"         one rule for each claim of the trust vector; claims of SEV-SNP are texts
--             "data"          the same; claims and reference values have their own types
--             "result"        values by query_reference_value, and the rule `result`
--             "trust-claims"  the same, and the rules `trust_claims` and `extensions`
--             "trusted-keys"  the same; the policy judges whose TPM it is
--   token     where a token has the evidence of a client: "tcb-status", or the submodule "cpu" or "cpu0"
--   policies  the folder of attestation policies of layout fs
local facts = {
  { from = "v0.10.0", layout = "fs", grammar = "G0", dialect = "flat", token = "tcb-status", file_id = "default",
    policies = "opa" },
  { from = "v0.11.0", layout = "fs", grammar = "G1", dialect = "texts", token = "cpu", file_id = "default" },
  { from = "v0.14.0", layout = "fs", grammar = "G1", dialect = "data", token = "cpu0", file_id = "default_cpu" },
  { from = "v0.16.0", layout = "fs", grammar = "G2", dialect = "result", token = "cpu0", file_id = "default_cpu" },
  { from = "v0.17.0", layout = "fs", grammar = "G2", dialect = "trust-claims", token = "cpu0", file_id = "default_cpu" },
  { from = "v0.18.0", layout = "fs", grammar = "G2", dialect = "trust-claims", token = "cpu0", file_id = "default_cpu", dcap_verifier = true },
  { from = "v0.19.0", layout = "kv-dash", grammar = "G3", dialect = "trust-claims", token = "cpu0", file_id = "default_cpu",
    dcap_verifier = true },
  { from = "v0.20.0", layout = "kv", grammar = "G4", dialect = "trusted-keys", token = "cpu0", file_id = "default_cpu", dcap_verifier = true },
  { from = "v0.21.0", layout = "kv", grammar = "G5", dialect = "trusted-keys", token = "cpu0", file_id = "default_cpu", dcap_verifier = true,
    healthz = true, tls_profiles = true },
}

local releases = {
  features = { "healthz", "tls_profiles", "dcap_verifier" },
  layouts = { ["fs"] = true, ["kv-dash"] = true, ["kv"] = true },
  grammars = { G0 = true, G1 = true, G2 = true, G3 = true, G4 = true, G5 = true },
}

-- Whether text may name a release, and so a folder.
function releases.is_version(text)
  return text == "latest" or text:match("^v%d+%.%d+%.%d+$") ~= nil
end

function releases.of(version)
  if version == "latest" then return facts[#facts] end
  local found = facts[1]
  for _, row in ipairs(facts) do
    if semver.compare(version, row.from) >= 0 then found = row end
  end
  return found
end

-- less(a, b): older first, latest last.
function releases.less(a, b)
  if a == "latest" or b == "latest" then return b == "latest" and a ~= "latest" end
  return semver.compare(a, b) < 0
end

return releases
