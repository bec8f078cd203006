-- The files that a release may bring, by what they are for. The name in use now stands first.
return {
  ["kbs-permissive"] = { "kbs-config-permissive.toml" },
  ["kbs-restricted"] = { "kbs-config-restricted.toml" },
  ["cpu-policy"] = { "ear_default_attestation_policy_cpu.rego", "attestation-policy.rego" },
  ["gpu-policy"] = { "ear_default_attestation_policy_gpu.rego" },
  ["resource-permissive"] = { "resource-policy-permissive.rego" },
  ["resource-restricted"] = { "resource-policy-restrictive.rego" },
  ["resource-ibm"] = { "resource-policy-ibm.rego" },
  ["reference-values"] = { "rvps-reference-values.json" },
  ["tdx-config"] = { "tdx-config.json" },
}
