#pragma once

#include "app/api/api.hpp"

#include <string>
#include <string_view>

namespace k8s {
class cluster;
}

namespace fleetwide {

inline constexpr std::string_view pools_api = "fleetpools";  // --apis, Lease, /clusters
inline constexpr std::string_view pools_command = "pool";    // windlass pool

struct settings {
  std::string ns = "default";  // the operator's own namespace at home
};

class fleet_home;

/// Pools that are said once at home for clusters by label.
units::api pools(settings s = {});

/// Gives it settings.
void set_up(units::api& to, settings s);
/// What it has at home; null while it is not there.
fleet_home* at_home(k8s::cluster& home) noexcept;

}  // namespace fleetwide
