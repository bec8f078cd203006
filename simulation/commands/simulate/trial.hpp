#pragma once

#include "app/api/speed_limit.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/commands/simulate/workload.hpp"
#include "simulation/fleet_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Fleets that exist nowhere, moved by the real controllers and daemons in virtual time while
/// things go wrong: what becomes of them under a policy.
namespace cli::simulate {

struct trial {
  simulation::fleet_plan fleet;
  /// Folder of packs that come before the stock ones; empty: none.
  std::string policies;
  /// A folder of ours with a copy of them that policy swaps may edit; empty: no edits.
  std::string editable;
  std::uint64_t seed = 1;
  std::vector<units::api> apis;  // of the program
  /// The brake at home lands right after so many writes of the rollout, and is taken off some
  /// minutes later; 0: never.
  std::uint64_t brake_at = 0;
  units::change_limits max_changes = {};
};

/// How often one hook of a pack was asked.
struct asked_hook {
  std::string pack, hook;
  std::uint64_t stock = 0;  // 1 when the pack is the program's own
  std::uint64_t times = 0;
};

/// Adds it to the row of its pack and hook.
void count(const asked_hook& one, std::vector<asked_hook>& to);
/// The same of every hook of a service's packs.
void count(const policies::host& packs, std::vector<asked_hook>& to);

struct trial_outcome {
  std::uint64_t seed = 0, trace = 0, writes = 0;
  std::uint64_t rollout_writes = 0;  // since the new image was asked for
  bool braked = false;               // the brake landed
  std::size_t began = 0;             // under a speed limit: what was begun
  std::size_t nodes = 0, updated = 0, settled_clusters = 0;
  workload::count tenants, trustees;
  workload::count releases;                // of FleetCharts
  std::size_t plans_kept = 0, undone = 0;  // of FleetCharts: checks that had something to check
  std::size_t reboots = 0, moved_pods = 0, most_disrupted = 0;
  std::size_t holds = 0;  // units that began to wait because a policy said so, each reason once
  std::size_t crashes = 0, disturbed_answers = 0, swaps = 0;
  reactor::nanoseconds took{0};       // from the wish to the last node
  reactor::nanoseconds simulated{0};  // virtual time of all of it
  reactor::nanoseconds cpu{0};        // processor time that it took
  std::vector<std::string> violations, divergent_caches;
  std::string unfinished;         // why not everybody arrived; empty: they did
  std::size_t left_alive = 0;     // tasks, streams and waits after everything stopped
  bool ended_early = false;       // the process that ran it did not come to its end
  std::vector<asked_hook> asked;  // every hook of every pack, by pack and hook
  std::string tail;               // the last records of the log, for a bad one only
  bool is_good() const {
    return violations.empty() && divergent_caches.empty() && unfinished.empty() && left_alive == 0;
  }
  /// What went wrong, one sentence each.
  std::vector<std::string> findings() const;
};

/// One seed decides every delay, fault and crash, so a bad one repeats itself bit for bit.
trial_outcome run(trial t);

}  // namespace cli::simulate
