#pragma once

#include "fleetwide/kinds/chart_spec.hpp"
#include "fleetwide/kinds/fleet_object.hpp"
#include "fleetwide/kinds/revision.hpp"
#include "helm/go.hpp"
#include "helm/placed/plan/fingerprint.hpp"
#include "k8s/informer/meta.hpp"
#include "policies/host/value.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fleetwide {

/// Texts of ConfigMaps or Secrets: by the object's name, then by key.
using object_texts = std::map<std::string, std::map<std::string, std::string>>;

/// What one revision of a FleetChart asks for: its spec, the ConfigMaps as they were, and the
/// version that its range was found to be.
struct chart_content {
  chart_spec spec;
  object_texts config_maps;
  std::string version, digest;  // of the chart; digest: "sha256:…" of its archive
  std::string keys;             // "sha256:…" of the keyring that its signature was checked with

  helm::placed::chart_coordinates coordinates() const {
    return {spec.repository, spec.name, version};
  }
  static chart_content parse(const revision_content& c);
};

/// A chart as it was found.
struct found_version {
  std::string version, digest, keys;  // as in chart_content
};

/// What a revision keeps: the spec, the ConfigMaps' texts that it may use, and the versions of its
/// Secrets, whose texts are never kept.
revision_content revision_of(const fleet_object& p, const object_texts& config_maps,
                             const std::map<std::string, std::string>& secret_versions,
                             const found_version& is);

/// Values for one cluster, or why there are none.
struct cluster_values {
  helm::value values;  // a map
  std::string problem;
};
/// ConfigMaps in the order of valuesFrom, then spec.values. Pure.
cluster_values values_before_policy(const chart_content& c, const k8s::string_map& labels);
/// The values as a policy sees them, and what it says as values.
policies::value::object values_for_policy(const helm::value& values);
helm::value values_of_policy(const policies::value& said);
/// Over these what a policy said, then Secrets in the order of valuesFrom. Pure.
cluster_values with_secrets(cluster_values before, const helm::value* policy,
                            const chart_content& c, const object_texts& secrets,
                            const k8s::string_map& labels);
/// The keys that the cluster's labels choose: clusters with the same ones have the same values.
std::string chosen_keys(const chart_content& c, const k8s::string_map& labels);

/// Values for people and programs.
struct shown_values {
  std::string yaml, json, problem;  // problem: why there are none
};
shown_values shown(const cluster_values& of);

/// Tells what a cluster is to have from anything else: chart, its digest, place and values.
std::string digest_of(const chart_content& c, const helm::value& values);

}  // namespace fleetwide
