#pragma once

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

const k8s::resource& fleet_pools();

/// One revision as the status tells of it.
struct revision_record {
  std::int64_t revision = 0;
  std::string digest;        // of its content
  std::string ref;           // its image
  std::string image_digest;  // what a tag was found to name; empty: not known, or no tag
  std::string by, at;        // field manager; RFC 3339
  std::string outcome;       // "Rolling", "Complete", "Halted", "Returned", "Replaced"
  friend bool operator==(const revision_record&, const revision_record&) = default;
};
namespace outcome {
inline constexpr std::string_view rolling = "Rolling", complete = "Complete", halted = "Halted",
                                  returned = "Returned", replaced = "Replaced";
}

struct fleet_pool_status {
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
  friend bool operator==(const fleet_pool_status&, const fleet_pool_status&) = default;
};

/// FleetPool: a BootcNodePool for clusters by label, and how a change of it goes over them.
struct fleet_pool {
  /// A template of more is refused: it is written to every cluster.
  static constexpr std::size_t most_template_bytes = 64 * 1024;
  static constexpr std::int64_t most_history = 50;

  k8s::object_meta meta;
  std::string created;  // metadata.creationTimestamp
  cluster_choice clusters;
  std::string pool_name;      // on members
  std::string template_json;  // {"metadata": {"labels", "annotations"}, "spec"}, without spec.image
  std::string image_ref;
  bool follows_tag = true;  // image.updates: Auto
  rollout_settings rollout;
  bool paused = false, removes = false;  // removal: Delete
  std::int64_t history_limit = 10;
  std::string problem;  // of its own fields, beside those of `clusters` and `rollout`
  fleet_pool_status status;

  static fleet_pool parse(k8s::wire_value object);
  /// Why nothing is done about it; empty: it can be processed as written.
  const std::string& spec_problem() const noexcept;
  /// "FleetPool/NAMESPACE/NAME"
  std::string mark() const;
  /// Whether a person lets it take over what is there on that cluster.
  bool adopts_on(std::string_view cluster) const;
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const fleet_pool&, const fleet_pool&) = default;
};

/// The whole status, for a merge patch that replaces it; what is unset is null.
boost::json::object to_json(const fleet_pool_status& s);

}  // namespace fleetwide
