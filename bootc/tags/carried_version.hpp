#pragma once

#include <string>

namespace bootc {

/// Which Kubernetes an image is said to carry.
struct carried_version {
  std::string version;     // as it was written; empty: it is not known
  std::string by;          // "label io.kubernetes.version", "node-01 of prod-eu, which runs it"
  bool is_asking = false;  // the registry has not answered yet
  friend bool operator==(const carried_version&, const carried_version&) = default;
};

}  // namespace bootc
