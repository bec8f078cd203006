#pragma once

#include <string>
#include <vector>

namespace web {

/// What service/page/CMakeLists.txt embeds, in its order.
const std::vector<std::string>& texts();

}  // namespace web
