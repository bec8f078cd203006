#pragma once

#include "service/overview/overview.hpp"

#include <optional>
#include <string>

namespace cli {

/// How long the rollout of a target that is only assumed takes, by what a step took in the rollouts
/// that the fleet has on record.
struct how_long {
  std::optional<reactor::nanoseconds> takes;  // none: no rollout is on record from its beginning to
                                              // its end
  reactor::nanoseconds step{};                // the median
  std::size_t rollouts = 0;                   // that it is taken from
};
/// None for a row that no target is assumed for, or of which nothing moves.
std::optional<how_long> how_long_of(const fleet_overview& f, const units::plan_row& row);

/// "takes about 40m: 6 steps, each 6m40s as in 4 rollouts on record (median)", or that it is not
/// known.
std::string text_of(const how_long& h, std::size_t steps);

/// The same as `steps` and `estimateSeconds` of a document; nothing where there is nothing to say.
void add_how_long(boost::json::object& to, const fleet_overview& f, const units::plan_row& row);

}  // namespace cli
