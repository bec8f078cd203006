#pragma once

#include <cstddef>

namespace bench {

/// More descriptors than the shell's usual thousand: one for each stream.
void allow_many_descriptors();

/// A sender process whose API servers, one below each first part of a path ("/c12"), have `objects`
/// Nodes, Pods, Secrets, Leases and DaemonSets, and where nothing ever happens: watches get a
/// bookmark a minute, as those of kube-apiserver do. GET /requests answers how many requests came
/// so far; POST /c12/deaf makes that server silent for good, its connections staying open.
int run_quiet_sender(std::size_t objects);

}  // namespace bench
