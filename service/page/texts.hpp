#pragma once

#include <string>
#include <vector>

namespace web {

/// What web/CMakeLists.txt embeds, in its order.
const std::vector<std::string>& texts();

}  // namespace web
