#pragma once

#include "helm/go.hpp"

#include <string>
#include <vector>

namespace helm::sources {

/// The tags that are strict versions, newest first, with their plus signs.
std::vector<std::string> versions_of(const std::vector<std::string>& tags);
/// The exact version first, else the first that satisfies the constraint; "" is any release.
/// Errors   "Could not locate a version matching provided version string %s", those of the
///          constraint.
outcome<std::string> find_version(const std::vector<std::string>& versions,
                                  const std::string& wanted);

}  // namespace helm::sources
