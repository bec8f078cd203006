#include "tests/simulation/fleet_run.hpp"

#include "cli/apis.hpp"
#include "simulation/commands/simulate/trial.hpp"

namespace simulation {

run_outcome run_fleet(std::uint64_t seed, disturbances how) {
  cli::simulate::trial t;
  t.apis = cli::apis();
  t.fleet = usual_fleet(3, 5);
  t.fleet.disturbed_for = std::chrono::minutes(5);
  t.fleet.patience = std::chrono::hours(1);
  t.fleet.faults.clear();
  if (how.streams) t.fleet.faults.insert({trouble::cut, trouble::half_open, trouble::split});
  if (how.answers)
    t.fleet.faults.insert({trouble::conflict, trouble::gone, trouble::throttled, trouble::failing,
                           trouble::restarts, trouble::stale_lists});
  if (how.crashes) t.fleet.faults.insert(trouble::crashes);
  t.seed = seed;
  cli::simulate::trial_outcome o = cli::simulate::run(std::move(t));
  run_outcome out;
  out.trace = o.trace;
  out.writes = o.writes;
  out.updated = o.updated;
  out.nodes = o.nodes;
  out.reboots = o.reboots;
  out.crashes = o.crashes;
  out.disturbed_answers = o.disturbed_answers;
  out.violations = std::move(o.violations);
  out.cache_differences = std::move(o.divergent_caches);
  out.left_alive = o.left_alive;
  out.log = std::move(o.tail);
  return out;
}

}  // namespace simulation
