#pragma once

#include "app/api/api.hpp"
#include "fleetwide/kinds/fleet_object.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class cluster;
}

namespace fleetwide {

inline constexpr std::string_view pools_api = "fleetpools";  // --apis, Lease, /clusters

struct settings {
  std::string ns = "default";              // the operator's own namespace at home
  std::vector<fleet_object> assumed = {};  // of who only looks
};

class fleet_home;

/// Pools that are said once at home for clusters by label.
units::api pools(settings s = {});

/// Gives it settings, assumed objects among them.
void set_up(units::api& to, settings s);
/// What it has at home; null while it is not there.
fleet_home* at_home(k8s::cluster& home) noexcept;

}  // namespace fleetwide
