#pragma once

#include "app/listing.hpp"
#include "app/output.hpp"
#include "fleetwide/commands/object_arguments.hpp"
#include "fleetwide/fleet_home.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// A row for each object.
listing objects_listing(const fleet_kind& kind, const std::vector<fleetwide::fleet_look>& all,
                        colours tint);

/// One with a line for each cluster: what it has, and why it waits.
page object_status_text(const fleet_kind& kind, const fleetwide::fleet_look& at, colours tint,
                        std::size_t columns);
boost::json::object object_json(const fleet_kind& kind, const fleetwide::fleet_look& at);

/// What the next pass writes, and why every other cluster waits then.
page object_plan_text(const fleet_kind& kind, const fleetwide::fleet_look& at, colours tint,
                      std::size_t columns);

page object_history_text(const fleet_kind& kind, const fleetwide::fleet_look& at,
                         std::size_t columns);
boost::json::object object_history_document(const fleet_kind& kind,
                                            const fleetwide::fleet_look& at);

/// One field that another content has otherwise; an absent one is empty.
struct field_change {
  std::string path, from, to;
  friend bool operator==(const field_change&, const field_change&) = default;
};
/// By path. Pure.
std::vector<field_change> changes_between(const fleet_kind& kind,
                                          const fleetwide::revision_content& from,
                                          const fleetwide::revision_content& to);
/// What the clusters would get otherwise than they have: one group for all that have the same
/// revision.
struct object_difference {
  std::string has;  // a digest; empty: nothing of ours
  std::vector<std::string> clusters;
  std::vector<field_change> changes;
};
page object_diff_text(const fleet_kind& kind, const fleetwide::fleet_look& at,
                      const std::vector<object_difference>& all, std::size_t columns);
boost::json::object object_diff_document(const fleet_kind& kind, const fleetwide::fleet_look& at,
                                         const std::vector<object_difference>& all);

}  // namespace cli
