#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace app {

/// "; did you mean "x"?", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace app
