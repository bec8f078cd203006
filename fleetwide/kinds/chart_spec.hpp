#pragma once

#include "k8s/client/wire.hpp"
#include "k8s/informer/meta.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetwide {

/// One of spec.valuesFrom: a key of a ConfigMap or Secret beside the FleetChart.
struct values_source {
  bool is_secret = false;
  std::string name, key;  // key: may have placeholders, "values-{region}.yaml"
  bool is_optional = false;

  /// The key for a cluster with these labels; none: it lacks one of them.
  std::optional<std::string> key_for(const k8s::string_map& labels) const;
  friend bool operator==(const values_source&, const values_source&) = default;
};

/// spec.chart.provenance.keysFrom: a key of a ConfigMap beside the FleetChart that has the public
/// keys of which one must have signed the chart.
struct keyring_source {
  std::string name, key;  // name: empty where no signature is asked for
  friend bool operator==(const keyring_source&, const keyring_source&) = default;
};

/// What a FleetChart asks for on each cluster. The same members are in a revision of it, without
/// those that say how it is kept.
struct chart_spec {
  static constexpr std::size_t most_bytes = 256 * 1024, most_sources = 32, most_dependencies = 32;

  std::string repository, name, version, digest;  // version: exact, a range, or empty
  keyring_source keys;
  std::string ns, release;
  std::string values_json;  // spec.values; empty: none
  std::vector<values_source> sources;
  bool by_policy = false;  // the hook fleet.values is asked

  // How it is kept.
  std::vector<std::string> depends_on;  // FleetCharts of the same namespace
  enum class on_drift : std::uint8_t { report, repair, ignore } drift = on_drift::report;
  bool tests = false, atomic = false;
  reactor::nanoseconds timeout = std::chrono::minutes(5);

  /// Of a spec, or of a revision's template; `object` names the release where nothing does.
  static chart_spec parse(k8s::wire_value v, std::string_view object, std::string& problem);
  /// What a revision keeps of it: JSON with sorted members.
  std::string content_json() const;
  /// "https://charts.example.com/web:1.x"
  std::string reference() const;
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const chart_spec&, const chart_spec&) = default;
};

}  // namespace fleetwide
