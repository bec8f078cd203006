#pragma once

#include <string>
#include <vector>

namespace simulation {

/// CRDs of deploy/crds as YAML texts, embedded when the program was built: of pools, of Trustee,
/// of what is said once at home.
const std::vector<std::string>& crd_manifests();
const std::vector<std::string>& trustee_manifests();
const std::vector<std::string>& fleet_manifests();

}  // namespace simulation
