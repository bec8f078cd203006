#pragma once

#include "app/api/condition_kind.hpp"

#include <array>
#include <string_view>

/// Every condition that a Release has: docs/reference/conditions.md is made from it.
namespace releases {

inline constexpr auto release_conditions = std::to_array<units::condition_kind>({
    {"Release", "Mapped", "True", "Named", "its image has a name; the message says which"},
    {"Release", "Mapped", "True", "ProvidersOwn", "the provider brings its own image"},
    {"Release", "Mapped", "False", "NotNamed",
     "nothing can be called by it; the message has the findings' ids", units::problem},
    {"Release", "Mapped", "False", "Unreadable", "it cannot be read; the message says why",
     units::problem},
    {"Release", "Mapped", "Unknown", "PolicyFault", "the policy failed; the message says how",
     units::problem},
    {"Release", "Allowed", "True", "Clean", "nothing about it blocks"},
    {"Release", "Allowed", "False", "Denied",
     "no cluster moves to it; the message has the findings' ids", units::problem},
    {"Release", "Allowed", "False", "NeedsApproval",
     "no cluster moves to it before a person consents; the message has the findings' ids",
     units::problem},
    {"Release", "Allowed", "Unknown", "NotJudged", "the policy failed; the message says how",
     units::problem},
});

namespace release_condition {
inline constexpr std::string_view mapped = units::type_in(release_conditions, "Mapped"),
                                  allowed = units::type_in(release_conditions, "Allowed");
}
namespace release_reason {
inline constexpr std::string_view named = units::reason_in(release_conditions, "Named"),
                                  providers_own =
                                      units::reason_in(release_conditions, "ProvidersOwn"),
                                  not_named = units::reason_in(release_conditions, "NotNamed"),
                                  unreadable = units::reason_in(release_conditions, "Unreadable"),
                                  policy_fault =
                                      units::reason_in(release_conditions, "PolicyFault"),
                                  clean = units::reason_in(release_conditions, "Clean"),
                                  denied = units::reason_in(release_conditions, "Denied"),
                                  needs_approval =
                                      units::reason_in(release_conditions, "NeedsApproval"),
                                  not_judged = units::reason_in(release_conditions, "NotJudged");
}  // namespace release_reason

}  // namespace releases
