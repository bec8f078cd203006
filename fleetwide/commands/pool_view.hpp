#pragma once

#include "app/listing.hpp"
#include "app/output.hpp"
#include "fleetwide/fleet_home.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// A row for each FleetPool.
listing pools_listing(const std::vector<fleetwide::fleet_look>& all, colours tint);

/// One with a line for each cluster: what it has, and why it waits.
page pool_status_text(const fleetwide::fleet_look& at, colours tint, std::size_t columns);
boost::json::object pool_json(const fleetwide::fleet_look& at);

/// What the next pass writes, and why every other cluster waits then.
page pool_plan_text(const fleetwide::fleet_look& at, colours tint, std::size_t columns);

page pool_history_text(const fleetwide::fleet_look& at, std::size_t columns);
boost::json::object pool_history_document(const fleetwide::fleet_look& at);

/// One field that another content has otherwise; an absent one is empty.
struct field_change {
  std::string path, from, to;
  friend bool operator==(const field_change&, const field_change&) = default;
};
/// By path. Pure.
std::vector<field_change> changes_between(const fleetwide::revision_content& from,
                                          const fleetwide::revision_content& to);
/// What the clusters would get otherwise than they have: one group for all that have the same
/// revision.
struct pool_difference {
  std::string has;  // a digest; empty: no pool of ours
  std::vector<std::string> clusters;
  std::vector<field_change> changes;
};
page pool_diff_text(const fleetwide::fleet_look& at, const std::vector<pool_difference>& all,
                    std::size_t columns);
boost::json::object pool_diff_document(const fleetwide::fleet_look& at,
                                       const std::vector<pool_difference>& all);

}  // namespace cli
