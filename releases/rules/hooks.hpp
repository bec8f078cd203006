#pragma once

#include <string_view>

namespace policies::releases {

/// The questions about Releases, by their names.
inline constexpr std::string_view hooks[] = {
    "release.map",       "release.diff",   "release.gate", "release.bump", "release.path",
    "release.lifecycle", "release.folder", "release.pin",  "release.join", "release.publish"};

}  // namespace policies::releases
