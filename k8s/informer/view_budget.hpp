#pragma once

#include <cstddef>

namespace k8s {

/// What one collection may take of the process, whatever its server says. Bytes are counted as if
/// nothing was shared: the view itself and every text that its parser read. Defaults: Kubernetes is
/// tested up to 5,000 nodes and 150,000 pods a cluster; a pod's view counts as 1.5 KB.
struct store_budget {
  std::size_t most_objects = 200'000;
  std::size_t most_bytes = 256 * 1024 * 1024;
  friend bool operator==(const store_budget&, const store_budget&) = default;
};

/// What all collections of one cluster take together, shared by their stores.
struct view_budget {
  std::size_t most_bytes = 512 * 1024 * 1024;
  std::size_t bytes = 0;
};

}  // namespace k8s
