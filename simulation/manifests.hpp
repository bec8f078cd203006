#pragma once

#include <string>
#include <vector>

namespace simulation {

/// The CRDs of deploy/crds as YAML texts, embedded when the program was built.
const std::vector<std::string>& crd_manifests();

}  // namespace simulation
