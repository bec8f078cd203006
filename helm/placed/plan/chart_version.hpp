#pragma once

#include "helm/go.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::placed {

/// Whether this can be asked for by a Tenant: a version with an optional leading v and one to three
/// numbers, pre-release and build as SemVer has them; or nothing, which is the highest stable one.
/// Ranges and words such as latest are not followed.
/// Returns  what is wrong with it, as a sentence; empty when nothing is.
std::string version_problem(std::string_view asked);

/// "1.19.1" and "v1.19.1", "1.2" and "1.2.0" are one version. The build is only looked at where
/// the caller asks for one.
bool same_version(std::string_view asked, std::string_view offered);

/// Which of the versions that a repository has is meant: the exact text first, else the first that
/// is the same version; for nothing the highest that is no pre-release, for a range the highest in
/// it. What is no version is passed over.
std::optional<std::string> choose_version(const std::vector<std::string>& offered,
                                          std::string_view asked);

}  // namespace helm::placed
