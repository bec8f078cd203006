#pragma once

#include "reactor/plain/time.hpp"

#include <optional>
#include <string_view>

namespace k8s {

/// When a ServiceAccount's token ends: what `exp` of a JWT says. Nothing for tokens of other kinds,
/// which do not tell. Its signature is not looked at: the server judges, this only warns in time.
std::optional<reactor::wall_time> token_expiry(std::string_view token);

}  // namespace k8s
