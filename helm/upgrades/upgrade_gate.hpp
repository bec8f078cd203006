#pragma once

#include "app/api/upgrade_gate.hpp"
#include "helm/removals/findings.hpp"
#include "helm/removals/waivers.hpp"
#include "helm/upgrades/cluster_reading.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace helm::upgrades {

/// Rows that the gate keeps; a person sees all of them by `windlass check upgrade`.
inline constexpr std::size_t most_gate_rows = 500;

/// What was found on one cluster on the way from one minor version to another.
struct gate_facts {
  cluster_reading read;
  std::vector<removals::finding> rows;
  std::size_t left_out = 0;  // rows that were not kept
  unsigned from = 0, to = 0;
};

/// None without a file. Errors: a sentence that names file, entry and field.
reactor::result<std::vector<removals::waiver>> load_waivers(const std::string& file);

/// Pure. What was gone before the upgrade is not broken by it. Rows that no waiver covers hold it;
/// so does a source that is needed and could not be looked at.
units::upgrade_answer judge(gate_facts facts, const std::vector<removals::waiver>& waivers,
                            reactor::wall_time now);

/// The gates of a process: of all clusters two are looked at at the same time, each for ten minutes
/// at most. `waivers` is a file that is read before each judgement; empty: none.
units::upgrade_gates gates_with(std::string waivers);

}  // namespace helm::upgrades
