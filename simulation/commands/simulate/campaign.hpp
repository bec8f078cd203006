#pragma once

#include "simulation/commands/simulate/trial.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cli::simulate {

struct campaign {
  std::vector<units::api> apis;  // of the program
  simulation::fleet_plan fleet;
  std::vector<std::string> policies;  // folders, side by side; "" is the stock packs alone
  std::uint64_t first_seed = 1, seeds = 1;
  std::size_t jobs = 1;  // processes side by side; the outcome is the same for any number
  std::function<void(const std::string& policies, const trial_outcome&)> on_outcome;
};

struct percentiles {
  double median = 0, most_of_them = 0, longest = 0;  // most_of_them: 95 in 100
};
percentiles percentiles_of(std::vector<double> all);

/// A bad trial made small: what is left of its fleet and faults still goes wrong.
struct failure {
  std::uint64_t seed = 0;
  std::string policies;
  std::vector<std::string> findings;
  std::string tail;
  simulation::fleet_plan shrunk;
  std::uint64_t tried = 0;  // smaller ones that were run
};

struct policy_summary {
  std::string policies;
  std::vector<double> seconds;  // of each rollout that ended
  std::uint64_t runs = 0, reboots = 0, moved_pods = 0, holds = 0, unfinished = 0;
  std::size_t most_disrupted = 0;
  std::vector<asked_hook> asked;  // in all runs

  /// Packs of the folder, of which no run asked a hook: the campaign says nothing about them.
  std::vector<std::string> never_asked() const;
};

struct campaign_outcome {
  std::uint64_t runs = 0, violations = 0, divergent_caches = 0, crashes = 0, disturbed_answers = 0,
                swaps = 0, writes = 0, tenants_updated = 0, trustees_ready = 0, releases_ready = 0,
                plans_kept = 0, undone = 0;
  std::vector<std::uint64_t> failing_seeds;  // ascending, each once
  std::uint64_t trace = 0;                   // of all runs in order
  double cluster_hours = 0, cpu_seconds = 0;
  std::vector<policy_summary> policies;
  std::vector<failure> failures;  // the first few

  /// No run failed, and every pack that was given was asked.
  bool is_good() const;
};

/// Runs every seed under every policy. Outcomes count, and are told, in that order however many run
/// at once.
/// Errors: a process that ends in the middle of a run is a violation of that run.
campaign_outcome run(const campaign& c);

/// Fewer clusters, nodes and faults that still go wrong.
failure shrink(trial bad, const trial_outcome& was);

}  // namespace cli::simulate
