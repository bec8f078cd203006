#pragma once

#include "helm/go.hpp"

#include <functional>
#include <string>

namespace helm {

/// A regular expression of RE2's syntax that looks for a match anywhere in a text; an empty one
/// matches everything.
/// Errors   "error parsing regexp: missing closing ]: `[`"
outcome<std::function<bool(const std::string&)>> compile_pattern(const std::string& pattern);

}  // namespace helm
