#pragma once

#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bootc {

/// A pod of the daemon.
struct daemon_pod {
  std::string name, node, uid;
  std::string revision;  // of the DaemonSet's template, as its controller notes it on the pod
  bool ready = false, leaving = false;
  reactor::wall_time ready_since{};  // by its node's clock, which tells one time from another only
  /// Since this process saw it, and saw it ready: the clocks of nodes and servers may be wrong.
  reactor::nanoseconds seen_for{}, ready_for{};
  friend bool operator==(const daemon_pod&, const daemon_pod&) = default;
};

/// A DaemonSet of the daemon whose pods are replaced by us (updateStrategy OnDelete).
struct wave_facts {
  std::string newest;      // the revision that every pod should be of
  std::size_t wanted = 0;  // nodes that should have a pod
  std::vector<daemon_pod> pods;
  /// By node: why its daemon is left alone now ("holds a slot").
  std::map<std::string, std::string> busy;
  /// Nodes whose kubelet says nothing: their pods neither come nor go.
  std::set<std::string> silent;
};

struct wave_plan {
  std::vector<daemon_pod> replace;
  std::size_t updated = 0, older = 0;
  std::string waits;    // for what; empty: there is something to replace, or nothing is left
  bool halted = false;  // what `waits` names does not pass by itself
  friend bool operator==(const wave_plan&, const wave_plan&) = default;
};

/// A new pod counts once it has been ready for so long, and is a failure when it is not ready after
/// that time.
inline constexpr reactor::nanoseconds daemon_settles_in = std::chrono::seconds(30),
                                      daemon_fails_after = std::chrono::minutes(5);

/// Pure. The first wave is one pod; each next one as many as run the new revision well, up to a
/// tenth of the nodes. A wave begins when that before it has settled. Pods on nodes that are in the
/// middle of a rollout wait; pods that do not run are replaced first.
wave_plan plan_wave(const wave_facts& f);

}  // namespace bootc
