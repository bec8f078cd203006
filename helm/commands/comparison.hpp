#pragma once

#include "helm/commands/commands.hpp"

#include <optional>
#include <string>

namespace helm::sources {

/// The first line in which two renderings differ, with the lines around it, for a person; nothing
/// when they are equal.
/// Shape    standard error counts only where both failed: warnings and log lines have no fixed
///          form.
std::optional<std::string> first_difference(const command_result& ours,
                                            const command_result& reference);

}  // namespace helm::sources
