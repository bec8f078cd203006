#pragma once

#include "k8s/sim/api_server.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench::hostile {

/// What the service meets while one stranger works on it: its home, a good member with the Tenant
/// default/t-0, another member, the repository of the chart `one`, and an OCI registry.
struct surroundings {
  k8s::sim::api_server &home, &good, &theirs, &repository, &registry;
  std::string repository_url;  // of the charts
  std::string elsewhere_url;   // another host, which no credential may reach
  /// Asked every 50 ms while the service runs; may be empty.
  std::function<void()> beat = {};
};

/// What a stranger holds: objects in a namespace of the good member, a whole member, the
/// repository, a chart or index in it, or a namespace of home that has a FleetGrant.
enum class stranger_kind { tenant, member, registry, chart, fleet_author };

struct stranger {
  std::string name;  // "an index that is never sent"
  stranger_kind holds;
  std::function<void(surroundings&)> begin;
  bool is_oci = false;  // the chart comes from the registry, in its highest version
};
const std::vector<stranger>& strangers();
std::size_t count_of(stranger_kind k);

/// What went wrong for others; empty: nothing. `seen_elsewhere` are the credentials that the other
/// host was shown.
std::string damage_to(const surroundings& all, const std::vector<std::string>& seen_elsewhere);

/// Objects that damage_to() looks for are there from the start.
void furnish(surroundings& all);

}  // namespace bench::hostile
