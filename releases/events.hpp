#pragma once

#include "k8s/client/event_kind.hpp"

/// The Events about Releases, at home, and about the pools that follow them;
/// docs/reference/events.md is made from the table.
namespace releases::release_event {

inline constexpr auto table = std::to_array<k8s::event_kind>({
    {"ReleaseMapped", k8s::event_severity::normal, "Release", "as the condition Mapped turns true"},
    {"ReleaseNotMapped", k8s::event_severity::warning, "Release",
     "as the condition Mapped turns false; the note has the findings' ids"},
    {"ReleaseAllowed", k8s::event_severity::normal, "Release",
     "as the condition Allowed turns true"},
    {"ReleaseNotAllowed", k8s::event_severity::warning, "Release",
     "as the condition Allowed turns false; the note has the findings' ids"},
    {"ReleaseApplied", k8s::event_severity::normal, "BootcNodePool",
     "the image of its cluster's Release was written to spec.image.ref; the note names both "
     "Releases"},
});
inline constexpr k8s::event_kind mapped = k8s::event_in(table, "ReleaseMapped"),
                                 not_mapped = k8s::event_in(table, "ReleaseNotMapped"),
                                 allowed = k8s::event_in(table, "ReleaseAllowed"),
                                 not_allowed = k8s::event_in(table, "ReleaseNotAllowed"),
                                 applied = k8s::event_in(table, "ReleaseApplied");

}  // namespace releases::release_event
