#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simulation {

struct skew_outcome {
  std::vector<std::string> violations;
  std::size_t reboots = 0;
  std::size_t held = 0;      // nodes that were held by version-skew at the end of a release
  std::string wrongly_held;  // why a node waits 20 minutes later, where no rule is broken; or empty
};

/// A cluster of control planes and workers in two pools, which releases move, some of them beyond
/// the rules; some are named by a label, some by what a node says.
skew_outcome run_skewed(std::uint64_t seed);

struct lie_outcome {
  std::string reason;  // of the pool's condition Degraded
  std::size_t nodes = 0, went = 0, on_old = 0;
  bool is_told = false;
};

struct gated_outcome {
  std::string says;   // the hold of a control-plane node, as the service at work noted it
  std::string shown;  // the same, as a command in another process shows it
  std::size_t planes = 0, went_before = 0, went_after = 0;
};

/// Control planes are to move from 1.24 to 1.25 while a release still has a PodSecurityPolicy, with
/// --gate-removed-apis. After an hour the release is deleted, unless a waiver covers it.
gated_outcome run_gated(const std::string& waivers);

struct fleet_gated_outcome {
  std::string says;    // the hold of a control-plane node
  std::string status;  // what `windlass pool status` prints
  std::string held;    // status.held of the FleetPool
  std::size_t planes = 0, went_before = 0, went_after = 0;
};

/// The same with a pool that a FleetPool asks for.
fleet_gated_outcome run_fleet_gated();

struct kubeadm_outcome {
  std::string says;  // the hold of a control-plane node before kubeadm
  std::vector<std::string> violations;
  std::size_t planes = 0, went_before = 0, went_after = 0;
};

/// Control planes whose API servers are static pods are to move to an image with a newer kubelet;
/// after an hour kubeadm brings the pods to that minor, one after the other.
kubeadm_outcome run_kubeadm(std::uint64_t seed);

/// A label names another minor than the image has.
lie_outcome run_lie(std::uint64_t seed);

}  // namespace simulation
