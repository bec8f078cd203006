#pragma once

#include "reactor/http/message.hpp"
#include "reactor/plain/time.hpp"

#include <optional>

namespace reactor::http {

/// How long a server asks to be left alone: Retry-After in seconds, ten minutes at most. A date is
/// not read.
std::optional<nanoseconds> retry_after(const headers& fields);

}  // namespace reactor::http
