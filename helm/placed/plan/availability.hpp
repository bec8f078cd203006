#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace helm::placed {

/// One workload of a namespace: how many of it are to be available, and are.
struct workload_facts {
  std::string kind, name;
  std::int64_t available = 0, wanted = 1;
  friend bool operator==(const workload_facts&, const workload_facts&) = default;
};

/// Whether all are there; `message` lists those that are not: "Deployment/web (0/2 available)", of
/// many the first 20.
struct availability {
  bool ready = true;
  std::string message;
  friend bool operator==(const availability&, const availability&) = default;
};
/// None at all are available.
availability judge(const std::vector<workload_facts>& all);
/// Where they cannot be listed.
availability not_listed(const std::string& cause);

}  // namespace helm::placed
