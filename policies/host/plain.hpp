#pragma once

// Inside policies/host only.

#include "formats/go/value.hpp"
#include "policies/host/value.hpp"

namespace policies {

/// What a format has read, as Lua and records have it. Times become text.
value plain(const formats::value& v);
/// The other way round; whole numbers as such.
formats::value typed(const value& v);

}  // namespace policies
