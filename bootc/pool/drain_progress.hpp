#pragma once

#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bootc {

/// Why one pod of a drained node is still there.
struct pod_wait {
  enum class kind : std::uint8_t {
    budget,   // a PodDisruptionBudget refuses its eviction
    refused,  // the server does not take its eviction now, and it is tried again
    ending,   // it was evicted and has not ended
  };
  std::string pod;  // "ns/name"
  kind why = kind::ending;
  // budget: its name, in the pod's namespace; ending: the pod's finalizers, by commas. May be empty
  std::string object;
  // refused: what the server says; budget: the same where it says more than how many pods it needs
  std::string words;
  bool is_unhealthy = false;   // budget: the pod runs and is not Ready
  reactor::wall_time since{};  // of this kind
  friend bool operator==(const pod_wait&, const pod_wait&) = default;
};

/// How far the drain of one node is. Kept in memory only: after a restart drains begin again from
/// the annotations.
struct drain_progress {
  enum class phase { running, succeeded, failed, timed_out };
  phase state = phase::running;
  std::string image;  // the desired image it was started for
  reactor::wall_time started{};
  std::size_t pods_left = 0;
  std::vector<std::string> left;  // "ns/pod": the first of them
  std::vector<pod_wait> waits;    // of these pods, by kind, and those that wait longest first
  std::string unseen;             // why it is not known which of those that end are gone
  std::string detail;             // why it failed
  reactor::wall_time retry_at{};  // failed: not again before
  unsigned failures = 0;          // in a row, before this attempt or with it
  std::string last_failure;       // of those before: what went wrong then
  friend bool operator==(const drain_progress&, const drain_progress&) = default;
};

using drains_by_node = std::map<std::string, drain_progress, std::less<>>;

}  // namespace bootc
