#pragma once

#include <string>

namespace k8s {

/// A self-signed certificate and its key, made on the spot.
struct pem_pair {
  std::string certificate, key;
};
/// Validity counts in days from `base` (seconds since the epoch).
pem_pair make_pem_pair(const std::string& name, long base, int valid_from_day, int valid_to_day);

}  // namespace k8s
