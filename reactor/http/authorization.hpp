#pragma once

#include "reactor/plain/secret.hpp"

#include <string_view>

namespace reactor::http {

// What a request or a proxy is shown as proof. Made here alone, so that no copy of it is left
// behind.

/// Basic am9lOnB3 (RFC 7617).
secret basic_authorization(std::string_view user, std::string_view password);
/// Bearer … (RFC 6750).
secret bearer_authorization(std::string_view token);

}  // namespace reactor::http
