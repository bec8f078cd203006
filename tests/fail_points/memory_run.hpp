#pragma once

#include <string>

namespace fail_points {

/// One service on a small fleet in virtual time, from its construction to its end, with a pool's
/// rollout and the questions of its callers in between. `begin` is called when the peers are there,
/// `end` when the service is gone. Says what is wrong at the end; empty = every host runs the new
/// image, nothing was violated, the views equal the servers, nothing is left alive.
struct memory_run_hooks {
  void (*begin)();
  void (*end)();
};
/// `refused`: it did not start, and said so; that is an orderly end too.
std::string run_in_memory(const memory_run_hooks& hooks, std::string& refused);

}  // namespace fail_points
