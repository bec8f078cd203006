#pragma once

#include <string_view>

namespace policies {

/// Whether text can be the name of an object or a namespace: DNS-1123 subdomain.
bool is_object_name(std::string_view text) noexcept;

}  // namespace policies
