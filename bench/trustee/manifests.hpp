#pragma once

#include <string>
#include <vector>

namespace bench {

/// The CRDs of deploy/crds/trustee as YAML texts, embedded when the program was built.
const std::vector<std::string>& trustee_manifests();

}  // namespace bench
