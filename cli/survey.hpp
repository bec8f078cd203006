#pragma once

#include "bootc/rollout_plan.hpp"
#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/service.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

struct pool_survey {
  std::string name, target_digest;
  bootc::rollout_plan now;       // what the next pass does and why each unit waits
  bootc::rollout_plan forecast;  // the same once every node has the image: who goes first
};

struct cluster_survey {
  std::string name, server, state, last_error;
  std::vector<pool_survey> pools;
};

struct fleet_survey {
  std::vector<cluster_survey> clusters;
  std::size_t nodes = 0, updated = 0, updating = 0, degraded = 0, held = 0;
};

/// Looks at every cluster of a service that was started in look mode; clusters that have not answered by `deadline` are
/// reported with their state and last error.
reactor::awaitable<fleet_survey> look_at(service& s, reactor::loop& l, std::string only_cluster,
                                         reactor::steady_time deadline);

/// {clusters: [{name, state, …, pools: [{name, units: […], holds: […]}]}], nodes, updated, updating, degraded, held}
boost::json::object status_json(const fleet_survey& f);
/// The same shape with `start` (the nodes that go next, in order), `actions`, and a hold for every other node.
boost::json::object plan_json(const fleet_survey& f);
page status_text(const fleet_survey& f, bool wide, bool lively);
page plan_text(const fleet_survey& f, bool wide, bool lively);
/// Why the unit waits; empty when no cluster has it. `unit` is "node" or "cluster/node".
page explain_text(const fleet_survey& f, const std::string& unit, bool lively);
boost::json::array explain_json(const fleet_survey& f, const std::string& unit);

}  // namespace cli
