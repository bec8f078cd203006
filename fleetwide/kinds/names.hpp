#pragma once

#include <string_view>

/// Every name of the kinds that are said once at home, and what they leave on members.
namespace fleetwide::names {

inline constexpr std::string_view group = "fleet.windlass.dev", version = "v1alpha1",
                                  api_version = "fleet.windlass.dev/v1alpha1";
inline constexpr std::string_view fleet_pool = "FleetPool", fleet_chart = "FleetChart";
/// Who writes at home, and on members by server-side apply.
inline constexpr std::string_view field_manager = "windlass-fleet";

/// Finalizer at home: what members have is let go before the object goes.
inline constexpr std::string_view cleanup = "fleet.windlass.dev/cleanup";

/// Annotations at home, by a person: the clusters ("eu-1,eu-2", or "*") on which an object that is
/// there already is taken over; the time at which a revision that failed was asked to be tried
/// again; the digest that a tag with manual updates moves to.
inline constexpr std::string_view adopt = "fleet.windlass.dev/adopt",
                                  retry = "fleet.windlass.dev/retry",
                                  approve = "fleet.windlass.dev/approve-digest";
inline constexpr std::string_view all_clusters = "*";

/// Annotations on a member's object: "FleetPool/NAMESPACE/NAME" and the UID of what it comes from;
/// number and digest of the revision; when that was written (RFC 3339).
inline constexpr std::string_view object = "windlass.dev/fleet-object",
                                  uid = "windlass.dev/fleet-uid",
                                  revision = "windlass.dev/fleet-revision",
                                  digest = "windlass.dev/fleet-digest",
                                  since = "windlass.dev/fleet-since";

/// Labels of the ControllerRevisions at home: that they are ours, and the UID of their object.
inline constexpr std::string_view revision_of = "fleet.windlass.dev/revision-of";

}  // namespace fleetwide::names
