#pragma once

#include "bench/hostile/siege/memory_group.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench::hostile {

/// How the service, `windlass run` as it is shipped, got through one stranger's work.
struct siege_outcome {
  std::string damage;  // to others; empty: none
  bool stood = false;  // it lived, and the good member was Live, with its Tenant Ready where the
                       // repository is a good one
  double stall_ms = 0, rss_mb = 0;  // the longest turn of its loop; it and its children together
  double stop_s = 0;                // from SIGTERM to its end, with the stranger at work
  double group_mb = 0;              // the most that its group held, the kernel's share included
  std::size_t killed = 0;           // processes that the kernel killed for the group's limit
  std::vector<std::string> children_ended;
};

/// What deploy/chart gives the service.
inline constexpr std::size_t shipped_memory_bytes = 128u << 20;

/// Runs the program `windlass` that stands beside this one, with each of its features on, for
/// `at_work` at least; within `group` where there is one.
/// Throws std::runtime_error when what surrounds it does not come up.
siege_outcome besiege(std::size_t stranger, reactor::nanoseconds at_work,
                      const memory_group* group = nullptr);

/// The other process: what surrounds the service, until it is killed.
int run_surroundings(std::size_t stranger);

}  // namespace bench::hostile
