#pragma once

#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"

namespace fleetwide {

class fleet_members;

/// The FleetPools at home.
class pool_home final : public fleet_home_of<fleet_pool> {
public:
  pool_home(k8s::engagement& on, options o);
  void describe(boost::json::object& entry) const override;

private:
  revision_content content_wanted(const fleet_object& p) const override;
  member_sight sight_on(fleet_look& at, member m, member_part* part) override;
  std::string digest_on(member_part& part, const fleet_object& p) const override;
  void see_tags(fleet_look& at) const override;
  awaitable<void> carry_out(deed_order d) override;
  fleet_members* pools_on(const std::string& cluster) const;
};

}  // namespace fleetwide
