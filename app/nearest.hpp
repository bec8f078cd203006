#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace app {

/// The candidate that differs from `typed` in the fewest letters; empty where none differs in
/// fewer than `limit`, or in all of its own.
std::string nearest(std::string_view typed, const std::vector<std::string>& candidates,
                    std::size_t limit = 3);
/// "; did you mean "x"?", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace app
