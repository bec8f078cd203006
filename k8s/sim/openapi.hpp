#pragma once

#include "k8s/sim/api_server.hpp"
#include "k8s/sim/objects/catalogue.hpp"

namespace k8s::sim {

/// /openapi/v2 and /openapi/v3: as much as clients look at before they write (which kinds exist,
/// and that writes take fieldValidation and dryRun). Fields of built-in kinds are not described.
answer openapi(const request& r, const catalogue& kinds);

}  // namespace k8s::sim
