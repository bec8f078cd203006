#pragma once

#include "k8s/sim/objects/failure.hpp"
#include "k8s/sim/objects/json.hpp"

namespace k8s {
class merge_type;
}

namespace k8s::sim {

/// RFC 6902. Errors: 422 as the API server words them; a failing test is one too.
outcome<json::value> json_patch(json::value target, const json::array& operations);
/// Kubernetes' strategic merge (k8s/merge/strategic_merge.hpp), its refusals as the API server
/// words them.
outcome<json::value> strategic_patch(json::value target, const json::value& patch,
                                     const merge_type& of);

/// A patched document may be deeper than either part; past what a body may be it is refused.
bool too_deep(const json::value& v);

}  // namespace k8s::sim
