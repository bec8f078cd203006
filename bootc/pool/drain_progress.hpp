#pragma once

#include "reactor/plain/time.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bootc {

/// How far the drain of one node is. Kept in memory only: after a restart drains begin again from
/// the annotations.
struct drain_progress {
  enum class phase { running, succeeded, failed, timed_out };
  phase state = phase::running;
  std::string image;  // the desired image it was started for
  reactor::wall_time started{};
  std::size_t pods_left = 0;
  std::vector<std::string> left;     // "ns/pod": the first of them
  std::vector<std::string> blocked;  // "ns/pod": a budget refuses them now
  std::string unseen;                // why it is not known which of those that end are gone
  std::string detail;                // why it failed
  reactor::wall_time retry_at{};     // failed: not again before
  unsigned failures = 0;             // in a row, before this attempt or with it
  std::string last_failure;          // of those before: what went wrong then
  friend bool operator==(const drain_progress&, const drain_progress&) = default;
};

using drains_by_node = std::map<std::string, drain_progress, std::less<>>;

}  // namespace bootc
