#pragma once

#include "k8s/client/wire.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fleetwide {

/// "3", or "10%" of so many clusters. A share of the clusters that may move is rounded up, one of
/// those that may fail down.
struct share {
  std::size_t value = 1;
  bool is_percent = false;
  std::size_t up(std::size_t of) const noexcept;
  std::size_t down(std::size_t of) const noexcept;
  friend bool operator==(const share&, const share&) = default;
};

/// How a new revision goes over the clusters.
struct rollout_settings {
  std::string wave_label;          // empty: all are one wave
  std::vector<std::string> waves;  // values of that label in their order; all others come last
  share max_clusters{1, false};
  share max_failures{0, false};
  reactor::nanoseconds soak{};
  bool goes_back = false;  // onFailure: Return
  std::string problem;     // why it cannot be processed as written; empty: it can

  static rollout_settings parse(k8s::wire_value v);
  /// The wave of a cluster whose label has this value.
  std::size_t wave_of(std::string_view value) const;
  std::string wave_name(std::size_t wave) const;
  std::size_t wave_count() const noexcept { return waves.size() + 1; }
  friend bool operator==(const rollout_settings&, const rollout_settings&) = default;
};

}  // namespace fleetwide
