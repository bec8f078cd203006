#pragma once

#include "reactor/plain/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace reactor::http {

/// "Sun, 06 Nov 1994 08:49:37 GMT": the Date header's form (RFC 9110, IMF-fixdate), whole seconds.
std::string format_date(wall_time t);
/// None for what has another form.
std::optional<wall_time> parse_date(std::string_view text);

}  // namespace reactor::http
