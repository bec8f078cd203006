#pragma once

#include "app/api/condition_kind.hpp"
#include "app/api/hold.hpp"
#include "compose/rules/planner.hpp"
#include "k8s/client/event_kind.hpp"

#include <algorithm>
#include <array>
#include <string_view>

/// What compositions may say; docs/reference is made from these tables.
namespace compose {

inline constexpr auto holds = std::to_array<units::hold_kind>({
    {"claimed", units::hold_nature::turn,
     "another custom resource asks for the same child and is older",
     "the other no longer asks for it", "the planner"},
    {"waits-for-input", units::hold_nature::turn,
     "an input of a child is not there or not ready yet", "it is", "the planner"},
    {"waits-for-source", units::hold_nature::trouble,
     "the Secret that a value is copied from lacks it", "it has it", "the planner"},
    {"ending", units::hold_nature::progress, "a child is being deleted and is asked for again",
     "it is gone", "the planner"},
    {"scope", units::hold_nature::trouble,
     "a child lies in no namespace and its parent in one, or it lacks one",
     "the policy is corrected", "the planner"},
    {"circle", units::hold_nature::trouble, "inputs of children depend on themselves",
     "the policy is corrected", "the planner"},
    {"missing-kind", units::hold_nature::trouble,
     "a kind that the pack names is not served, or may not be listed",
     "it is served, and the account may list it", "the controller"},
    {"standing-by", units::hold_nature::turn,
     "the pack names a Lease of its own, and this process does not hold it",
     "its holder ends, or no longer renews it", "the controller"},
    {"other-operator", units::hold_nature::trouble,
     "another operator keeps the Lease that the pack names, in a namespace of this cluster",
     "that operator ends, or its Lease does; it is looked at every 10 s", "the controller"},
    {"write-failed", units::hold_nature::trouble,
     "the write of a child failed; all others are written, and the status",
     "the server takes it; it is tried again after 0.5 s doubling to 5 min", "the controller"},
});
inline constexpr units::hold_kind missing_kind = units::hold_in(holds, "missing-kind"),
                                  standing_by = units::hold_in(holds, "standing-by"),
                                  other_operator = units::hold_in(holds, "other-operator"),
                                  write_failed = units::hold_in(holds, "write-failed");

/// The row of a code, here or among those of every API; null for an unknown one.
constexpr const units::hold_kind* find_hold(std::string_view code) noexcept {
  for (const units::hold_kind& k : holds)
    if (k.code == code) return &k;
  for (const units::hold_kind& k : units::hold_code::of_every_api)
    if (k.code == code) return &k;
  return nullptr;
}
// The code is compared, not the pointer: with sanitizers GCC 12 takes an address for no constant.
static_assert(std::ranges::all_of(policies::compose::hold_code::all,
                                  [](std::string_view code) {
                                    return find_hold(code)->code == code;
                                  }),
              "what the planner says stands in a table");

inline constexpr auto events = std::to_array<k8s::event_kind>({
    {"Held", k8s::event_severity::warning, "custom resource of a pack",
     "something of it is not as its pack wants and may stay so until a person acts; the "
     "note begins with "
     "the hold's code. Once for each"},
    {"Conflict", k8s::event_severity::warning, "custom resource of a pack",
     "an object that its pack asks for has another owner"},
    {"of a pack", k8s::event_severity::normal, "custom resource of a pack",
     "what the pack's answer says in `events`, Normal or Warning, and in `events` of a child about "
     "a "
     "write of it, under reasons of its own. Normal ones are told after all writes went well"},
});
inline constexpr k8s::event_kind held = k8s::event_in(events, "Held"),
                                 of_a_pack = k8s::event_in(events, "of a pack");

inline constexpr std::string_view parents_kind = "Custom resources of packs";
inline constexpr auto conditions = std::to_array<units::condition_kind>({
    {parents_kind, "Composed", "True", "AsAsked", "all that its pack asks for is there"},
    {parents_kind, "Composed", "False", "Conflict",
     "a child has another owner; the message names it", units::problem},
    {parents_kind, "Composed", "False", "Claimed", "an older custom resource has the child",
     units::problem},
    {parents_kind, "Composed", "False", "WaitsForInput", "an input of a child is not there yet",
     units::problem},
    {parents_kind, "Composed", "False", "WaitsForSource",
     "a Secret that is copied from lacks the key", units::problem},
    {parents_kind, "Composed", "False", "Ending", "a child is being deleted", units::problem},
    {parents_kind, "Composed", "False", "Scope", "a child cannot lie where the pack wants it",
     units::problem},
    {parents_kind, "Composed", "False", "Circle", "inputs depend on themselves", units::problem},
    {parents_kind, "Composed", "False", "MissingKind",
     "a kind that the pack names is not served, or may not be listed", units::problem},
    {parents_kind, "Composed", "False", "PolicyFault",
     "the pack failed or answered nonsense; nothing was changed", units::problem},
    {parents_kind, "Composed", "False", "Policy",
     "windlass.dev/policy names a pack that there is not", units::problem},
    {parents_kind, "Composed", "False", "WriteFailed",
     "a write failed; the message has the object, the verb and the server's words", units::problem},
    {parents_kind, "Ready", "False", "ChildMissing",
     "the pack reports that it is ready, and a child that should exist does not; the message names "
     "it",
     units::problem},
    {parents_kind, "DataLoaded", "True", "Loaded",
     "the newest files of the pack's data are in force"},
    {parents_kind, "DataLoaded", "False", "Broken",
     "the files cannot be read; the last good ones stay in force. The message says which and why",
     units::problem},
});

}  // namespace compose
