-- What is known of Trustee's releases by their number, for catalogues that do not say it themselves. A row is in force from its
-- release on, up to the next. The last is what `latest` means.
--   dialect   of the attestation policies: which names evidence has, how reference values are looked up
--   token     how a token names the parts of a client: "none", "cpu", "cpu0"
local facts = {
  { from = "v0.10.0", layout = "fs", grammar = "G0", dialect = "signed-word", token = "none", file_id = "default" },
  { from = "v0.11.0", layout = "fs", grammar = "G1", dialect = "data", token = "cpu", file_id = "default" },
  { from = "v0.14.0", layout = "fs", grammar = "G1", dialect = "data-azure", token = "cpu0", file_id = "default_cpu" },
  { from = "v0.16.0", layout = "fs", grammar = "G2", dialect = "query", token = "cpu0", file_id = "default_cpu" },
  { from = "v0.17.0", layout = "fs", grammar = "G2", dialect = "query-claims", token = "cpu0", file_id = "default_cpu" },
  { from = "v0.18.0", layout = "fs", grammar = "G2", dialect = "query-claims", token = "cpu0", file_id = "default_cpu", dcap_verifier = true },
  { from = "v0.19.0", layout = "kv-dash", grammar = "G3", dialect = "query-claims", token = "cpu0", file_id = "default_cpu",
    dcap_verifier = true },
  { from = "v0.20.0", layout = "kv", grammar = "G4", dialect = "query-dashes", token = "cpu0", file_id = "default_cpu", dcap_verifier = true },
  { from = "v0.21.0", layout = "kv", grammar = "G5", dialect = "query-dashes", token = "cpu0", file_id = "default_cpu", dcap_verifier = true,
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
