#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace formats {

/// The first `most` of the names, and how many there are besides: "a, b and 7 more".
std::string listed(std::span<const std::string> names, std::size_t most);

}  // namespace formats
