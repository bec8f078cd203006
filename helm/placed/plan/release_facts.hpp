#pragma once

#include "helm/placed/plan/fingerprint.hpp"
#include "helm/placed/plan/retries.hpp"
#include "helm/release/record.hpp"
#include "reactor/plain/time.hpp"

#include <optional>
#include <span>
#include <string>

namespace helm::placed {

/// The newest record of a release, as far as it decides anything.
struct release_facts {
  release::status state = release::status::unknown;
  int revision = 0;
  reactor::wall_time last_deployed{};
  std::string chart_name, chart_version;
  std::string values;  // values_digest() of what was given to it
  friend bool operator==(const release_facts&, const release_facts&) = default;
};

/// Of the record with the highest revision; none where there is no record.
std::optional<release_facts> newest_of(std::span<const release::record> history);

/// How a deployed release differs from what a fingerprint stands for, as a sentence; empty when it
/// does not. A move with stock Helm left the annotation as it was.
std::string moved_away(const release_facts& is, const chart_coordinates& wanted,
                       const std::string& wanted_values);

/// How long an operation on the release still has to wait by its newest record alone: a failed one
/// is not followed by another revision before operation_floor is over. Zero when it may begin.
reactor::nanoseconds until_next_revision(const release_facts& is, reactor::wall_time now);

/// Since when no process can be working on a pending release any more: by its own time, or, as
/// clocks differ, by when it was first seen pending here; half a minute after an operation's
/// timeout. Zero when it is over.
reactor::nanoseconds until_abandoned(const release_facts& pending, reactor::wall_time now,
                                     std::optional<reactor::wall_time> first_seen,
                                     reactor::nanoseconds timeout = operation_timeout);

}  // namespace helm::placed
