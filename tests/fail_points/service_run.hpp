#pragma once

#include "tests/fail_points/calls.hpp"
#include "tests/fail_points/outcome.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace fail_points {

struct call_point {
  call_place at;
  std::uint32_t hit = 1;
  call_failure with;
  std::string text() const;
};

struct service_outcome {
  verdict was;
  bool reached = false;     // the failure happened
  std::uint32_t calls = 0;  // of its place in all
  std::chrono::milliseconds took{0};
};

/// `windlass run` as a process of its own beside another one with the peers: home and two clusters
/// over TCP, their nodes and daemons, and callers of /healthz, /metrics and /clusters. A pool of
/// each cluster is moved to another image, the policies are asked to be read again, the pools are
/// moved back, the service is told to stop. One that ends in order before that is started again
/// without a failure and has to finish. `point` null: nothing fails. What has not ended after
/// `patience` hangs. Blocks; each run is a tree of processes, so several can be under way from
/// several processes.
service_outcome run_service(const call_point* point, call_record& record,
                            std::chrono::milliseconds patience);

/// Runs them all, `together` at a time.
std::vector<service_outcome> run_services(const std::vector<call_point>& points, unsigned together,
                                          std::chrono::milliseconds patience);

}  // namespace fail_points
