#pragma once

#include <string>
#include <string_view>

namespace formats {

/// path.Base and path.Join.
std::string base_name(std::string_view path);
std::string clean_path(std::string_view path);

}  // namespace formats
