#pragma once

#include "k8s/informer/meta.hpp"
#include "policies/host/hook.hpp"
#include "policies/host/host.hpp"
#include "policies/rollout.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace policies {

/// Where the chart of a FleetChart comes from, as its spec names it.
struct fleet_chart_source {
  std::string repository, name, version;
};

/// A FleetChart as `fleet.values` sees it. Nothing of it comes from a Secret.
struct fleet_chart_facts {
  std::string kind, ns, name;           // "FleetChart"
  k8s::string_map labels, annotations;  // of the object; annotations of fleet.windlass.dev
  fleet_chart_source chart;
  std::string release, target_namespace;
  std::map<std::string, std::map<std::string, std::string>> config;  // ConfigMap, key, text
  value::object values;  // merged so far: those of ConfigMaps, then the object's own
};

/// The cluster that the values are for.
struct fleet_chart_cluster {
  std::string name;
  k8s::string_map cluster_labels;  // of its Secret at home
  std::string kubernetes;          // the version of its API servers; empty: unknown
};

struct chart_values_question {
  fleet_chart_facts object;
  fleet_chart_cluster cluster;
};

struct chart_values_answer {
  std::string pack, version;
  std::optional<rollout_hold> hold;  // the chart waits on this cluster
  value values;  // an object to merge over the values that the question has; null: none
};

inline constexpr std::size_t longest_chart_values = 256 * 1024;  // bytes of JSON

/// Asks the pack that applies which values the chart has on one cluster.
/// Errors   as host::call; errc::malformed names the place in the answer. A fault means that the
///          cluster keeps the release that it has; its message is the hold's reason.
reactor::awaitable<reactor::result<chart_values_answer>> ask_values(
    host& packs, subject s, std::shared_ptr<const chart_values_question> question,
    reactor::wall_time now);

/// The part of it that looks at the answer.
reactor::result<chart_values_answer> read_chart_values(const value& answer);

hook fleet_values_hook();

}  // namespace policies
