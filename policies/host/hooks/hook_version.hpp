#pragma once

#include <array>
#include <string>
#include <string_view>

namespace policies {

/// What packs are given and may answer, as versions: another one where a pack that was written for
/// the one before could decide otherwise, or is refused. A pack names the version that it is for
/// (`api = 2`); one that names none is for the newest.
struct hook_version {
  int number;
  std::string_view since;    // the release of Windlass
  std::string_view changed;  // what a pack of the version before has to change
};
inline constexpr auto hook_versions = std::to_array<hook_version>({
    {1, "0.1.0", "the first one"},
    {2, "0.2.0",
     "an empty list is written list(), and names in applies.apis that no API has are refused"},
});

/// Packs of this version and of newer ones are taken.
inline constexpr int oldest_hook_version = 2;

/// Why a pack that is for this version is not taken; empty: it is.
std::string version_problem(double number);

}  // namespace policies
