#pragma once

#include "fleetwide/kinds/choice.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/meta.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fleetwide {

const k8s::resource& fleet_grants();

/// FleetGrant: what objects in other namespaces of home may reach. It counts in the operator's own
/// namespace alone.
struct fleet_grant {
  k8s::object_meta meta;
  std::vector<std::string> namespaces;  // at home, whose objects it is for
  std::vector<std::string> kinds;
  std::vector<std::string> target_namespaces;  // on members, of FleetCharts; "*": any
  cluster_choice clusters;

  static fleet_grant parse(k8s::wire_value object);
  bool is_for(std::string_view ns, std::string_view kind) const;
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const fleet_grant&, const fleet_grant&) = default;
};

}  // namespace fleetwide
