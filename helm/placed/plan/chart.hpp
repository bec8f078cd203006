#pragma once

#include "helm/placed/plan/fingerprint.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace helm {
class prepared_chart;
}

namespace helm::placed {

/// Why a chart cannot be had.
struct chart_problem {
  enum class kind : std::uint8_t {
    not_loaded,         // index or archive cannot be had or read, or the chart is unknown
    version_not_found,  // the chart is there and this version is not
  };
  kind is = kind::not_loaded;
  std::string text;
  friend bool operator==(const chart_problem&, const chart_problem&) = default;
};

/// A chart that was asked for, or why there is none.
struct supplied_chart {
  std::shared_ptr<prepared_chart> chart;  // null: see `why`
  chart_problem why;
  std::string version, digest;  // of the chart itself, and "sha256:…" of its archive
};

/// What every cluster is to have, or, where versions.resolve answers, what this Tenant is to have
/// on this one.
struct desired_release {
  chart_coordinates chart;
  std::string fingerprint;
  std::string values;           // values_digest()
  std::string version_problem;  // of chart_version; empty = none
  friend bool operator==(const desired_release&, const desired_release&) = default;
};

/// What is known of the chart by now. It is asked for only by a plan that needs it, and a failure
/// counts while it is waited after it (`retry_in`).
struct chart_facts {
  enum class state : std::uint8_t { unasked, loading, loaded, not_loaded, version_not_found };
  state is = state::unasked;
  std::string problem;
  friend bool operator==(const chart_facts&, const chart_facts&) = default;
};

}  // namespace helm::placed
