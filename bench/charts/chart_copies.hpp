#pragma once

#include <cstddef>

namespace k8s::sim {
class api_server;
}

namespace bench {

/// Puts onto `to` what the releases of FleetCharts left on `from`: their namespaces and objects,
/// Helm's records, and the notes, which name the records' versions on `to`. A service confirms
/// them as it confirms what it installed itself.
/// Returns how many records were copied.
std::size_t copy_releases(const k8s::sim::api_server& from, k8s::sim::api_server& to);

}  // namespace bench
