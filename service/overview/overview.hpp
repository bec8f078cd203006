#pragma once

#include "app/api/plan_row.hpp"
#include "app/listing.hpp"
#include "app/output.hpp"
#include "service/own_memory.hpp"
#include "service/service.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

using namespace app;

/// One API on one cluster.
struct api_overview {
  std::string name;
  units::words says;
  std::string state, last_error;
  std::vector<units::plan_row> rows;
};

struct cluster_overview {
  std::string name, server, state, last_error;
  std::vector<api_overview> apis;
  std::vector<std::pair<std::string, std::string>> labels = {};
};

/// What an API moves on all clusters together.
struct api_totals {
  units::words says;
  std::size_t units = 0, updated = 0, updating = 0, degraded = 0;
};

/// Nothing is waited for there: it has no such kind (CRDMissing), or another name of the same
/// cluster has the rows (Twin).
bool has_nothing(std::string_view cluster_state);

struct fleet_overview {
  std::vector<cluster_overview> clusters;
  std::vector<std::pair<std::string, api_totals>> apis;  // by name of the API, in its order
  std::size_t held = 0;
  std::vector<policies::pack_status> packs = {};  // that decided, as they are asked
  std::vector<refused_policy> refused = {};       // edits that the service at work does not take
  units::brake_order brake = {};
  std::vector<service_near_limit> near_limit = {};  // services whose memory is near its limit
};

/// Looks at every cluster of a service that was started in look mode; clusters that have not
/// answered by `deadline` are reported with their state and last error.
reactor::awaitable<fleet_overview> look_at(service& s, reactor::loop& l, std::string only_cluster,
                                           reactor::steady_time deadline);

/// Waits until every cluster has said what it is, or was waited for as long as it deserves; for who
/// looks at them afterwards.
reactor::awaitable<void> until_answered(service& s, reactor::loop& l, std::string only_cluster,
                                        reactor::steady_time deadline);
/// Counts again what the rows of all clusters come to: after some were taken out or looked at
/// again.
void sum_up(fleet_overview& f);

/// One cluster at this moment, nothing waited for; none when it has left.
reactor::awaitable<std::optional<cluster_overview>> look_at_cluster(service& s, std::string name);
/// A name of the fleet that there is no connection to.
cluster_overview overview_of(const service& s, const k8s::fleet::unusable& u);

/// {on, why, by, since, only, selector} and, where there is one, its problem.
boost::json::object brake_json(const units::brake_order& is);
/// {clusters: [{name, state, …, apis: {…}, pools: [{name, units: […], holds: […]}]}], nodes,
/// updated, updating, degraded, held}; "pools" and "nodes" are the API's words.
boost::json::object status_json(const fleet_overview& f);
/// One of its clusters.
boost::json::object status_cluster_json(const cluster_overview& c);
/// The same shape with `start` (the units that go next, in order), `actions`, and a hold for every
/// other unit.
boost::json::object plan_json(const fleet_overview& f);
/// How much a table shows: `wide` has more columns, and everything in one line.
enum class extent { usual, wide };
/// Tables and sentences of at most `columns`; wider names and reasons go on in the next line.
/// Of more than `rows` rows (0: any number) the troubled come first, and what holds units is said
/// once for the fleet.
page status_text(const fleet_overview& f, extent how, colours tint, std::size_t columns = any_width,
                 const list_request& asked = {}, std::size_t rows = 0);
/// Rows at rest are counted, where there are more than a few.
page plan_text(const fleet_overview& f, extent how, colours tint, std::size_t columns = any_width);
/// Why the unit waits; empty when no cluster has it. `unit` is "worker-3" or "prod/worker-3".
page explain_text(const fleet_overview& f, const std::string& unit, colours tint,
                  std::size_t columns = any_width);
boost::json::array explain_json(const fleet_overview& f, const std::string& unit);

/// The rows of one API on all clusters as objects, and the clusters that have none of it.
listing rows_listing(const fleet_overview& f, const std::string& api, const units::words& says,
                     extent how, colours tint);
/// Every row of every API as an object, and the clusters that have none.
listing all_rows(const fleet_overview& f);
/// What `explain` says of, as objects: nodes and pools of these names.
listing explained_listing(const fleet_overview& f, const std::vector<std::string>& names,
                          colours tint);
/// Keeps the rows and clusters that are asked for. Errors: a sentence, with the nearest names where
/// one is not there.
reactor::result<void, std::string> choose(fleet_overview& f, const list_request& asked);

/// The same as documents: FleetStatus, FleetPlan, Explanation {unit, found}.
boost::json::object status_document(const fleet_overview& f, const list_request& asked = {});
boost::json::object plan_document(const fleet_overview& f, const list_request& asked = {});
boost::json::object explain_document(const fleet_overview& f, std::string_view unit);

/// Every hold of the units as they are, with the cluster's name before the unit's.
std::vector<units::hold> holds_of(const fleet_overview& f);

}  // namespace cli
