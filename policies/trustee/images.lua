-- Which image a container runs: what the process was told, else what the instance's release says, else the constant.
local shipped = require("shipped")

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

-- The containers that a release may have an image for; an all-in-one instance runs the first.
images.containers = { "kbs", "as", "rvps" }

local function named(row, split)
  local its = row.images
  return { kbs = not split and its.kbs_all_in_one_image or its.kbs_image or "", as = its.as_image or "", rvps = its.rvps_image or "" }
end

-- of_release(row, split): what an instance of a release has on its KbsConfig, {kbs, as, rvps}: the catalogue's image, else the one that
-- is shipped for that very release, else ""; and the names of the containers whose image is a shipped one. `split`: of three
-- servers rather than one.
function images.of_release(row, split)
  local out, filled = named(row, split), {}
  if row.bare or (out.kbs ~= "" and out.as ~= "" and out.rvps ~= "") then return out, filled end
  local _, own = shipped.files()
  local theirs = own.rows[row.version]
  if not theirs then return out, filled end
  theirs = named(theirs, split)
  for _, container in ipairs(images.containers) do
    if out[container] == "" and theirs[container] ~= "" then
      out[container] = theirs[container]
      filled[#filled + 1] = container
    end
  end
  return out, filled
end

-- choose(container, annotations, environment): the image, the variable that overrides an annotation, or nil, and whether the image
-- is the constant.
function images.choose(container, annotations, environment)
  local rule = table_of[container]
  local told, noted = environment[rule.variable] or "", annotations[rule.annotation] or ""
  if told ~= "" then return told, noted ~= "" and noted ~= told and rule.variable or nil, false end
  if noted ~= "" then return noted, nil, false end
  return rule.constant, nil, true
end

-- The image of the init container, or nil: it was not said.
function images.converter(environment)
  local told = environment.OPERATOR_IMAGE_NAME or ""
  return told ~= "" and told or nil
end

-- In effect for an all-in-one instance whose KbsConfig has these annotations.
function images.effective(annotations, environment)
  local out = {}
  for _, container in ipairs(images.containers) do out[container] = images.choose(container, annotations, environment) end
  return out
end

images.annotation = annotation
return images
