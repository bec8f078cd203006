#pragma once

#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/objects/kind.hpp"

namespace reactor {
class entropy;
}

namespace k8s::sim {

/// What the server gives an object that its author left open: a Service's addresses and node ports,
/// a Job's selector. `before` is the stored object of an update, whose allocations stay, or null.
/// Such fields get no manager.
void allocate(const kind_info& kind, const json::object* before, json::object& o,
              reactor::entropy& rng);

}  // namespace k8s::sim
