// The one place where the commands name what they move: an API is plugged in by its line here
// (docs/internals/extending.md).
#include "cli/apis.hpp"

#include "bootc/api.hpp"
#include "compose/api.hpp"
#include "fleetwide/api.hpp"
#include "fleetwide/charts/api.hpp"
#include "helm/tenants/api.hpp"
#include "helm/tenants/home/deployments_api.hpp"
#include "helm/upgrades/gated_api.hpp"
#include "releases/api.hpp"

namespace cli {

std::vector<units::api> apis() {
  return {
      helm::upgrades::gated(bootc::api()),
      ::releases::api(),
      ::compose::api(),
      fleetwide::pools(),
      fleetwide::charts(),
      helm::tenants::api(),
      helm::tenants::deployments(),
  };
}

policies::shared_hooks all_hooks() {
  static const policies::shared_hooks all = units::hooks_of(apis());
  return all;
}

service_options with_all_apis() {
  service_options o;
  o.apis = apis();
  o.hooks = all_hooks();
  return o;
}

}  // namespace cli
