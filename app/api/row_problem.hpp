#pragma once

#include "app/api/condition_kind.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
struct condition;
}

namespace units {

/// A condition that is not as it should be: of the row's own object, or of the object of one of its
/// units. A hold tells why a unit waits; a problem tells what is wrong although nothing may wait.
struct row_problem {
  std::string unit;                       // empty: the row's own
  std::string condition, status, reason;  // "Degraded", "True", "TagResolutionError"
  std::string message;                    // may be empty
  std::string since = {};                 // RFC 3339; empty where the condition does not say it
  friend bool operator==(const row_problem&, const row_problem&) = default;
};

/// Adds those of `all` that `table` shows as a problem. `unit`: empty for the row's own object.
void add_problems(std::vector<row_problem>& into, std::span<const condition_kind> table,
                  const std::vector<k8s::condition>& all, std::string_view unit = {});

/// Whether a condition that no table has, such as one of a policy pack, is a problem. Following
/// the conventions of the Kubernetes API: Degraded, Stalled, Failed and Error are when True; what
/// only tells of work under way or of a pause never is; every other type is when False.
bool is_problem_by_convention(std::string_view type, std::string_view status) noexcept;

}  // namespace units
