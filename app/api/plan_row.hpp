#pragma once

#include "app/api/hold.hpp"
#include "app/api/row_problem.hpp"
#include "app/api/unit.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace units {

/// What the next pass would do, in words.
struct planned_action {
  std::string action, unit;  // unit empty: the row's own
  friend bool operator==(const planned_action&, const planned_action&) = default;
};

/// Units that move together to one target, a pool with its nodes: a row of `status`, a paragraph of
/// `plan`. Both come from the planner that acts.
struct plan_row {
  std::string name, target;
  std::string offered;  // a newer target, which a person has to approve
  std::vector<unit> units;
  std::size_t updated = 0, updating = 0, degraded = 0;
  std::size_t capacity = 0, occupied = 0;  // how many may be disturbed at once, and are
  bool halted = false;
  std::vector<row_problem> problems;    // conditions that are not as they should be
  std::vector<hold> holds;              // why units wait now
  std::vector<planned_action> actions;  // of the next pass
  std::vector<std::string> start;       // who goes next, in order
  std::vector<hold> forecast;           // why all others will wait then
  std::vector<std::string> notes;       // what else has to be known before; sentences
  /// Of a target that is only assumed: how many steps follow one another at least, what one took
  /// in each rollout on record, and why the target cannot be looked up (empty: it was).
  std::size_t steps = 0;
  std::vector<reactor::nanoseconds> past_steps;
  std::string unresolved;
  std::string overrides;   // a person's order that lets it go on, brake or not; a sentence
  bool is_absent = false;  // unresolved since the registry has no such image
  /// Every unit runs the target, nothing is left to do, and no condition says that anything is
  /// wrong.
  bool is_done() const noexcept {
    return !units.empty() && units.size() == updated && start.empty() && problems.empty();
  }
  friend bool operator==(const plan_row&, const plan_row&) = default;
};

/// How an API's rows and units are called: words of tables and sentences, the plurals also keys of
/// JSON.
struct words {
  std::string row, rows;    // "pool", "pools"
  std::string unit, units;  // "node", "nodes"
};

}  // namespace units
