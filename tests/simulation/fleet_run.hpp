#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simulation {

/// How a simulated run is disturbed.
struct disturbances {
  bool streams = false;  // cuts, half-open ends, byte splits, latency
  // 409, 429 and 500 instead of what was asked, 410 by compaction, restarts of API servers
  bool answers = false;
  bool crashes = false;  // windlass ends in the middle of whatever it does and starts again
};

struct run_outcome {
  std::uint64_t trace = 0, writes = 0;
  std::size_t updated = 0, nodes = 0, reboots = 0, crashes = 0, disturbed_answers = 0;
  std::vector<std::string> violations;
  std::vector<std::string>
      cache_differences;       // informers against their server, after everything came to rest
  std::size_t left_alive = 0;  // tasks, streams and waits after everything stopped
  std::string log;             // the last records, for a failing seed
};

/// A fleet of three clusters of five nodes moves to a new image in virtual time, from one seed.
/// Disturbances last for five minutes; then the fleet has an hour to finish.
run_outcome run_fleet(std::uint64_t seed, disturbances how);

}  // namespace simulation
