-- Which image a container runs: what the process was told, else what the instance's release says, else the constant.
local images = {}

local annotation = "trustee-operator.confidentialcontainers.org/"

local table_of = {
  ["kbs"] = { variable = "KBS_IMAGE_NAME", annotation = annotation .. "kbs-image",
    constant = "ghcr.io/confidential-containers/key-broker-service:latest" },
  ["kbs-microservices"] = { variable = "KBS_IMAGE_NAME_MICROSERVICES", annotation = annotation .. "kbs-image",
    constant = "ghcr.io/confidential-containers/key-broker-service:latest" },
  ["as"] = { variable = "AS_IMAGE_NAME", annotation = annotation .. "as-image",
    constant = "ghcr.io/confidential-containers/attestation-service:latest" },
  ["rvps"] = { variable = "RVPS_IMAGE_NAME", annotation = annotation .. "rvps-image",
    constant = "ghcr.io/confidential-containers/reference-value-provider-service:latest" },
}

-- What an instance of a release has on its KbsConfig: {kbs, as, rvps}, each "" when the catalogue says nothing.
function images.of_release(row)
  local named = row.images
  return { kbs = named.kbs_all_in_one_image or named.kbs_image or "", as = named.as_image or "", rvps = named.rvps_image or "" }
end

-- choose(container, annotations, environment): the image, and the variable that overrides an annotation, or nil.
function images.choose(container, annotations, environment)
  local rule = table_of[container]
  local told, noted = environment[rule.variable] or "", annotations[rule.annotation] or ""
  if told ~= "" then return told, noted ~= "" and noted ~= told and rule.variable or nil end
  if noted ~= "" then return noted end
  return rule.constant
end

-- The image of the init container, or nil: nobody said it.
function images.converter(environment)
  local told = environment.OPERATOR_IMAGE_NAME or ""
  return told ~= "" and told or nil
end

-- In effect for an all-in-one instance whose KbsConfig has these annotations.
function images.effective(annotations, environment)
  local out = {}
  for _, container in ipairs({ "kbs", "as", "rvps" }) do out[container] = images.choose(container, annotations, environment) end
  return out
end

images.annotation = annotation
return images
