#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace registry {

/// Looks a variable of the environment up; empty = not set.
using environment = std::function<std::string(std::string_view)>;

}  // namespace registry
