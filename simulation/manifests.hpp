#pragma once

#include <string>
#include <vector>

namespace simulation {

/// CRDs of deploy/crds as YAML texts, embedded when the program was built: of pools, of Trustee.
const std::vector<std::string>& crd_manifests();
const std::vector<std::string>& trustee_manifests();

}  // namespace simulation
