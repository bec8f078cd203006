#pragma once

#include "fleetwide/kinds/chart_spec.hpp"
#include "fleetwide/kinds/choice.hpp"
#include "fleetwide/kinds/rollout.hpp"
#include "k8s/client/condition.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/meta.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fleetwide {

/// One revision as the status tells of it.
struct revision_record {
  std::int64_t revision = 0;
  std::string digest;        // of its content
  std::string ref;           // its image or chart
  std::string image_digest;  // what a tag or a range was found to be; empty: not known, or neither
  std::string signed_by;     // of a chart whose signature is checked
  std::string by, at;        // field manager; RFC 3339
  std::string outcome;       // "Rolling", "Complete", "Halted", "Returned", "Replaced"
  friend bool operator==(const revision_record&, const revision_record&) = default;
};
namespace outcome {
inline constexpr std::string_view rolling = "Rolling", complete = "Complete", halted = "Halted",
                                  returned = "Returned", replaced = "Replaced";
}

struct fleet_status {
  std::int64_t observed_generation = 0;
  std::int64_t revision = 0;
  std::string digest;            // of the revision that is asked for
  std::string proven_digest;     // of the newest that finished its waves; empty: none did
  std::string failed_digest;     // of one that members went back from
  std::string retried;           // the request to try again that was acted upon
  std::string available_digest;  // what the tag names by now and no person has approved
  std::string wave;              // that is under way; empty: none is
  std::int64_t clusters = 0, ready = 0, moving = 0, failed = 0, waiting = 0;
  std::map<std::string, std::int64_t> held;  // clusters that wait, by code
  std::vector<revision_record> history;      // oldest first
  std::vector<k8s::condition> conditions;
  friend bool operator==(const fleet_status&, const fleet_status&) = default;
};

/// What every kind that is said once at home has: for which clusters, what they get, and how a
/// change of it goes over them.
struct fleet_object {
  static constexpr std::int64_t most_history = 50;

  std::string_view kind;  // "FleetPool"
  k8s::object_meta meta;
  std::string created;  // metadata.creationTimestamp
  cluster_choice clusters;
  std::string claim;          // what it is on members: the pool's name, or "NAMESPACE/RELEASE"
  std::string template_json;  // what a revision keeps of it
  std::string ref;            // its image, or "REPOSITORY/NAME:VERSION" of its chart
  bool follows_tag = true;    // of a pool: image.updates: Auto
  chart_spec chart;           // of a chart
  rollout_settings rollout;
  bool paused = false, removes = false;  // removes: what a cluster had goes with its choice
  std::int64_t history_limit = 10;
  std::string problem;  // of its own fields, beside those of `clusters` and `rollout`
  fleet_status status;

  /// Why nothing is done about it; empty: it can be processed as written.
  const std::string& spec_problem() const noexcept;
  /// "FleetPool/NAMESPACE/NAME"
  std::string mark() const;
  /// Whether a person lets it take over what is there on that cluster.
  bool adopts_on(std::string_view cluster) const;
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const fleet_object&, const fleet_object&) = default;
};

/// What all kinds have in their spec and status.
void read_common(fleet_object& into, k8s::wire_value object);
/// Notes the first thing that is wrong.
void note_problem(fleet_object& of, std::string why);
/// The whole status, for a merge patch that replaces it; what is unset is null.
boost::json::object to_json(const fleet_status& s);

}  // namespace fleetwide
