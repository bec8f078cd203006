#pragma once

#include "k8s/client/wire.hpp"
#include "k8s/informer/meta.hpp"
#include "k8s/informer/selector.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fleetwide {

/// Which clusters of the fleet are meant: those whose Secret the selector matches, and those that
/// are named. Without either none is.
struct cluster_choice {
  k8s::label_selector selector = k8s::label_selector::nothing();
  std::vector<std::string> names;  // sorted
  std::string problem;             // why it cannot be read; empty: it can

  static cluster_choice parse(k8s::wire_value v);
  bool has_name(std::string_view cluster) const;
  bool chooses(std::string_view cluster, const k8s::string_map& labels) const;
  friend bool operator==(const cluster_choice&, const cluster_choice&) = default;
};

}  // namespace fleetwide
