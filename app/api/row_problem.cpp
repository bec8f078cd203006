#include "app/api/row_problem.hpp"

#include "k8s/client/condition.hpp"

#include <algorithm>
#include <array>

namespace units {

void add_problems(std::vector<row_problem>& into, std::span<const condition_kind> table,
                  const std::vector<k8s::condition>& all, std::string_view unit) {
  for (const k8s::condition& c : all) {
    const condition_kind* kind = find_condition_kind(table, c.type, c.status, c.reason);
    if (kind && kind->shows == condition_shows::problem)
      into.push_back(
          {std::string(unit), c.type, c.status, c.reason, c.message, c.last_transition_time});
  }
}

bool is_problem_by_convention(std::string_view type, std::string_view status) noexcept {
  constexpr std::array<std::string_view, 4> bad_when_true = {"Degraded", "Stalled", "Failed",
                                                             "Error"};
  constexpr std::array<std::string_view, 4> only_tell = {"Progressing", "Reconciling", "Paused",
                                                         "Suspended"};
  if (std::ranges::find(bad_when_true, type) != bad_when_true.end()) return status == "True";
  return status == "False" && std::ranges::find(only_tell, type) == only_tell.end();
}

}  // namespace units
