#pragma once

#include "app/api/api.hpp"
#include "helm/tenants/api.hpp"

#include <string>
#include <string_view>

namespace k8s {
class cluster;
}

namespace fleetwide {

class chart_home;

inline constexpr std::string_view charts_api = "fleetcharts";  // --apis, Lease, /clusters
inline constexpr std::string_view charts_command = "chart";    // windlass chart

struct chart_settings {
  std::string ns = "default";             // the operator's own namespace at home
  helm::tenants::api_settings helm = {};  // of repositories, records and operations
};

/// Charts that are said once at home for clusters by label.
units::api charts(chart_settings s = {});
/// Gives it settings.
void set_up(units::api& to, chart_settings s);
/// What it has at home; null while it is not there.
chart_home* charts_at_home(k8s::cluster& home) noexcept;

}  // namespace fleetwide
