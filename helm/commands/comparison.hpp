#pragma once

#include <optional>
#include <string>

namespace helm::sources {

/// What rendering a chart printed and how it ended.
struct rendering {
  std::string out, err;
  int exit_code = 0;
};

/// The first line in which two renderings differ, with the lines around it, for a person; nothing when they are equal.
/// Shape    standard error counts only where both failed: warnings and log lines have no fixed form.
std::optional<std::string> first_difference(const rendering& ours, const rendering& reference);

}  // namespace helm::sources
